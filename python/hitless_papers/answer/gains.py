"""What each mechanism buys: the chosen rows as they came out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hitless.numbers import NOTHING, format_number
from hitless_papers.answer.chosen import Key, Line, Mechanism
from hitless_papers.campaign import ExhibitResult
from hitless_papers.judge import SEVERITY, Range, Verdict
from hitless_papers.model import Row


@dataclass(frozen=True, slots=True)
class Gain:
    """A line of the first screen, as text."""

    words: str
    bare: str
    """Without the mechanism."""
    protected: str
    """With it."""
    ratio: str
    """Improvement as a factor, or a factor with a word such as "slower"."""
    paper: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Gains:
    """The lines of one mechanism."""

    mechanism: str
    trouble: str
    lines: Sequence[Gain]


def gains(mechanisms: Sequence[Mechanism], results: Sequence[ExhibitResult]) -> list[Gains]:
    """Return the measured mechanisms, with their measured lines."""
    rows = {result.id: {(row.series, row.x, row.metric): row for row in result.rows} for result in results}
    made = []
    for mechanism in mechanisms:
        lines = [gain for line in mechanism.lines if (gain := _gain(line, rows.get(line.exhibit, {}))) is not None]
        if lines:
            made.append(Gains(mechanism.name, mechanism.trouble, lines))
    return made


def _gain(line: Line, rows: Mapping[Key, Row]) -> Gain | None:
    """The line, or nothing where a run that it needs did not finish."""
    judged = [rows.get(key) for _, key in line.rows]
    present = [row for row in judged if row is not None]
    if not present or len(present) < len(judged):
        return None
    bare, protected = _value(line.bare, rows), _value(line.protected, rows)
    unit = next((rows[key].unit for key in (line.protected, line.bare) if isinstance(key, tuple) and key in rows), "")
    ratio = rows[line.ratio].measured if line.ratio else _times(bare, protected, line)
    return Gain(
        line.words,
        _with_unit(bare, unit),
        _with_unit(protected, unit),
        _improvement(ratio, unit),
        _paper(line, rows),
        next(verdict for verdict in SEVERITY if verdict in {row.verdict for row in present}),
    )


def _value(key: Key | float | None, rows: Mapping[Key, Row]) -> float | None:
    if isinstance(key, tuple):
        return rows[key].measured if key in rows else None
    return key


def _times(bare: float | None, protected: float | None, line: Line) -> float | None:
    """How many times better; nothing where one of the two is zero."""
    if not bare or not protected:
        return None
    return bare / protected if line.better == "lower" else protected / bare


def _paper(line: Line, rows: Mapping[Key, Row]) -> str:
    """The paper's gain where it has one, else its value with the mechanism."""
    if line.ratio:
        return _range_as_times(rows[line.ratio])
    with_it, without = (rows.get(key) if isinstance(key, tuple) else None for key in (line.protected, line.bare))
    papers = [row.paper if row and not isinstance(row.paper, Range) else None for row in (without, with_it)]
    ratio = _times(papers[0], papers[1], line)
    if ratio is not None:
        return _as_times(ratio)
    if with_it is None:
        return NOTHING
    return with_it.reference if isinstance(with_it.paper, Range) else _with_unit(with_it.paper, with_it.unit)


def _range_as_times(row: Row) -> str:
    if row.paper is None:
        return NOTHING
    if not isinstance(row.paper, Range):
        return _as_times(row.paper)
    return f"{row.reference.replace(' to ', '-').replace(',000', 'k')}x"


def _improvement(ratio: float | None, unit: str) -> str:
    """Return a ratio as an improvement; one below 1 is inverted and gets a word, so that nobody takes it for a gain."""
    if ratio is None or not 0.0 < ratio < 1.0 or _three(ratio) == "1":
        return _as_times(ratio)
    # Two digits, because the words of all lines must fit 80 columns beside it.
    return f"{1.0 / ratio:.2g}x {'slower' if unit in _TIMES else 'worse'}"


def _as_times(ratio: float | None) -> str:
    if ratio is None or not math.isfinite(ratio):
        return NOTHING
    return f"{_three(ratio)}x"


def _with_unit(value: float | None, unit: str) -> str:
    """Return three digits and the unit, if there is one."""
    return with_unit(_three(value), "" if value is None else unit)


_TIMES = frozenset({"us", "ms", "s"})
_SHOWN_UNITS = _TIMES | {"KB", "MB", "Gb/s", "%"}


def with_unit(text: str, unit: str) -> str:
    """Append a unit to a number; a factor gets an x. Words in the column of units are left out."""
    if unit == "times":
        return f"{text}x"
    return f"{text} {unit}" if unit in _SHOWN_UNITS else text


def _three(value: float | None) -> str:
    """Three digits are enough to compare by."""
    return format_number(None if value is None else float(f"{value:.3g}"))
