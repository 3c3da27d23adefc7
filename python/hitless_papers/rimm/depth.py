"""RIMM's view of queues: their growth beyond the alarm, and the neighbour of a detour. Table 3 and figure 2."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl

from hitless.drawing.plot import Plot, Series
from hitless.simulation import Run
from hitless_papers import Context, Exact, Factor, Point, Replicated, Row, Runs, Shape, Unjudged, exhibit
from hitless_papers.estimates import mean_of
from hitless_papers.rimm import testbed
from hitless_papers.rimm.events import TABLES, Event, OfEvents, measure

_MESSAGES = "messages have a separate queue at the neighbour, so they reach ingress after about 2 us"


@exhibit("rimm/tab3", title="Depth of the queue that raises the alarm, against the threshold")
class Table3(OfEvents):
    """Maximum depth of the queue in each event, as egress saw it. Section V, "Change of Queue Depth"."""

    schemes: ClassVar = {"RIMM": testbed.RIMM}

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        events, x = self.events(runs, "RIMM"), self.x
        peaks = [peak for peak in map(_peak, events) if peak is not None]
        yield Row("RIMM", x, "events with an alarm", "", len(peaks), float(len(events)), judge=Exact())
        if not peaks:
            return
        judge = Unjudged("judged as the excess, which is the same number")
        yield mean_of(peaks).row("RIMM", x, "mean depth", 20_251.5, judge, unit="segments")
        yield Row("RIMM", x, "largest depth", "segments", max(peaks), 20_728, judge=judge)
        rule = Factor()
        spread = statistics.stdev(peaks) if len(peaks) > 1 else None
        yield Row("RIMM", x, "standard deviation", "segments", spread, 201.2396, judge=rule, note=_MESSAGES)
        over = [100 * (peak / testbed.ALARM_SEGMENTS - 1) for peak in peaks]
        yield mean_of(over).row("RIMM", x, "mean excess", 1.3, rule, unit="% of alpha", note=_MESSAGES)
        yield Row("RIMM", x, "largest excess", "% of alpha", max(over), 3.64, judge=rule, note=_MESSAGES)
        note = "from crossing the threshold to the message at ingress: a round trip to a neighbour"
        slowest = [value for event in events if (value := event.histogram_max("message_round_trip_ns")) is not None]
        yield Row("RIMM", x, "longest response", "us", max(slowest) / 1e3 if slowest else None, note=note)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        peaks = [_peak(event) for event in self.events(runs, "RIMM")]
        yield Plot(
            "Deepest in each event", "event", "segments", [Series("RIMM", list(range(1, len(peaks) + 1)), peaks)]
        )


def _peak(event: Event) -> float | None:
    """Return the maximum depth above the threshold that egress saw; None if the queue stayed below it."""
    deepest = event.histogram_max("peak_depth_segments")
    return None if deepest is None else float(deepest)


_CONGESTION_MS = 1.0
_SAMPLE_US = 1
_ANY_TIME: Mapping[str, Any] = {"mechanism": [{"kind": "rimm", "neighbour_change": "any-time", "record_choices": True}]}
_SLACK_BYTES = 40e9 / 8 * 2e-6
"""Growth of a queue in 2 us at 40 Gbps, the age of a depth when it is used."""
_LASTING: Mapping[str, Mapping[str, Any]] = {
    "basic forwarding": testbed.BASIC,
    "launcher": {"mechanism": [{"kind": "rimm", "release": "unordered", "record_choices": True}]},
    "RIMM": testbed.RIMM,
}
_SERIES = (*TABLES, "series")


@exhibit("rimm/qdm", title="The detour follows the least-loaded neighbour, and ends when a burst is congestion")
class QueueDepthMonitor(Replicated):
    """Figure 2 and section V: two flows with a constant rate overload VM7 for 0.5 ms or 6 ms.

    With neighbour_change = "any-time", as in section III-A2, each new packet gets the neighbour with the shortest
    queue. The launcher ends a detour after 1 ms. It runs without the sequencer, which would delay packets: alarms would
    be short, and the congestion would move to the neighbours' queues.
    """

    def points(self, context: Context) -> Iterable[Point]:
        count = context.length("events", full=20, normal=10, quick=5)
        lasting = {scheme: _overload(6.0, settings) for scheme, settings in _LASTING.items()}
        return self.replicated(count, {"burst": _overload(0.5, _ANY_TIME), **lasting}, keep=_SERIES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        x = f"{self._replicas} bursts"
        found = [_Choices(run) for run in self.each(runs, "burst")]
        changes = sum(choices.count for choices in found)
        share = 100 * sum(choices.right for choices in found) / changes if changes else None
        note = f"{changes:,} changes of the neighbour; queues sampled every {_SAMPLE_US} us"
        metric = "changes to the neighbour with the shorter queue"
        yield Row("RIMM", x, metric, "%", share, 100.0, judge=Exact(), note=note)
        used = {port for choices in found for port in choices.ports}
        both = Shape(len(used) == len(testbed.NEIGHBOUR_PORTS), "the detour moves between both neighbours")
        yield Row("RIMM", x, "neighbours used", "", len(used), judge=both)
        lost = sum(Event(run).lost for run in self.each(runs, "burst"))
        tried = Exact() if changes else testbed.NOTHING_DETOURED
        yield Row("RIMM", x, "packets lost", "", lost, 0, judge=tried)
        yield from self._ends(runs)

    def _ends(self, runs: Runs) -> Iterator[Row]:
        x = f"{self._replicas} times congestion"
        found = {scheme: self.each(runs, scheme) for scheme in _LASTING}
        ended = sum(Event(run).counter("detours_ended_by_congestion") > 0 for run in found["launcher"])
        yield Row("launcher", x, "detours ended", "", ended, float(self._replicas), judge=Exact())
        lengths = [length for run in found["launcher"] if (length := _alarm_to_end_ms(run)) is not None]
        if lengths:
            metric = "from the first alarm to the last packet that is detoured"
            yield mean_of(lengths).row("launcher", x, metric, _CONGESTION_MS, Exact(), unit="ms")
        basic = sum(Event(run).lost for run in found["basic forwarding"])
        for scheme in ("launcher", "RIMM"):
            share = sum(Event(run).lost for run in found[scheme]) / basic if basic else None
            fewer = Shape(share is not None and share <= 1.01, f"{scheme} loses no more than basic forwarding")
            judge: Shape | Unjudged = fewer if basic else Unjudged("basic forwarding lost nothing")
            yield Row(scheme, x, "packets lost, of basic forwarding's", "", share, judge=judge)
        full = sum(Event(run).counter("detours_ended_by_full_neighbours") for run in found["RIMM"])
        yield Row("RIMM", x, "detours ended by full neighbours", "", full)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        queues = runs["burst 0"].table("queues")
        series = []
        for port in testbed.NEIGHBOUR_PORTS:
            own = queues.filter(pl.col("port") == port)
            series.append(Series(port, (own["time_ps"] / 1e9).to_list(), (own["value_bytes"] / 1e3).to_list()))
        yield Plot("Queues at the neighbours while S2-3 detours", "time (ms)", "depth (KB)", series)


_UDP: Mapping[str, Any] = {"kind": "udp", "rate": "8.5 Gbps"}
_FILLS_MS = testbed.ALARM_SEGMENTS * testbed.SEGMENT_BYTES * 8 / 7e9 * 1e3
"""Time until the alarm: two flows of 8.5 Gb/s exceed the link by 7 Gb/s."""


def _overload(beyond_ms: float, scheme: Mapping[str, Any]) -> Mapping[str, Any]:
    """Send two flows of UDP to VM7, which stop ``beyond_ms`` after the alarm."""
    stop = f"{round((_FILLS_MS + beyond_ms) * 1e3)} us"
    pair = {"name": "overload", "kind": "constant-rate", "transport": "udp", "sources": ["VM1", "VM4"],
            "destinations": ["VM7", "VM7"], "stop": stop}  # fmt: skip
    measured = {**measure(["overload"]), "queue": [{**measure()["queue"][0], "period": f"{_SAMPLE_US} us"}]}
    return testbed.scenario(
        "overload", [pair], scheme, transports={"udp": _UDP}, duration="20 ms", measure=measured, settles=False
    )


class _Choices:
    """Changes of the neighbour for new packets, and how many of them chose the shorter queue."""

    def __init__(self, run: Run) -> None:
        series = run.series("detouring_port", "S2-3")
        self.ports: Sequence[int] = series["value"].to_list()
        depths = [_depths(run, port) for port in testbed.NEIGHBOUR_PORTS]
        times = depths[0][0]
        # The switch knew the depth of the sample before the choice.
        places = np.searchsorted(times, series["time_ps"].to_numpy(), side="right") - 2
        chosen = series["value"].to_numpy().astype(int) - _FIRST_NEIGHBOUR
        by_port = np.stack([depth for _, depth in depths])[:, np.maximum(places, 0)]
        taken = by_port[chosen, np.arange(len(chosen))]
        self.count = len(chosen)
        self.right = int((taken <= by_port.min(axis=0) + _SLACK_BYTES).sum())


_FIRST_NEIGHBOUR = 1
"""The port of S2-3 to S1-1: its links go to VM7, S1-1 and S1-2, in this order."""


def _depths(run: Run, port: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    own = run.table("queues").filter(pl.col("port") == port)
    return own["time_ps"].to_numpy(), own["value_bytes"].to_numpy().astype(np.int64)


def _alarm_to_end_ms(run: Run) -> float | None:
    """Return the time from the first alarm to the last choice of a neighbour before the alarm clears."""
    alarms = run.series("alarm", "S2-3").filter(pl.col("value") == 1)["time_ps"]
    choices = run.series("detouring_port", "S2-3")["time_ps"]
    if len(alarms) == 0 or len(choices) == 0:
        return None
    first = int(alarms[0])
    within = choices.filter(choices < first + 2 * round(_CONGESTION_MS * 1e9))
    return (int(within.max()) - first) / 1e9 if len(within) else None  # type: ignore[arg-type]
