"""Checkpoints of a run: their interval, and the files stored with them for `hitless resume`.

::

    results/20261121-081500-run-mine/
        checkpoint.json    the scenario as given, its name, the seed, the interval
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
        """Parse a user's text: "10 min", "1 ms simulated". Raises `BadInput`."""
        is_simulated = text.endswith(_SIMULATED)
        try:
            seconds = seconds_of(text.removesuffix(_SIMULATED))
        except ValueError as refused:
            raise BadInput(f"{text!r} is not an interval", where=where, hint=_EXAMPLES) from refused
        # The simulator counts picoseconds in 63 bits.
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
    """The user's request for a run."""

    name: str
    shown: str
    """Name of the scenario in messages."""
    text: str
    file: str | None
    """File of the scenario; paths in the scenario are relative to its folder."""
    seed: int | None
    checkpoint: str = ""
    """Interval of checkpoints; "" for never."""

    def write(self, folder: Path) -> None:
        """Store it in the folder of the results, whole or not at all."""
        document = {name: getattr(self, name) for name in self.__slots__}
        write_whole(folder / PLAN, json.dumps(document, indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the request for the run in ``folder``. Raises `BadInput` if this run cannot be resumed."""
        try:
            document: dict[str, Any] = json.loads(text_of(folder / PLAN))
            plan = cls(**document)
        except FileNotFoundError as missing:
            hint = "hitless run FILE --checkpoint EVERY writes checkpoints, and removes them once it is done"
            raise BadInput("there is no run to resume", where=str(folder), hint=hint) from missing
        except OSError as refused:
            raise BadInput(f"cannot read it: {reason(refused)}", where=str(folder / PLAN)) from refused
        except (ValueError, TypeError) as broken:
            raise BadInput("it is damaged", where=str(folder / PLAN), hint="start the run again") from broken
        if not (folder / STATE).exists():
            hint = "start it again: it ended before its first checkpoint"
            raise BadInput("the run has no checkpoint yet", where=str(folder), hint=hint)
        return plan


@dataclass(slots=True)
class Checkpoints:
    """Checkpoints that a run writes or resumes from. The folder is known only when the run begins."""

    plan: RunRequest
    every: Every
    resumes: bool = False
    folder: Path | None = None

    def native(self) -> _native.Checkpoints:
        """Return the settings for the simulator."""
        if self.folder is None:
            raise ValueError("checkpoints of a run that has no folder")
        every, path = self.every, self.folder / STATE
        return _native.Checkpoints(
            path, program(), wall_s=every.wall_s, simulated_ps=every.simulated_ps, resumes=self.resumes
        )


def can_resume(folder: Path) -> bool:
    """Is there a checkpoint to resume from?"""
    return (folder / STATE).exists() and (folder / PLAN).exists()


def take_away(folder: Path) -> None:
    """Remove the checkpoint of a run that is done."""
    for name in (STATE, PLAN):
        (folder / name).unlink(missing_ok=True)


@functools.cache
def machine_code() -> str:
    """Return the digest of the native module; it identifies a build."""
    return hashlib.sha256(Path(_native.__file__).read_bytes()).hexdigest()


def program() -> str:
    """Return the version of the simulator with some of the digest of its machine code; it identifies a build."""
    return f"{_native.version()} (build {machine_code()[:16]})"
