"""A lab as the work of a point: brought up, given traffic, asked what it counted, and removed."""

import itertools
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hitless.errors import HitlessError
from hitless.lab import kernel
from hitless.lab.process import Launch
from hitless.lab.programs import OwnLab, running
from hitless.simulation import Run, RunCancelled, Summary

SLACK_US = 20_000.0
"""Later than this a lab is overloaded. The switches keep their own times whatever the machine does, and a segment that
is 20 ms late makes no TCP here lose patience: its least time-out is 200 ms."""

Counts: TypeAlias = Mapping[str, float]
"""Counts of a scene, by name."""
Drive: TypeAlias = Callable[[OwnLab, Callable[[float], None]], Counts]
"""Sends through a lab that is up. The second argument waits for seconds, and ends the work when that is wished."""

_one_at_a_time = threading.Lock()
"""Several labs at once would compete for the processor."""
_numbers = itertools.count(1)


def why_no_labs() -> HitlessError | None:
    """Why this process can bring up no lab; None when it can."""
    try:
        kernel.require_tools()
        kernel.require_privileges("a lab")
        name = f"hitless.probe-{os.getpid()}"
        kernel.run("ip", "netns", "add", name)
        try:
            kernel.run("ip", "-n", name, "link", "add", "one", "type", "veth", "peer", "name", "two")
        finally:
            kernel.run("ip", "netns", "delete", name)
    except HitlessError as refused:
        return refused
    return None


@dataclass(frozen=True, slots=True)
class NoLab:
    """Work that fails with the reason why no lab can run."""

    reason: HitlessError

    def job(self, *, file_name: str, seed: int | None) -> "LabJob":
        """Refuses. Raises `HitlessError`."""
        hint = self.reason.hint or "run it as root, on a machine that permits network namespaces"
        raise HitlessError(f"no lab can be brought up: {self.reason.what}", where=file_name, hint=hint)


@dataclass(frozen=True, slots=True)
class LabWork:
    scenario: str
    drive: Drive
    seconds: float
    """How long that takes, about."""

    stays_here: bool = field(default=True, init=False)
    """A lab is of this machine: no executor elsewhere runs it."""

    def job(self, *, file_name: str, seed: int | None) -> "LabJob":
        """Return the lab before its start; the seed is for the losses of its links."""
        return LabJob(self, file_name, seed if seed is not None else 1)


@dataclass(slots=True)
class LabJob:
    """A lab that is about to come up, up, or gone."""

    work: LabWork
    file_name: str
    seed: int
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _began_s: float | None = None

    @property
    def progress(self) -> float:
        """Share of the time that has passed, 0 to 1."""
        return 0.0 if self._began_s is None else min(1.0, (time.monotonic() - self._began_s) / self.work.seconds)

    def cancel(self) -> None:
        """End soon."""
        self._cancelled.set()

    def run(self, keep: Collection[str] | None = None) -> Run:
        """Bring the lab up, send, and remove it. Raises `HitlessError`."""
        text = f"seed = {self.seed}\n{self.work.scenario}"
        launch = Launch(
            name=f"live-{os.getpid()}-{next(_numbers)}",
            text=text,
            file_name=self.file_name,
            slack_us=SLACK_US,
            congestion="cubic",
            real_time=True,
        )
        with _one_at_a_time:
            self._wait(0.0)
            self._began_s = time.monotonic()
            with running(launch) as lab:
                counts = self.work.drive(lab, self._wait)
                lab.settle()
                status = lab.status()
            wall_s = time.monotonic() - self._began_s
        warnings = status.warnings if status.is_overloaded else []
        values: dict[str, Any] = {"counts": dict(counts), "status": dict(status.values), "warnings": warnings}
        return Run(effective=text, summary=Summary(values), wall_s=wall_s)

    def _wait(self, seconds: float) -> None:
        if self._cancelled.wait(seconds):
            raise RunCancelled
