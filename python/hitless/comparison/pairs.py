"""The runs of a comparison and their evaluation: each metric on both sides, the difference, and its uncertainty."""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from hitless.analysis import paired_difference, paired_ratio
from hitless.comparison.compared import Compared, ratios_plot
from hitless.comparison.sides import Side
from hitless.outcome.around import changes_between, parts_plot
from hitless.outcome.autopsy import TABLE
from hitless.outcome.metrics import TABLES, Metric, measured
from hitless.outcome.queries import queries_of
from hitless.runs.point import Point, Runs
from hitless.runs.pool import Task
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
    parts: str = ""
    """Changes of the parts of completion times in a sentence, over all messages of all seeds; "" without autopsies."""


@dataclass(slots=True)
class _Pair:
    """The findings of both sides with one seed, without the tables of the runs."""

    seed: int
    a: dict[Metric, float]
    b: dict[Metric, float]
    flows: int
    """Number of flows on one side."""
    starts: list[str]
    """As in `Outcome.different_starts`."""
    different: list[str]
    """As in `Outcome.different_flows`."""
    autopsies: tuple[pl.DataFrame, pl.DataFrame] | None
    """Divided completion times of both sides, if both have them."""
    queries: tuple[pl.DataFrame, pl.DataFrame] | None
    """Those of queries."""


@dataclass(slots=True)
class PairedRuns:
    """Both sides with each seed, pair by pair, so that stopping early leaves complete pairs."""

    sides: tuple[Side, Side]
    count: int
    outcome: Outcome = field(default_factory=lambda: Outcome(()))
    _waiting: dict[int, Task] = field(default_factory=dict)
    """The first finished run of each pair, by replica."""
    _pairs: dict[int, _Pair] = field(default_factory=dict)

    def points(self) -> Iterable[Point]:
        """Yield a run for each side and seed. The first seed is the user's, so that `hitless run` can repeat it."""
        for replica in range(self.count):
            for name, side in zip("ab", self.sides, strict=True):
                keep = (*TABLES, TABLE) if _has_autopsy(side) else TABLES
                yield Point(f"{name} {replica + 1}", PacketSimulation(side.text, side.place), replica, keep)

    def take(self, task: Task) -> None:
        """Take a run that ended; evaluate its pair if both runs are there, and free their tables."""
        replica = task.point.replica
        if task.run is None:
            return
        if replica not in self._waiting:
            self._waiting[replica] = task
            return
        a, b = sorted((self._waiting.pop(replica), task), key=lambda task: task.point.key)
        if a.run is not None and b.run is not None:
            assert replica not in self._pairs, "each pair is evaluated once"
            seed = int(a.run.summary["seed"])
            self._pairs[replica] = _Pair(
                seed, measured(a.run), measured(b.run), *_arrivals(a.run, b.run), *_autopsies(a.run, b.run)
            )
        a.release_tables()
        b.release_tables()

    def work_out(self, _: Runs, result: Result[Measurement]) -> None:
        """Compare both sides; the rows compare b with a, metric by metric, and the table has both."""
        self.outcome = _outcome([self._pairs[replica] for replica in sorted(self._pairs)])
        result.rows = list(self._rows())
        rows = [one.as_json() for one in self.outcome.compared]
        result.tables = {"compared": pl.DataFrame(rows, infer_schema_length=None)} if rows else {}
        plot = ratios_plot((self.sides[0].label, self.sides[1].label), self.outcome.compared, len(self.outcome.seeds))
        pairs = self._pairs.values()
        messages = self._parts([pair.autopsies for pair in pairs])
        queries = self._parts([pair.queries for pair in pairs])
        if len(messages) == 2:
            before, after = messages.values()
            self.outcome = replace(self.outcome, parts=changes_between(before, after, self.sides[1].label))
        plots = plot, parts_plot(messages), parts_plot(queries, "queries")
        result.plots = [one for one in plots if one is not None]

    def _parts(self, all_pairs: Iterable[tuple[pl.DataFrame, pl.DataFrame] | None]) -> dict[str, pl.DataFrame]:
        """Return the autopsies of both sides over all pairs, by label; empty without autopsies."""
        pairs = [pair for pair in all_pairs if pair is not None]
        if not pairs:
            return {}
        sides = zip(self.sides, zip(*pairs, strict=True), strict=True)
        return {side.label: pl.concat(frames) for side, frames in sides}

    def _rows(self) -> Iterator[Measurement]:
        label = f"{self.sides[1].label} (b) vs. {self.sides[0].label} (a)"
        for one in self.outcome.compared:
            how, unit = ("b / a", "x") if one.metric.kind == "ratio" else ("b - a", one.metric.unit)
            interval = one.paired.interval
            metric = f"{one.metric.name}, {how}"
            yield Measurement(label, one.metric.of, metric, unit, one.paired.estimate, interval=interval)


def _outcome(pairs: Sequence[_Pair]) -> Outcome:
    if not pairs:
        return Outcome(())
    different = list(dict.fromkeys(group for pair in pairs for group in pair.different))
    starts = dict.fromkeys(group for pair in pairs for group in pair.starts if group not in different)
    flows = sum(pair.flows for pair in pairs)
    return Outcome([pair.seed for pair in pairs], list(_compared(pairs)), flows, list(starts), different)


def _compared(pairs: Sequence[_Pair]) -> Iterator[Compared]:
    """Yield the metrics common to all runs; others would only cover the seeds with many messages."""
    for metric in _in_order(pairs[0].a):
        if not all(metric in pair.a and metric in pair.b for pair in pairs):
            continue
        both = [(pair.a[metric], pair.b[metric]) for pair in pairs]
        # A ratio is compared by its logarithm, so it needs values above zero on both sides.
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


def _has_autopsy(side: Side) -> bool:
    return bool(tomllib.loads(side.text).get("measure", {}).get("autopsy"))


_Frames = tuple[pl.DataFrame, pl.DataFrame]


def _autopsies(a: Run, b: Run) -> tuple[_Frames, _Frames] | tuple[None, None]:
    """Return the autopsies of messages and of queries."""
    if TABLE not in a.tables or TABLE not in b.tables:
        return None, None
    return (a.table(TABLE), b.table(TABLE)), (queries_of(a.tables), queries_of(b.tables))


def _arrivals(a: Run, b: Run) -> tuple[int, list[str], list[str]]:
    """Return the number of flows of a side, and the groups with other starts and with other flows on both sides."""
    if "flows" not in a.tables or "flows" not in b.tables:
        return 0, [], []
    left, right = _by_group(a), _by_group(b)
    starts, different = [], []
    for group in {**left, **right}:
        if group not in left or group not in right or not _same_flows(left[group], right[group]):
            different.append(group)
        elif not left[group].equals(right[group]):
            starts.append(group)
    return sum(map(len, left.values())), starts, different


def _same_flows(left: pl.DataFrame, right: pl.DataFrame) -> bool:
    """Are the flows equal at all positions that both sides have?"""
    both = left.join(right, on="position", suffix="_right")
    return len(both) > 0 and all(both[name].equals(both[f"{name}_right"].alias(name)) for name in _FLOW)


def _by_group(run: Run) -> dict[str, pl.DataFrame]:
    flows = run.table("flows").select(_ARRIVALS).sort("group", "position")
    if flows.is_empty():
        return {}
    return {str(group): of for (group,), of in flows.partition_by("group", as_dict=True, maintain_order=True).items()}
