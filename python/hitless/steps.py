"""A run in steps: what a controller, or a learning agent, sees of the fabric and does to it."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple

import polars as pl

from hitless.errors import BadInput
from hitless.outcome.run import Run
from hitless.outcome.tables import frame_of
from hitless.quantities import seconds_of
from hitless.simulation import LinkEnd, Session

_PS_PER_US = 1_000_000
_PS_PER_S = 10**12
_BEGUN_PS = 1
"""Where a run stands in which a command was given at 0 s: what the scenario does then is done."""
_ENDS: tuple[LinkEnd, ...] = ("receiver", "sender")


class FrameCounts(NamedTuple):
    """What the MAC of a switch port has received since the start."""

    ok: int
    """Frames without an error: framesRxOk."""
    all: int
    """All frames, corrupted ones included: framesRxAll."""


class Steps:
    """A run that stops where it is told to, shows what a control plane may see, and obeys.

    ::

        steps = hitless.example("linkguardian-testbed").start(seed=1)
        for now_us in steps.every("1 ms"):
            counts = steps.frames_behind("sw2->sw6")
            if counts.ok < counts.all:
                steps.protect("sw2->sw6", copies=2)
        run = steps.finish()

    What is done takes effect at the moment at which the run stands. Without commands the run is the one of
    `Scenario.run`, event by event. Links are named as in scenarios: ``"a->b"`` is a direction, ``"a<->b"`` both. What
    cannot be done raises `BadInput`.
    """

    def __init__(self, text: str, name: str, seed: int | None) -> None:
        """`Scenario.start` makes it: ``name`` is what messages call the scenario."""
        self._session = Session(text, file_name=name, seed=seed)
        self._is_over = False

    @property
    def now_us(self) -> float:
        """The simulated time up to which it has run, in microseconds."""
        return self._now_ps / _PS_PER_US

    @property
    def _now_ps(self) -> int:
        return 0 if self._session.ports.now_ps == _BEGUN_PS else self._session.ports.now_ps

    @property
    def is_over(self) -> bool:
        """Has the scenario come to its end?"""
        return self._is_over

    def advance(self, duration: str) -> bool:
        """Run on for a time such as ``"100 us"``; False when the scenario has ended."""
        self._is_over = not self._session.advance(self._now_ps + _picoseconds(duration))
        return not self._is_over

    def every(self, period: str) -> Iterator[float]:
        """Stop after each ``period``, such as ``"100 us"``, with the time in microseconds, until the scenario ends."""
        period_ps = _picoseconds(period)
        due_ps = self._now_ps + period_ps
        while self._session.advance(due_ps):
            yield self.now_us
            due_ps += period_ps
        self._is_over = True

    @property
    def queues(self) -> pl.DataFrame:
        """What waits at each port of each switch now: ``port``, by the link that it sends on, and ``value_bytes``."""
        return frame_of(self._session.ports.queues())

    @property
    def mechanisms(self) -> pl.DataFrame:
        """What each mechanism has counted so far: switch, mechanism, scope, counter, value."""
        return self._session.mechanisms()

    def frames_behind(self, link: str) -> FrameCounts:
        """What the port that receives from ``link`` has counted: corrupted frames are those that are not ok."""
        with _refusals(link):
            return FrameCounts(*self._session.ports.receive_counters(link))

    def fail(self, link: str) -> None:
        """Take a link down. With ``[recovery]`` the ends of one that is down both ways find out, and act."""
        with self._command(link):
            self._session.ports.fail(link)

    def repair(self, link: str) -> None:
        """Bring a link up again."""
        with self._command(link):
            self._session.ports.repair(link)

    def corrupt(self, link: str, rate: float, *, mean_burst_frames: float | None = None) -> None:
        """Corrupt a share of a link's frames (0 to 1) from now on: independently, or in bursts of a mean length."""
        with self._command(link):
            self._session.ports.corrupt(link, rate, mean_burst_frames)

    def protect(self, link: str, *, copies: int = 1, mode: Literal["blocking", "non-blocking"] = "blocking") -> None:
        """Switch on the protection that the scenario configures on ``link``, with ``copies`` of each lost packet."""
        with self._command(link):
            for end in _ENDS:  # the receiver first, that it knows what the sender sends
                self._session.ports.protect(link, end, copies, mode)

    def unprotect(self, link: str) -> None:
        """Switch the protection of ``link`` off."""
        with self._command(link):
            for end in _ENDS:
                self._session.ports.unprotect(link, end)

    @contextmanager
    def _command(self, link: str) -> Iterator[None]:
        """What the scenario itself does at 0 s comes first, or it would undo what is done here."""
        if self._session.ports.now_ps == 0:
            self._session.advance(_BEGUN_PS)
        with _refusals(link):
            yield

    def finish(self, keep: Collection[str] | None = None) -> Run:
        """Run to the end of the scenario, once; ``keep`` names the tables to keep, all by default."""
        self._is_over = True
        return self._session.finish(keep)


def _picoseconds(duration: str) -> int:
    """A time that is written as in scenarios."""
    try:
        seconds = seconds_of(duration)
    except ValueError as refused:
        raise BadInput(f"{duration!r} is no duration", rule='a number and a unit, as "100 us"') from refused
    picoseconds = round(seconds * _PS_PER_S)
    if picoseconds <= 0:
        raise BadInput(f"{duration!r} is no duration to wait for", rule="it is at least a picosecond")
    return picoseconds


@contextmanager
def _refusals(link: str) -> Iterator[None]:
    try:
        yield
    except ValueError as refused:
        raise BadInput(str(refused), where=f"link {link!r}") from refused
