"""The overhead of a sweep over the sum of its runs.

The runs simulate the testbed of LinkGuardian, with 10 seeds at each loss rate, on one thread. The cost of the runs is
the CPU time of this thread from reading a scenario to its tables, as in `Scenario.run`. The rest of the process's CPU
time is the sweep's: it checks every point, measures every metric, caches each run on disk, and writes rows, intervals,
plots and a report. Both are measured at the same time, so a busy machine slows both alike.
"""

import tempfile
import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hitless.analysis import mean_over_seeds
from hitless.runs.keeping import KeptWork
from hitless.runs.pool import Task
from hitless.scenario import example
from hitless.simulation import Job, Run, Work
from hitless.sweeps.plan import SweepPlan
from hitless.sweeps.running import Options, Sweeping

_SEEDS = 10
_RATE = "link[0].loss.rate"


@dataclass(slots=True)
class _Clock:
    """CPU time of runs."""

    spent_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Timed:
    work: Work
    clock: _Clock

    def job(self, *, file_name: str, seed: int | None) -> Job:
        began_s = time.thread_time()
        job = self.work.job(file_name=file_name, seed=seed)
        self.clock.spent_s += time.thread_time() - began_s
        return _TimedJob(job, self.clock)


@dataclass(frozen=True, slots=True)
class _TimedJob:
    job: Job
    clock: _Clock = field(repr=False)

    @property
    def progress(self) -> float:
        return self.job.progress

    def cancel(self) -> None:
        self.job.cancel()

    def run(self, keep: Collection[str] | None = None) -> Run:
        began_s = time.thread_time()
        run = self.job.run(keep)
        self.clock.spent_s += time.thread_time() - began_s
        return run


def bench_sweep(points: int, messages: int, rounds: int) -> dict[str, Any]:
    """Return the overhead of a sweep of ``points`` runs with ``messages`` messages, as a share of its runs."""
    rates = [1e-4 * number for number in range(1, points // _SEEDS + 1)]
    _overhead([1e-3], messages)  # loads the modules that are imported at first use
    found = [_overhead(rates, messages) for _ in range(rounds)]
    over = [overhead for overhead, _ in found]
    interval = mean_over_seeds(over).interval
    return {
        "points": len(rates) * _SEEDS,
        "messages": messages,
        "rounds": rounds,
        "run_ms": round(1e3 * min(spent_s for _, spent_s in found) / (len(rates) * _SEEDS), 3),
        "overhead": sum(over) / rounds,
        "overhead_interval": interval and [interval.low, interval.high],
    }


def _overhead(rates: list[float], messages: int) -> tuple[float, float]:
    """Return the overhead of a sweep as a share of its runs, and the CPU time of the runs."""
    clock = _Clock()
    with tempfile.TemporaryDirectory() as folder:
        began_s = time.process_time()
        base = example("linkguardian-testbed").with_("flows[0].count", messages)
        options = Options(out=Path(folder, "sweep"), jobs=1, progress=False)
        sweeping = Sweeping(SweepPlan.of(base, {_RATE: rates}, _SEEDS), options)
        for task in sweeping.study.tasks:
            _time(task, clock)
        sweeping.run()
        spent_s = time.process_time() - began_s
    return spent_s / clock.spent_s - 1.0, clock.spent_s


def _time(task: Task, clock: _Clock) -> None:
    kept = task.point.work
    assert isinstance(kept, KeptWork)
    task.point = replace(task.point, what=replace(kept, work=_Timed(kept.work, clock)))
