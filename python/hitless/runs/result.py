"""The result of runs: measured numbers, plots and tables, complete or partial."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Generic, TypeVar

import polars as pl

from hitless.analysis import Interval
from hitless.drawing.plot import Plot
from hitless.errors import HitlessError
from hitless.numbers import NOTHING, finite
from hitless.runs.pool import Task


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measured number: a row of a result."""

    series: str
    """The scheme, or the group of flows."""
    x: str
    """The position on the axis: "100G 1e-3", "300 messages"."""
    metric: str
    """Plain words that say what is counted: "p99.9 FCT", "packets lost"."""
    unit: str
    measured: float | None
    _: KW_ONLY
    interval: Interval | None = None
    note: str = ""
    """Conditions of the number: settings, calibrations, assumptions."""
    why: str = ""
    """Reason for a missing interval; empty if obvious."""

    @property
    def reference(self) -> str:
        """The published number as text; a dash, because these results lack one."""
        return NOTHING

    @property
    def full_note(self) -> str:
        """The note, with the reason for a missing interval."""
        why = f"no interval: {self.why}" if self.why and self.interval is None else ""
        return "; ".join(filter(None, [self.note, why]))

    def as_json(self, shortened: Collection[str] = ()) -> dict[str, Any]:
        """Return the row for the JSON document; non-finite numbers become null.

        All rows have the same columns, including those for a published number and its verdict.
        """
        return {
            "series": self.series,
            "x": self.x,
            "metric": self.metric,
            "unit": self.unit,
            "paper": None,
            "measured": finite(self.measured),
            **ends_as_json(self.interval),
            "judge": "none",
            "verdict": "unjudged",
            "note": "; ".join([*filter(None, [self.full_note]), *shortened]),
        }

    def seeds_as_json(self, seeds: Sequence[int | None]) -> list[dict[str, Any]]:
        """Return the number for each seed alone, for the JSON document."""
        measured = {"measured": finite(self.measured), **ends_as_json(self.interval), "verdict": "unjudged"}
        return [{"seed": seed, **measured} for seed in seeds]


def ends_as_json(interval: Interval | None) -> dict[str, float | None]:
    """Return the ends of an interval for JSON documents."""
    return {
        "ci_low": finite(interval.low if interval else None),
        "ci_high": finite(interval.high if interval else None),
    }


RowType = TypeVar("RowType", bound=Measurement)


@dataclass(slots=True)
class Result(Generic[RowType]):
    """The outcome of a set of runs."""

    id: str
    """Its kind and its name: "run/mine"."""
    title: str
    seed: int | None
    """First of its seeds."""
    shortened: Sequence[str] = ()
    """Runs that were shorter than requested, in words."""
    rows: list[RowType] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    tasks: Sequence[Task] = ()
    failures: list[HitlessError] = field(default_factory=list)
    seeds: Sequence[int | None] = ()
    """All seeds that it ran with."""
    position: int = 0
    """Index among the results of one command."""
    complete: bool = False
    """Did every point run, and is every row there?"""

    @property
    def kind(self) -> str:
        """The part of the id before the slash: "run", "sweep"."""
        return self.id.partition("/")[0]

    @property
    def wall_s(self) -> float:
        """Wall time from the start of the first point to the end of the last, including other results' points."""
        spans = [(t.began_s, t.ended_s) for t in self.tasks if t.began_s is not None and t.ended_s is not None]
        return max((end for _, end in spans), default=0.0) - min((begin for begin, _ in spans), default=0.0)

    @property
    def warnings(self) -> list[str]:
        """Things to check before trusting the rows, each with its run, for any seed."""
        runs = [(task.point.key, task.run) for task in self.tasks if task.run is not None]
        told = (f"{self.id}, {key}: {warning}" for key, run in runs for warning in run.summary.warnings)
        return list(dict.fromkeys(told))

    def take_tasks(self) -> None:
        """Copy failures, completeness and, if a scenario sets its own seed, the seed from the ended tasks."""
        runs = [task.run for task in self.tasks if task.run is not None]
        self.failures = [task.failure for task in self.tasks if task.failure is not None]
        self.complete = len(runs) == len(self.tasks) and not any(run.summary.incomplete for run in runs)
        if self.seed is None:
            self.seed = next((run.summary.values.get("seed") for run in runs), None)
            self.seeds = [self.seed if seed is None else seed for seed in self.seeds]

    def as_json(self) -> dict[str, Any]:
        """Return the result for the JSON document."""
        return {
            "id": self.id,
            "seed": self.seed,
            "wall_s": round(self.wall_s, 3),
            "seeds": list(self.seeds),
            "rows": [{**row.as_json(self.shortened), "seeds": row.seeds_as_json(self.seeds)} for row in self.rows],
        }


def could_not_be_worked_out(what: str, where: str, fault: Exception) -> HitlessError:
    """Return the error for a bug in the code that computes a result; other results must survive it."""
    error = HitlessError(
        f"{what} could not be computed: {type(fault).__name__}: {fault}",
        where=where,
        hint="this is a bug in hitless; --debug shows where it happened",
    )
    error.__cause__ = fault
    return error


def failed(failures: Sequence[HitlessError], runs: int, where: str) -> HitlessError:
    """Return the error to raise if runs have failed."""
    first = failures[0]
    what = f"{len(failures)} of {runs} runs failed, the first of them with: {first.what}"
    hint = f"the others are kept: the same command again runs only the failed ones; {first.hint}".removesuffix("; ")
    return HitlessError(what, where=f"{where}: {first.where}".removesuffix(": "), hint=hint)
