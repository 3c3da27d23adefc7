"""What a sweep costs over the sum of its runs.

Runs are those of the testbed of LinkGuardian, 10 seeds at each loss rate. Alone, each is a call of `Scenario.run`, of
which nothing is kept; the sweep measures every metric, keeps each run on disk, and writes rows, intervals, plots and a
report. Both take place on one thread, in turn, so that whatever else the machine does meets both.
"""

import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any

from hitless.analysis import paired_ratio
from hitless.scenario import Scenario, example
from hitless.sweeps import sweep
from hitless.sweeps.plan import Plan

_SEEDS = 10
_RATE = "link[0].loss.rate"


def bench_sweep(points: int, messages: int, rounds: int) -> dict[str, Any]:
    """CPU time of a sweep of ``points`` runs of ``messages`` messages each, over that of its runs alone."""
    base = example("linkguardian-testbed").with_("flows[0].count", messages)
    grid = {_RATE: [1e-4 * number for number in range(1, points // _SEEDS + 1)]}
    _swept(base, {_RATE: [1e-3]})  # what is imported at first use
    alone_s, sweep_s = [], []
    for _ in range(rounds):
        alone_s.append(_cpu_s(lambda: _run_alone(base, grid)))
        sweep_s.append(_cpu_s(lambda: _swept(base, grid)))
    found = paired_ratio(alone_s, sweep_s)
    return {
        "points": len(grid[_RATE]) * _SEEDS,
        "messages": messages,
        "rounds": rounds,
        "run_ms": round(1e3 * min(alone_s) / points, 3),
        "overhead": found.estimate - 1.0,
        "overhead_interval": found.interval and [found.interval.low - 1.0, found.interval.high - 1.0],
    }


def _run_alone(base: Scenario, grid: Mapping[str, list[float]]) -> None:
    plan = Plan.of(base, grid, _SEEDS)
    for point in plan.points():
        for seed in plan.seeds:
            point.scenario.run(seed=seed)


def _swept(base: Scenario, grid: Mapping[str, list[float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sweep(base, grid, seeds=_SEEDS, out=f"{folder}/sweep", jobs=1, progress=False)


def _cpu_s(work: Callable[[], None]) -> float:
    began_s = time.process_time()
    work()
    return time.process_time() - began_s
