"""Several policies in the same year: one trace, and repairs from the same random stream.

A comparison is work for a pool of threads. A year has 180,000 states; only the data for tables and figures is kept, so
that a hundred years fit into memory.
"""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from hitless.errors import BadInput
from hitless.fleet import statistics
from hitless.fleet.year import BLOCKING, Finished, Hazard, Trace, Year, read_text, topology_of
from hitless.simulation import Run, RunCancelled, Summary

BASELINE, PROTECTED = "corropt", "lg+corropt"
"""Two policies that make the same decisions, so that gains can be computed event by event."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Policies and capacities to run on the trace of a seed."""

    policies: Sequence[str]
    capacities: Sequence[float]
    topology: str = "fabric"
    hazard: Hazard = field(default_factory=Hazard)
    deployment: float = 1.0
    protection: str = BLOCKING
    """Mode of LinkGuardian, or the name of a file with its effect."""
    window: statistics.Window | None = None
    """Window for means and gains, in seconds; the default is `Trace.window` of each year."""

    def trace(self, seed: int) -> Trace:
        """Return the trace of a seed; a trace without failures in the window is refused."""
        made = Trace.generate(topology_of(self.topology), seed, self.hazard)
        first, _ = made.window
        if first >= self.window_of(made)[1]:
            what = "the trace ends with its first failure, but a mean over time needs two or more"
            hint = "a longer trace, a shorter mean time between failures, or more links"
            raise BadInput(what, where=made.place, hint=hint)
        return made

    def year(self, trace: Trace, policy: str, capacity: float, seed: int) -> Year:
        return Year(trace, policy, capacity, self.deployment, seed, protection=self.protection)

    def check(self, seed: int) -> None:
        """Refuse settings with which the year of a seed cannot run."""
        trace = self.trace(seed)
        for policy in self.policies:
            self.year(trace, policy, self.capacities[0], seed)

    def window_of(self, trace: Trace) -> statistics.Window:
        """Return the window for means and gains of a trace, in seconds."""
        return self.window or trace.window

    def job(self, *, file_name: str, seed: int | None) -> "ComparisonJob":
        """Return the comparison for one seed, about to run."""
        return ComparisonJob(self, 1 if seed is None else seed)

    def identity(self, file_name: str) -> str:
        """Return everything that the results depend on but seed and native module: settings, and averaging code."""
        files = [read_text(path) for path in (Path(self.topology), Path(self.protection)) if path.is_file()]
        sources = "".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py")))
        return "\n".join((self.describe(0), *files, sources))

    def describe(self, seed: int) -> str:
        """Describe it in TOML, for the results folder."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return tomli_w.dumps({"fleet": {"seed": seed, **given}})


class ComparisonJob:
    """A comparison in progress. ``progress`` and ``cancel`` are for other threads."""

    def __init__(self, comparison: Comparison, seed: int) -> None:
        self._comparison = comparison
        self._seed = seed
        self._cases = [(policy, capacity) for capacity in comparison.capacities for policy in comparison.policies]
        self._done = 0
        self._year: Year | None = None
        self._cancelled = False

    @property
    def progress(self) -> float:
        year = self._year
        return (self._done + (year.progress if year else 0.0)) / len(self._cases)

    def cancel(self) -> None:
        """Stop soon; `run` then raises `RunCancelled`."""
        self._cancelled = True
        year = self._year
        if year is not None:
            year.cancel()

    def run(self, keep: Collection[str] | None = None) -> Run:
        """Run all cases.

        Tables: ``years`` (a row for each policy and capacity), ``gains`` and ``gain_quantiles`` (for each capacity with
        runs of both `BASELINE` and `PROTECTED`), ``week`` (the states of figure 15).
        """
        began = time.monotonic()
        trace = self._comparison.trace(self._seed)
        window = self._comparison.window_of(trace)
        frames: dict[str, list[pl.DataFrame]] = {}
        for capacity in self._comparison.capacities:
            finished = {policy: self._run_year(trace, policy, capacity) for policy in self._comparison.policies}
            for name, frame in _tables(capacity, finished, window):
                frames.setdefault(name, []).append(frame)
        tables = {name: pl.concat(parts) for name, parts in frames.items() if keep is None or name in keep}
        values: dict[str, Any] = {"seed": self._seed, "links": trace.native.topology.links, "warnings": [], "drops": {}}
        return Run(self._comparison.describe(self._seed), Summary(values), tables, time.monotonic() - began)

    def _run_year(self, trace: Trace, policy: str, capacity: float) -> Finished:
        self._year = self._comparison.year(trace, policy, capacity, self._seed)
        # A cancel before this line has not seen a year to stop.
        if self._cancelled:
            raise RunCancelled
        finished = self._year.run()
        self._year = None
        self._done += 1
        return finished


def _tables(
    capacity: float, finished: dict[str, Finished], window: statistics.Window
) -> Iterable[tuple[str, pl.DataFrame]]:
    years = [
        {
            "policy": policy,
            "capacity": capacity,
            **statistics.summary(year.states, window),
            "failures": year.failures,
            "failures_skipped": year.skipped,
            "repairs": year.taken_down,
        }
        for policy, year in finished.items()
    ]
    yield "years", pl.DataFrame(years)
    weeks = {policy: statistics.week(year.states) for policy, year in finished.items()}
    labels = ((week, {"policy": pl.lit(policy), "capacity": pl.lit(capacity)}) for policy, week in weeks.items())
    yield "week", pl.concat([week.with_columns(**label) for week, label in labels])
    if BASELINE in finished and PROTECTED in finished:
        found = statistics.gain(finished[BASELINE].states, finished[PROTECTED].states, window)
        gains = {
            "capacity": capacity,
            "median_gain": found.median,
            "median_gain_by_time": found.median_by_time,
            "share_without_gain": found.share_without,
            "share_without_gain_by_time": found.share_without_by_time,
            "worst_capacity_loss_gbps": found.worst_capacity_loss_gbps,
        }
        yield "gains", pl.DataFrame([gains])
        shares, times, lost = found.quantiles()
        columns = {"share": shares, "gain": times, "capacity_lost_gbps": lost}
        yield "gain_quantiles", pl.DataFrame(columns).with_columns(capacity=pl.lit(capacity))
