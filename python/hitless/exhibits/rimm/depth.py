"""What RIMM knows of queues: how far one grows past the alarm, and which neighbour a detour goes to. Table 3, figure 2."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from hitless.exhibits import Context, Exact, Exhibit, Factor, Point, Row, Runs, Shape, exhibit
from hitless.exhibits.rimm import testbed
from hitless.exhibits.rimm.events import TABLES, Event, Events, mean_of, measure
from hitless.plot import Plot, Series
from hitless.simulation import Run


@exhibit("rimm/tab3", title="Depth of the queue that raises the alarm, against the threshold")
class Table3(Exhibit):
    """The deepest that egress saw the queue in each event. Section V, "Change of Queue Depth"."""

    def points(self, context: Context) -> Iterable[Point]:
        self._events = Events({"RIMM": testbed.RIMM})
        return self._events.points(context)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        events = self._events.of(runs, "RIMM")
        x = f"{len(events)} events"
        peaks = [peak for peak in map(_peak, events) if peak is not None]
        yield Row("RIMM", x, "events with an alarm", "", len(peaks), float(len(events)), judge=Exact())
        if not peaks:
            return
        mean, interval = mean_of(peaks)
        yield Row("RIMM", x, "mean depth", "segments", mean, 20_251.5, interval=interval, judge=Exact())
        spread = statistics.stdev(peaks) if len(peaks) > 1 else None
        yield Row("RIMM", x, "standard deviation", "segments", spread, 201.2396, judge=Factor(better="lower"))
        yield Row("RIMM", x, "largest depth", "segments", max(peaks), 20_728, judge=Exact())
        over = [100 * (peak / testbed.ALARM_SEGMENTS - 1) for peak in peaks]
        beyond = Factor(better="lower")
        yield Row("RIMM", x, "mean excess", "% of alpha", statistics.fmean(over), 1.3, judge=beyond)
        yield Row("RIMM", x, "largest excess", "% of alpha", max(over), 3.64, judge=beyond)
        note = "from the crossing until ingress knows: a round trip to a neighbour"
        slowest = [value for event in events if (value := event.histogram_max("message round trip, ns")) is not None]
        yield Row("RIMM", x, "longest response", "us", max(slowest) / 1e3 if slowest else None, note=note)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        peaks = [_peak(event) for event in self._events.of(runs, "RIMM")]
        yield Plot(
            "Deepest in each event", "event", "segments", [Series("RIMM", list(range(1, len(peaks) + 1)), peaks)]
        )


def _peak(event: Event) -> float | None:
    """The deepest above the threshold that egress saw; None: it never was."""
    deepest = event.histogram_max("peak depth above the threshold, segments")
    return None if deepest is None else float(deepest)


_CONGESTION_MS = 1.0
_LOADED_FROM_MS = 32
_SAMPLE_US = 1


@exhibit("rimm/qdm", title="The detour follows the least-loaded neighbour, and ends when a burst is congestion")
class QueueDepthMonitor(Exhibit):
    """Figure 2 and section V. Two flows at a constant rate overload VM7, for as long as the event lasts.

    *Loaded neighbour:* VM2 and VM3 send to VM8, a host more on S2-3, and VM5 and VM6 too. What they send fills the
    queue of S1-1 to S2-3 beyond what S2-3 has detoured there, so the other neighbour is the better one.
    """

    def points(self, context: Context) -> Iterable[Point]:
        self._runs = context.length("events", full=20, normal=10, quick=5)
        for number in range(self._runs):
            yield Point(f"overload {number}", _overload(12.0, 0.5), number, keep=(*TABLES, "series"))
            yield Point(f"congestion {number}", _overload(18.0, 6.0), number, keep=(*TABLES, "series"))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        x = f"{self._runs} events"
        overloads = [Choices(runs[f"overload {number}"]) for number in range(self._runs)]
        changes = sum(len(choices.taken) for choices in overloads)
        right = sum(choices.to_the_shorter() for choices in overloads)
        share = 100 * right / changes if changes else None
        note = f"{changes:,} choices; queues looked at every {_SAMPLE_US} us, as the neighbour last told"
        yield Row("RIMM", x, "choices of the neighbour with the shorter queue", "%", share, 100, judge=Exact(), note=note)
        ports = {port for choices in overloads for port in choices.ports}
        both = Shape(len(ports) == 2, "the detour moves between both neighbours as their depths change")
        yield Row("RIMM", x, "neighbours used", "", len(ports), judge=both)
        yield from self._ends(runs, x)

    def _ends(self, runs: Runs, x: str) -> Iterator[Row]:
        events = [Event(runs[f"congestion {number}"]) for number in range(self._runs)]
        ended = sum(event.counter("detours ended by congestion") > 0 for event in events)
        yield Row("RIMM", f"congestion, {x}", "detours ended", "", ended, float(len(events)), judge=Exact())
        lengths = [length for number in range(self._runs) if (length := _detour_ms(runs[f"congestion {number}"]))]
        if lengths:
            mean, interval = mean_of(lengths)
            metric = "from the alarm to the last new choice"
            yield Row(
                "RIMM", f"congestion, {x}", metric, "ms", mean, _CONGESTION_MS, interval=interval, judge=Exact(0.1)
            )

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        queues = runs["overload 0"].table("queues")
        series = []
        for port in testbed.NEIGHBOUR_PORTS:
            own = queues.filter(pl.col("port") == port)
            series.append(Series(port, (own["time_ps"] / 1e9).to_list(), (own["value_bytes"] / 1e3).to_list()))
        yield Plot("Queues at the neighbours while S2-3 detours", "time (ms)", "depth (KB)", series)


def _overload(rate_gbps: float, length_ms: float) -> Mapping[str, Any]:
    """Two flows of UDP to VM7, of so much together."""
    return {}


class Choices:
    """Which neighbours the detours of a run went to."""

    def __init__(self, run: Run) -> None:
        self.taken: Sequence[Any] = []
        self.ports: set[int] = set()

    def to_the_shorter(self) -> int:
        return 0


def _detour_ms(run: Run) -> float | None:
    return None
