"""The runs of a comparison and their evaluation: each metric on both sides, the difference, and its uncertainty."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from hitless.analysis import paired_difference, paired_ratio
from hitless.comparison.compared import Compared
from hitless.comparison.plots import ratios_plot
from hitless.comparison.sides import Side
from hitless.outcome.metrics import TABLES, Metric, measured
from hitless.runs.point import Point, Runs
from hitless.runs.result import Measurement, Result
from hitless.simulation import PacketSimulation, Run

_FLOW = ("source", "destination", "message_bytes")
_ARRIVALS = ("group", "position", "started_ps", *_FLOW)


@dataclass(slots=True)
class Outcome:
    """The findings of all finished pairs."""

    seeds: Sequence[int]
    """Seeds of the complete pairs."""
    compared: Sequence[Compared] = ()
    flows: int = 0
    """Number of flows with compared arrivals, on one side, over all seeds."""
    different_starts: Sequence[str] = ()
    """Groups with equal sizes and hosts, position by position, but other starts or another number of flows."""
    different_flows: Sequence[str] = ()
    """Groups with other sizes or hosts."""


@dataclass(slots=True)
class PairedRuns:
    """Both sides with each seed, pair by pair, so that stopping early leaves complete pairs."""

    sides: tuple[Side, Side]
    count: int
    outcome: Outcome = field(default_factory=lambda: Outcome(()))

    def points(self) -> Iterable[Point]:
        """Yield a run for each side and seed. The first seed is the user's, so that `hitless run` can repeat it."""
        for replica in range(self.count):
            for name, side in zip("ab", self.sides, strict=True):
                yield Point(_key(name, replica), PacketSimulation(side.text, side.place), replica, TABLES)

    def work_out(self, runs: Runs, result: Result[Measurement]) -> None:
        """Compare both sides; the rows compare b with a, metric by metric, and the table has both."""
        self.outcome = self._outcome(runs)
        result.rows = list(self._rows())
        rows = [one.as_json() for one in self.outcome.compared]
        result.tables = {"compared": pl.DataFrame(rows, infer_schema_length=None)} if rows else {}
        plot = ratios_plot((self.sides[0].label, self.sides[1].label), self.outcome.compared, len(self.outcome.seeds))
        result.plots = [] if plot is None else [plot]

    def _rows(self) -> Iterator[Measurement]:
        label = f"{self.sides[1].label} (b) vs. {self.sides[0].label} (a)"
        for one in self.outcome.compared:
            how, unit = ("b / a", "x") if one.metric.kind == "ratio" else ("b - a", one.metric.unit)
            interval = one.paired.interval
            metric = f"{one.metric.name}, {how}"
            yield Measurement(label, one.metric.of, metric, unit, one.paired.estimate, interval=interval)

    def _outcome(self, runs: Runs) -> Outcome:
        done = [n for n in range(self.count) if _key("a", n) in runs and _key("b", n) in runs]
        pairs = [(runs[_key("a", n)], runs[_key("b", n)]) for n in done]
        if not pairs:
            return Outcome(())
        seeds = [int(a.summary["seed"]) for a, _ in pairs]
        return Outcome(seeds, list(_compared(pairs)), *_arrivals(pairs))


def _key(side: str, replica: int) -> str:
    return f"{side} {replica + 1}"


def _compared(pairs: Sequence[tuple[Run, Run]]) -> Iterator[Compared]:
    """Yield the metrics common to all runs; others would only cover the seeds with many messages."""
    values = [(measured(a), measured(b)) for a, b in pairs]
    for metric in _in_order(values[0][0]):
        if not all(metric in side for pair in values for side in pair):
            continue
        both = [(a[metric], b[metric]) for a, b in values]
        if metric.kind == "difference" or min(map(min, both)) > 0.0:
            yield _one(metric, both)


def _in_order(metrics: Iterable[Metric]) -> list[Metric]:
    """Sort section by section, by their first metrics, with counts last in each; the fabric's section is last."""
    known = list(metrics)
    sections = list(dict.fromkeys(metric.of for metric in known))
    return sorted(known, key=lambda metric: (metric.of == "all", sections.index(metric.of), metric.kind != "ratio"))


def _one(metric: Metric, both: Sequence[tuple[float, float]]) -> Compared:
    a, b = zip(*both, strict=True)
    paired = paired_ratio(a, b) if metric.kind == "ratio" else paired_difference(a, b)
    mean = _geometric_mean if metric.kind == "ratio" else _mean
    return Compared(metric, mean(a), mean(b), paired, both)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def _geometric_mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def _arrivals(pairs: Sequence[tuple[Run, Run]]) -> tuple[int, list[str], list[str]]:
    """Return the number of flows of a side, and the groups with other starts and with other flows on both sides."""
    flows, starts, different = 0, dict[str, None](), dict[str, None]()
    for a, b in pairs:
        if "flows" not in a.tables or "flows" not in b.tables:
            continue
        left, right = (_by_group(run) for run in (a, b))
        flows += sum(map(len, left.values()))
        for group in {**left, **right}:
            if group not in left or group not in right or not _same_flows(left[group], right[group]):
                different[group] = None
            elif not left[group].equals(right[group]):
                starts[group] = None
    return flows, [group for group in starts if group not in different], list(different)


def _same_flows(left: pl.DataFrame, right: pl.DataFrame) -> bool:
    """Are the flows equal at all positions that both sides have?"""
    both = left.join(right, on="position", suffix="_right")
    return len(both) > 0 and all(both[name].equals(both[f"{name}_right"].alias(name)) for name in _FLOW)


def _by_group(run: Run) -> dict[str, pl.DataFrame]:
    flows = run.table("flows").select(_ARRIVALS).sort("group", "position")
    if flows.is_empty():
        return {}
    return {str(group): of for (group,), of in flows.partition_by("group", as_dict=True, maintain_order=True).items()}
