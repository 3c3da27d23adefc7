"""Progress on stderr for work that takes longer than two seconds."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from hitless.terminal.console import print_note, stderr

if TYPE_CHECKING:
    from rich.progress import Progress

_SHOW_AFTER_S = 2.0
_LINE_EVERY_S = 15.0
_SHARE_ENOUGH, _ENOUGH_S = 0.02, 60.0
"""Minimum share done, or time passed, for an estimate of the remaining time."""


class Watched(Protocol):
    @property
    def name(self) -> str:
        """Name for people."""

    @property
    def progress(self) -> float:
        """Share that is done, 0 to 1."""

    @property
    def done(self) -> bool:
        """Is it complete?"""

    @property
    def weight(self) -> float:
        """Expected CPU time, relative to the other parts."""


class ProgressDisplay:
    """A bar on a terminal, an occasional line elsewhere; silent for quick work."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = time.monotonic()
        self._line_due = self._began + _LINE_EVERY_S
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def look(self, parts: Sequence[Watched]) -> None:
        """Show the progress of the parts; called often."""
        if not parts:
            return
        now = time.monotonic()
        if now - self._began < _SHOW_AFTER_S:
            return
        if stderr.is_terminal:
            self._show_bar(parts)
        elif now >= self._line_due:
            self._line_due = now + _LINE_EVERY_S
            print_note(self._line(parts, now - self._began))

    def _show_bar(self, parts: Sequence[Watched]) -> None:
        if self._bar is None:
            self._bar = _new_bar()
            self._bar.add_task(self._what, total=1.0, now="")
            self._bar.start()
        bar = self._bar
        bar.update(bar.task_ids[0], completed=_share(parts), description=_counts(self._what, parts), now=_now(parts))

    def _line(self, parts: Sequence[Watched], elapsed_s: float) -> str:
        share = _share(parts)
        is_known = share > _SHARE_ENOUGH or (share > 0.0 and elapsed_s >= _ENOUGH_S)
        left = f", about {_duration(elapsed_s / share - elapsed_s)} left" if is_known else ""
        running = _now(parts)
        now = f"; now {running}" if running else ""
        done = f"{share:.0%}" if share >= _SHARE_ENOUGH or share == 0.0 else f"{share:.2%}"
        return f"{_counts(self._what, parts)}: {done} after {_duration(elapsed_s)}{left}{now}"


def _new_bar() -> "Progress":
    from rich.progress import (  # noqa: PLC0415 - not needed by short runs
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[now]}"),
        console=stderr,
        transient=True,
    )


def _counts(what: str, parts: Sequence[Watched]) -> str:
    if len(parts) == 1:
        return what
    return f"{what}, {sum(part.done for part in parts)} of {len(parts)} runs"


def _duration(seconds: float) -> str:
    """Format with at most two units: "43 s", "12 min 5 s", "3 h 20 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def _share(parts: Sequence[Watched]) -> float:
    return sum(part.progress * part.weight for part in parts) / sum(part.weight for part in parts)


def _now(parts: Sequence[Watched]) -> str:
    running = [part.name for part in parts if not part.done and part.progress > 0.0]
    return ", ".join(running[:2]) + (" ..." if len(running) > 2 else "")
