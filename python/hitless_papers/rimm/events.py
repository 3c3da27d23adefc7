"""Microburst events, one per run, and their measurements."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from hitless.analysis import REPLICAS_MIN, SEEDS_CHANGE_NOTHING, Interval
from hitless.analysis.seeds import few_seeds
from hitless.drawing.plot import Plot, cdf_series
from hitless.simulation import Run
from hitless_papers import Context, Point, Replicated, Runs, Share
from hitless_papers.estimates import Estimate, mean_if_any
from hitless_papers.rimm import testbed

TABLES = ("flows", "messages", "flow_progress", "queues", "mechanisms", "histograms")
EVENTS = 20
"""Section IV: "20 microburst events are generated in each experiment"."""

_SAMPLE = "5 us"
_RESAMPLES = 2_000
_PROGRESS_MS = 1


class Event:
    """One burst that meets the background."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def flows(self) -> pl.DataFrame:
        return self.run.table("flows")

    def of(self, group: str, column: str) -> int:
        """Sum a column over the flows of a group."""
        return int(self.flows.filter(pl.col("group").str.starts_with(group))[column].sum())

    @property
    def lost(self) -> int:
        """Packets lost in the network, except those corrupted to end the slow start of the background."""
        return int(self.flows["network_packets_lost"].sum()) - self.run.summary.drops.get("corrupted on a link", 0)

    @property
    def retransmitted(self) -> int:
        """Packets that all senders retransmitted after `SETTLED_MS`."""
        progress = self.run.table("flow_progress").filter(pl.col("time_ps") <= testbed.SETTLED_MS * 10**9)
        before = progress.group_by("flow").agg(pl.col("packets_retransmitted").max())["packets_retransmitted"].sum()
        return int(self.flows["packets_retransmitted"].sum()) - int(before)

    @property
    def reordered(self) -> int:
        return int(self.flows["network_packets_reordered"].sum())

    def completion_ms(self, group: str) -> float | None:
        """Return the time from the flow's start to the delivery of its last byte; None if it did not complete."""
        done = self.run.completed_messages().filter(pl.col("group") == group)
        if len(done) == 0:
            return None
        return float((done["delivered_ps"] - done["started_ps"]).max()) / 1e9  # type: ignore[arg-type]

    def jitter_us(self, group: str) -> float:
        """Return the mean change of transit time between successive data packets (RFC 3550, section 6.4.1)."""
        own = self.flows.filter(pl.col("group") == group)
        return float(own["network_jitter_ps"].mean() or 0.0) / 1e6  # type: ignore[arg-type]

    def peak_segments(self, port: str = testbed.HOT_PORT) -> float:
        """Return the maximum sampled depth of a port's queue, in segments."""
        samples = self.run.table("queues").filter(pl.col("port") == port)
        return float(samples["value_bytes"].max() or 0) / testbed.SEGMENT_BYTES  # type: ignore[arg-type]

    def counter(self, name: str, switch: str | None = None) -> int:
        """Return a counter of the mechanism; 0 if it never acted there."""
        return self.run.counter(name, switch, default=0)

    def histogram_max(self, key: str) -> int | None:
        """Return the maximum of a histogram over all switches; None if it is empty."""
        found = self.run.histogram(key)
        return None if found.is_empty() else int(found["value"].max())  # type: ignore[arg-type]


class OfEvents(Replicated):
    """An exhibit of events, each in a separate run.

    Events with the same number share a seed, so all schemes meet the same events.
    """

    schemes: ClassVar[Mapping[str, Mapping[str, Any]]]

    @property
    def x(self) -> str:
        return f"{self._replicas} events"

    def points(self, context: Context) -> Iterable[Point]:
        count = context.length("events", full=EVENTS, quick=EVENTS)
        length_ms = context.length("ms for each event", full=1_000, normal=200, quick=60)
        flows = [testbed.background(length_ms), testbed.burst()]
        cases = {
            scheme: testbed.scenario("event", flows, settings, measure=measure())
            for scheme, settings in self.schemes.items()
        }
        return self.replicated(count, cases, keep=TABLES)

    def events(self, runs: Runs, scheme: str) -> list[Event]:
        return list(map(Event, self.each(runs, scheme)))

    def completions(self, runs: Runs, group: str) -> Plot:
        by_scheme = {scheme: completions_ms(self.events(runs, scheme), group) for scheme in self.schemes}
        series = [cdf_series(scheme, times) for scheme, times in by_scheme.items()]
        return Plot(f"Completion times of the {group}", "FCT (ms)", "share of events", series)


def measure(groups: Sequence[str] = ("background", "burst")) -> Mapping[str, Any]:
    return {
        "order": True,
        "queue": [{"ports": [testbed.HOT_PORT, *testbed.NEIGHBOUR_PORTS], "period": _SAMPLE}],
        "flow": [{"group": group, "period": f"{_PROGRESS_MS} ms"} for group in groups],
    }


def completions_ms(events: Sequence[Event], group: str) -> list[float]:
    """Return the completion times of the group's flow; events without completion are skipped."""
    return [time for event in events if (time := event.completion_ms(group)) is not None]


def completed(events: Sequence[Event], group: str, scheme: str) -> Share:
    return Share(scheme, len(completions_ms(events, group)), len(events), "events")


def mean_completion(events: Sequence[Event], group: str, scheme: str) -> Estimate:
    return replace(mean_if_any(completions_ms(events, group)), completed=(completed(events, group, scheme),))


def ratio_of_means(above: Sequence[float], below: Sequence[float]) -> Estimate:
    """Return the ratio of two means over the same events in the same order, with a bootstrap interval.

    None if all values of ``below`` are zero. Each event must have a different seed.
    """
    pairs = np.column_stack([np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)])
    if not pairs[:, 1].any():
        return Estimate(None)
    first, second = pairs.mean(axis=0)
    ratio = float(first / second)
    if len(pairs) < REPLICAS_MIN:
        return Estimate(ratio, why=few_seeds(len(pairs)))
    if (pairs == pairs[0]).all():
        return Estimate(ratio, why=SEEDS_CHANGE_NOTHING)
    random = np.random.Generator(np.random.PCG64(1))
    drawn = pairs[random.integers(0, len(pairs), (_RESAMPLES, len(pairs)))].mean(axis=1)
    seen = drawn[drawn[:, 1] > 0]
    low, high = np.quantile(seen[:, 0] / seen[:, 1], [0.025, 0.975])
    return Estimate(ratio, Interval(float(low), float(high)))
