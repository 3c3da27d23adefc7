"""The runs of a sweep, and its result."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from hitless.analysis import REPLICAS_MIN, Interval
from hitless.runs.point import Point, Runs
from hitless.runs.result import Measurement, Result
from hitless.sweeps.frames import frame_of, intervals, varying_plots
from hitless.sweeps.measured import Measure, Measured
from hitless.sweeps.plan import Axis, GridPoint, Shard, SweepPlan


@dataclass(frozen=True, slots=True)
class Member:
    """One run of a sweep."""

    point: GridPoint
    seed: int

    @property
    def key(self) -> str:
        """Name within the sweep."""
        return f"{self.point.name} seed={self.seed}"


@dataclass(slots=True)
class SweptRuns:
    """The runs of a plan, or of a shard."""

    plan: SweepPlan
    shard: Shard
    measure: Measure | None = None
    members: dict[str, Member] = field(default_factory=dict, init=False)
    """Members by key; filled by `points`."""
    frame: pl.DataFrame = field(default_factory=pl.DataFrame, init=False)
    """Rows of the finished runs; filled by `work_out`."""

    def points(self) -> Iterator[Point]:
        """Yield a run for each point of the grid and each seed. Raises `RefusedScenario` before any of them runs."""
        reduction = Measured(list(self.plan.keep), self.measure)
        for point in self.plan.points():
            first = point.number * len(self.plan.seeds)
            chosen = [seed for number, seed in enumerate(self.plan.seeds, first) if self.shard.has(number)]
            work = point.work() if chosen else None
            for seed in chosen:
                member = Member(point, seed)
                self.members[member.key] = member
                yield Point(member.key, work, keep=reduction.tables, reduce=reduction, own_seed=seed)  # type: ignore[arg-type]

    def work_out(self, runs: Runs, result: Result[Measurement]) -> None:
        """Compute every metric at every point over the seeds, and a plot for each axis and popular metric.

        A sweep writes its own data set, so the result leaves out tables.
        """
        self.frame = frame_of(self.plan, [(self.members[key], runs[key]) for key in runs])
        table = intervals(self.frame)
        result.rows = list(rows_of_table(self.plan.axes, table))
        result.plots = list(varying_plots(self.plan.axes, table))


def _note(row: Mapping[str, Any]) -> str:
    """Return the number of seeds, and the reason for a missing interval."""
    few = row["seeds"] < REPLICAS_MIN
    return row["note"] if few else "; ".join(filter(None, [f"{row['seeds']} seeds", row["note"]]))


def rows_of_table(axes: Iterable[Axis], table: pl.DataFrame) -> Iterable[Measurement]:
    """Return the rows of a report, from the table of `intervals`."""
    schemes = [axis.path for axis in axes if not axis.is_numeric]
    places = [axis.path for axis in axes if axis.is_numeric]
    for row in table.iter_rows(named=True):
        series = ", ".join(str(row[path]) for path in schemes) or "sweep"
        x = ", ".join([*(f"{path} = {row[path]:g}" for path in places), str(row["of"])])
        interval = None if row["ci_low"] is None else Interval(row["ci_low"], row["ci_high"])
        yield Measurement(series, x, row["metric"], row["unit"], row["mean"], interval=interval, note=_note(row))
