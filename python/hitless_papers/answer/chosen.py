"""The choice of rows that say what each mechanism buys, for the first screen and for README alike."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

FILE = Path(__file__).with_name("chosen.toml")

Key: TypeAlias = tuple[str, str, str]
"""Of a row in its exhibit: scheme, setting, metric."""


@dataclass(frozen=True, slots=True)
class Line:
    """One quantity, without the mechanism and with it."""

    words: str
    """The quantity and its conditions."""
    exhibit: str
    ratio: Key | None = None
    """The row that has the gain and its verdict; without one, the two values are divided here."""
    protected: Key | None = None
    """The row of the value with the mechanism."""
    bare: Key | float | None = None
    """That of the value without it; a number where the setting says it."""
    better: Literal["lower", "higher"] = "lower"
    """Of the quantity."""

    @property
    def rows(self) -> list[tuple[str, Key]]:
        """The rows with the verdicts, each with its words: the gain, or else both values."""
        if self.ratio is not None:
            return [(f"{self.words}: how many times better", self.ratio)]
        named = [(self.words, self.protected), (f"{self.words}, without it", self.bare)]
        return [(words, key) for words, key in named if isinstance(key, tuple)]


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A system, the trouble that it is for, and its lines."""

    name: str
    trouble: str
    lines: tuple[Line, ...]


@cache
def mechanisms(path: Path = FILE) -> tuple[Mechanism, ...]:
    """Return all of them in display order."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(
        Mechanism(one["name"], one["trouble"], tuple(_line(line) for line in one["line"]))
        for one in document["mechanism"]
    )


def _line(line: dict[str, Any]) -> Line:
    bare = line.get("without")
    return Line(
        line["words"],
        line["exhibit"],
        ratio=_key(line.get("ratio")),
        protected=_key(line.get("with")),
        bare=bare if isinstance(bare, float) else _key(bare),
        better=line.get("better", "lower"),
    )


def _key(parts: list[str] | None) -> Key | None:
    if parts is None:
        return None
    series, x, metric = parts
    return series, x, metric
