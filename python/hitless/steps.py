"""A run in steps: the fabric as a controller or a learning agent sees and changes it."""

import json
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple

import polars as pl

from hitless import _native
from hitless.checking import checked, faults_explained
from hitless.errors import BadInput
from hitless.outcome.run import Run, Summary
from hitless.outcome.tables import frame_of
from hitless.quantities import seconds_of
from hitless.simulation import kept

_PS_PER_US = 1_000_000
_PS_PER_S = 10**12
_BEGUN_PS = 1
"""Position of a run after a command at 0 s: the scenario's own events at 0 s are done."""
_ENDS = ("receiver", "sender")
"""Ends of a directed link: the switch after it, and the one before it."""


class FrameCounts(NamedTuple):
    """Frames that the MAC of a switch port has received since the start."""

    ok: int
    """Frames without an error: framesRxOk."""
    all: int
    """All frames, including corrupted ones: framesRxAll."""


class Steps:
    """A run that stops on request, shows the view of a control plane, and executes its commands.

    ::

        steps = hitless.example("linkguardian-testbed").start(seed=1)
        for now_us in steps.every("1 ms"):
            counts = steps.frames_behind("sw2->sw6")
            if counts.ok < counts.all:
                steps.protect("sw2->sw6", copies=2)
        run = steps.finish()

    Commands take effect at the current simulated time. Without commands the run equals `Scenario.run`, event by event.
    Links are named as in scenarios: ``"a->b"`` is a direction, ``"a<->b"`` both. An invalid command raises `BadInput`.
    """

    def __init__(self, text: str, name: str, seed: int | None) -> None:
        """Make it with `Scenario.start`; ``name`` is the scenario's name in messages."""
        self._name = name
        self._began = time.monotonic()
        self.ports = _native.Simulation(checked(text, name), seed)
        """Counters and commands of the switches, for a daemon of links."""
        with faults_explained(name):
            self.ports.start()
        self._is_over = False

    def __repr__(self) -> str:
        return f"Steps(now_us={self.now_us:g}, is_over={self.is_over})"

    @property
    def now_us(self) -> float:
        """Current simulated time in microseconds."""
        return self._now_ps / _PS_PER_US

    @property
    def _now_ps(self) -> int:
        return 0 if self.ports.now_ps == _BEGUN_PS else self.ports.now_ps

    def report(self) -> str:
        """Return the unfinished flows by group, and the causes of stalls, as text of several lines."""
        return self.ports.report()

    @property
    def is_over(self) -> bool:
        """Has the scenario ended?"""
        return self._is_over

    def advance(self, duration: str) -> bool:
        """Run for a time such as ``"100 us"``; False when the scenario has ended."""
        self._is_over = not self._reach(self._now_ps + _picoseconds(duration))
        return not self._is_over

    def every(self, period: str) -> Iterator[float]:
        """Stop after each ``period``, such as ``"100 us"``, and yield the time in microseconds, until the end."""
        period_ps = _picoseconds(period)
        due_ps = self._now_ps + period_ps
        while self._reach(due_ps):
            yield self.now_us
            due_ps += period_ps
        self._is_over = True

    def _reach(self, until_ps: int) -> bool:
        """Run up to ``until_ps``, leaving events due at this time pending; False when the run has ended."""
        with faults_explained(self._name):
            return self.ports.advance(until_ps)

    @property
    def queues(self) -> pl.DataFrame:
        """Bytes queued at each switch port now: ``port``, named by its outgoing link, and ``value_bytes``."""
        return frame_of(self.ports.queues())

    @property
    def mechanisms(self) -> pl.DataFrame:
        """Counters of each mechanism so far: switch, mechanism, scope, counter, label, value."""
        return frame_of(self.ports.mechanisms())

    def frames_behind(self, link: str) -> FrameCounts:
        """Return the frame counts of the port that receives from ``link``; corrupted frames are only in ``all``."""
        with _refusals(link):
            return FrameCounts(*self.ports.receive_counters(link))

    def fail(self, link: str) -> None:
        """Take a link down. With ``[recovery]``, the ends of a link that is down both ways detect it and act."""
        with self._command(link):
            self.ports.fail(link)

    def repair(self, link: str) -> None:
        """Bring a link up again."""
        with self._command(link):
            self.ports.repair(link)

    def corrupt(self, link: str, rate: float, *, mean_burst_frames: float | None = None) -> None:
        """Corrupt a share of a link's frames (0 to 1) from now on, independently or in bursts of a mean length."""
        with self._command(link):
            self.ports.corrupt(link, rate, mean_burst_frames)

    def protect(self, link: str, *, copies: int = 1, mode: Literal["blocking", "non-blocking"] = "blocking") -> None:
        """Switch on the protection that the scenario configures on ``link``, with ``copies`` of each lost packet."""
        with self._command(link):
            for end in _ENDS:  # the receiver first, so that it understands the sender
                self.ports.protect(link, end, copies, mode)

    def unprotect(self, link: str) -> None:
        """Switch the protection of ``link`` off."""
        with self._command(link):
            for end in _ENDS:
                self.ports.unprotect(link, end)

    @contextmanager
    def _command(self, link: str) -> Iterator[None]:
        """Give a command; the scenario's own events at 0 s come first, or they would undo it."""
        if self.ports.now_ps == 0:
            self._reach(_BEGUN_PS)
        with _refusals(link):
            yield

    def finish(self, keep: Collection[str] | None = None) -> Run:
        """Run to the end of the scenario, once; ``keep`` names the tables to keep (default: all)."""
        self._is_over = True
        with faults_explained(self._name):
            self.ports.finish()
        return Run(
            effective=self.ports.effective,
            summary=Summary(json.loads(self.ports.summary)),
            tables=kept(self.ports.tables, keep),
            wall_s=time.monotonic() - self._began,
            captures=self.ports.captures,
        )


def _picoseconds(duration: str) -> int:
    """Parse a time, written as in scenarios."""
    try:
        seconds = seconds_of(duration)
    except ValueError as refused:
        raise BadInput(f"{duration!r} is not a duration", rule='a number and a unit, as "100 us"') from refused
    picoseconds = round(seconds * _PS_PER_S)
    if picoseconds <= 0:
        raise BadInput(f"{duration!r} is too short a duration", rule="the minimum is a picosecond")
    return picoseconds


@contextmanager
def _refusals(link: str) -> Iterator[None]:
    try:
        yield
    except ValueError as refused:
        raise BadInput(str(refused), where=f"link {link!r}") from refused
