"""Several policies in the same year: one trace, and repairs from the same stream.

A comparison is work for a pool of threads. A year has 180,000 states; of each only what tables and figures need is
kept, so that a hundred years fit into memory.
"""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl
import tomli_w

from hitless.fleet import statistics
from hitless.fleet.year import Finished, Hazard, Topology, Trace, Year
from hitless.simulation import Run, RunCancelled, Summary

BASELINE, PROTECTED = "corropt", "lg+corropt"
"""The two policies whose decisions are alike, so that a gain can be given event by event."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Policies and capacities to run on the trace of one seed."""

    policies: Sequence[str]
    capacities: Sequence[float]
    topology: str = "fabric"
    hazard: Hazard = field(default_factory=Hazard)
    deployment: float = 1.0

    def job(self, *, file_name: str, seed: int | None) -> "ComparisonJob":
        """The comparison for one seed, about to run."""
        return ComparisonJob(self, 1 if seed is None else seed)

    def describe(self, seed: int) -> str:
        """As TOML, for the results folder."""
        return tomli_w.dumps({"fleet": {"seed": seed, **asdict(self)}})


class ComparisonJob:
    """A comparison under way. ``progress`` and ``cancel`` are for other threads."""

    def __init__(self, comparison: Comparison, seed: int) -> None:
        self._comparison = comparison
        self._seed = seed
        self._cases = [(policy, capacity) for capacity in comparison.capacities for policy in comparison.policies]
        self._done = 0
        self._year: Year | None = None
        self._cancelled = False

    @property
    def progress(self) -> float:
        """Share that is done, 0 to 1."""
        year = self._year
        return (self._done + (year.progress if year else 0.0)) / len(self._cases)

    def cancel(self) -> None:
        """End soon; `run` then raises `RunCancelled`."""
        self._cancelled = True
        year = self._year
        if year is not None:
            year.cancel()

    def run(self, keep: Collection[str] | None = None) -> Run:
        """Run all cases.

        Tables: ``years`` (a row for each policy and capacity), ``gains`` and ``gain_quantiles`` (for each capacity,
        where both `BASELINE` and `PROTECTED` ran), ``week`` (the states of figure 15).
        """
        began = time.monotonic()
        topology = Topology.of(self._comparison.topology)
        trace = Trace.generate(topology, self._seed, self._comparison.hazard)
        frames: dict[str, list[pl.DataFrame]] = {}
        for capacity in self._comparison.capacities:
            finished = {policy: self._run_year(trace, policy, capacity) for policy in self._comparison.policies}
            for name, frame in _tables(capacity, finished):
                frames.setdefault(name, []).append(frame)
        tables = {name: pl.concat(parts) for name, parts in frames.items() if keep is None or name in keep}
        values: dict[str, Any] = {"seed": self._seed, "links": topology.links, "warnings": [], "drops": {}}
        return Run(self._comparison.describe(self._seed), Summary(values), tables, time.monotonic() - began)

    def _run_year(self, trace: Trace, policy: str, capacity: float) -> Finished:
        self._year = Year(trace, policy, capacity, self._comparison.deployment, self._seed)
        # A cancel before this line has seen no year to end.
        if self._cancelled:
            raise RunCancelled
        finished = self._year.run()
        self._year = None
        self._done += 1
        return finished


def _tables(capacity: float, finished: dict[str, Finished]) -> Iterable[tuple[str, pl.DataFrame]]:
    yield "years", pl.DataFrame([_year_row(policy, capacity, year) for policy, year in finished.items()])
    weeks = [_labelled(statistics.week(year.states), policy, capacity) for policy, year in finished.items()]
    yield "week", pl.concat(weeks)
    if BASELINE in finished and PROTECTED in finished:
        found = statistics.gain(finished[BASELINE].states, finished[PROTECTED].states)
        yield "gains", pl.DataFrame([_gain_row(capacity, found)])
        shares, times, lost = found.quantiles()
        columns = {"share": shares, "gain": times, "capacity_lost_gbps": lost}
        yield "gain_quantiles", pl.DataFrame(columns).with_columns(capacity=pl.lit(capacity))


def _labelled(states: pl.DataFrame, policy: str, capacity: float) -> pl.DataFrame:
    return states.with_columns(policy=pl.lit(policy), capacity=pl.lit(capacity))


def _year_row(policy: str, capacity: float, year: Finished) -> dict[str, Any]:
    states = year.states
    return {
        "policy": policy,
        "capacity": capacity,
        "mean_penalty": statistics.mean_over_time(states, "total_penalty"),
        "mean_effective_penalty": statistics.mean_over_time(states, "total_effective_penalty"),
        "mean_disabled_links": statistics.mean_over_time(states, "curr_disabled_links"),
        "mean_corrupting_links": statistics.mean_over_time(states, "curr_corrupting_links"),
        "min_tor_paths": states["min_per_tor_paths"].min(),
        "min_pod_capacity_gbps": states["min_per_pod_capacity"].min(),
        "max_lg_ports_per_pipe": states["max_lg_ports_per_pipe"].max(),
        "failures": year.failures,
        "failures_skipped": year.skipped,
        "repairs": year.taken_down,
    }


def _gain_row(capacity: float, found: statistics.Gain) -> dict[str, Any]:
    return {
        "capacity": capacity,
        "median_gain": found.median,
        "median_gain_by_time": found.median_by_time,
        "share_without_gain": found.share_without,
        "share_without_gain_by_time": found.share_without_by_time,
        "worst_capacity_loss_gbps": found.worst_capacity_loss_gbps,
    }
