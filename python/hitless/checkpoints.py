"""Checkpoints of a run: how often they are written, and what is kept beside them for `hitless resume`.

::

    results/20261121-081500-run-mine/
        checkpoint.json    the scenario as it was given, its name, the seed, how often
        checkpoint         the newest state of the run, replaced as a whole
"""

import functools
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from hitless import _native
from hitless.errors import BadInput, reason
from hitless.quantities import seconds_of
from hitless.whole_file import text_of, write_whole

STATE, PLAN = "checkpoint", "checkpoint.json"
_EXAMPLES = '"10 min" or "2 h" of the wall clock, "1 ms simulated" of simulated time'
_SIMULATED = " simulated"


@dataclass(frozen=True, slots=True)
class Every:
    """An interval of the wall clock, or of simulated time."""

    text: str
    wall_s: float | None
    simulated_ps: int | None

    @classmethod
    def of(cls, text: str, where: str) -> Self:
        """What a user wrote: "10 min", "1 ms simulated". Raises `BadInput`."""
        is_simulated = text.endswith(_SIMULATED)
        try:
            seconds = seconds_of(text.removesuffix(_SIMULATED))
        except ValueError as refused:
            raise BadInput(f"{text!r} is no interval", where=where, hint=_EXAMPLES) from refused
        if is_simulated and 0 < seconds * 1e12 < 1 << 63 and (ps := round(seconds * 1e12)):
            return cls(text, None, ps)
        if not is_simulated and _WALL_MIN_S <= seconds < _WALL_MAX_S:
            return cls(text, seconds, None)
        rule = "1 ps of simulated time or more" if is_simulated else "0.1 s of the wall clock or more"
        raise BadInput(f"{text!r} is too short or too long", where=where, rule=rule, hint=_EXAMPLES)


_WALL_MIN_S = 0.1
_WALL_MAX_S = 1e9


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run as it was asked for."""

    name: str
    shown: str
    """What messages call the scenario."""
    text: str
    file: str | None
    """Paths in the scenario are relative to its folder."""
    seed: int | None
    checkpoint: str = ""
    """How often one is written; "" for never."""

    def write(self, folder: Path) -> None:
        """Keep it in the folder of the results, whole or not at all."""
        document = {name: getattr(self, name) for name in self.__slots__}
        write_whole(folder / PLAN, json.dumps(document, indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The plan of the run in ``folder``. Raises `BadInput` where there is none that can be gone on with."""
        try:
            document: dict[str, Any] = json.loads(text_of(folder / PLAN))
            plan = cls(**document)
        except FileNotFoundError as missing:
            hint = "hitless run FILE --checkpoint EVERY writes checkpoints, and takes them away once it is done"
            raise BadInput("there is no run to go on with", where=str(folder), hint=hint) from missing
        except OSError as refused:
            raise BadInput(f"cannot read it: {reason(refused)}", where=str(folder / PLAN)) from refused
        except (ValueError, TypeError) as broken:
            raise BadInput("it is damaged", where=str(folder / PLAN), hint="begin the run again") from broken
        if not (folder / STATE).exists():
            hint = "begin it again: it ended before its first checkpoint"
            raise BadInput("the run has no checkpoint yet", where=str(folder), hint=hint)
        return plan


@dataclass(slots=True)
class Checkpoints:
    """What a run writes, and whether it goes on from it. The folder is known only when the run begins."""

    plan: RunRequest
    every: Every
    resumes: bool = False
    folder: Path | None = None

    def native(self) -> _native.Checkpoints:
        """As the simulator takes it."""
        if self.folder is None:
            raise ValueError("checkpoints of a run that has no folder")
        every, path = self.every, self.folder / STATE
        return _native.Checkpoints(
            path, program(), wall_s=every.wall_s, simulated_ps=every.simulated_ps, resumes=self.resumes
        )


def can_resume(folder: Path) -> bool:
    """Is there a checkpoint to go on from?"""
    return (folder / STATE).exists() and (folder / PLAN).exists()


def take_away(folder: Path) -> None:
    """The run is done, and is not gone on with."""
    for name in (STATE, PLAN):
        (folder / name).unlink(missing_ok=True)


@functools.cache
def machine_code() -> str:
    """The digest of the native module: two builds have two."""
    return hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()


def program() -> str:
    """What tells this build of the simulator from another: its version, and some of the digest of its machine code."""
    return f"{_native.version()} (build {machine_code()[:16]})"
