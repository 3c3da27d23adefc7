"""The release that the paper's switch could not do: a detour ends when all before are released (section V)."""

from collections.abc import Iterable

from hitless.exhibits import Context, Exact, Exhibit, Factor, Point, Row, Runs, Shape, exhibit
from hitless.exhibits.rimm import testbed
from hitless.exhibits.rimm.events import Events, mean_of
from hitless.plot import Plot, cdf_series

_SCHEMES = {"RIMM": testbed.RIMM, "exact release": testbed.EXACT}


@exhibit("rimm/exact", title="Release when S_a = S_f, beside release after a flowlet gap")
class ExactRelease(Exhibit):
    """One register for each number, the earlier stage for S_f: a new packet reads it, and then takes S_a."""

    def points(self, context: Context) -> Iterable[Point]:
        self._events = Events(_SCHEMES)
        return self._events.points(context)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        x = f"{self._events.count} events"
        for scheme in _SCHEMES:
            events = self._events.of(runs, scheme)
            counts = [event.retransmitted for event in events]
            note = f"at most {max(counts)} in an event"
            judged = Exact() if scheme == "exact release" else Factor(better="lower")
            paper = 0.0 if scheme == "exact release" else 2.0 * len(events)
            metric = "retransmissions, all events"
            yield Row(scheme, x, metric, "", sum(counts), paper, judge=judged, note=note)
            lost = sum(event.lost for event in events)
            yield Row(scheme, x, "packets lost, all events", "", lost, 0.0, judge=Exact())
            early = sum(
                event.counter("packets released early") + event.counter("packets released late") for event in events
            )
            none = Shape(early == 0, "all numbered packets are released in their order")
            yield Row(scheme, x, "packets released out of order", "", early, judge=none)
            passed = sum(event.counter("new packets past detoured ones") for event in events)
            yield Row(scheme, x, "new packets past detoured ones", "", passed)
            yield Row(scheme, x, "packets reordered", "", sum(event.reordered for event in events))
            mean, interval = mean_of([time for event in events if (time := event.completion_ms("burst")) is not None])
            yield Row(scheme, x, "mean FCT of the burst", "ms", mean, interval=interval)
            detoured = sum(event.counter("packets detoured") for event in events)
            rounds = sum(event.counter("detours") for event in events) / max(1, detoured)
            yield Row(scheme, x, "detours of a packet that is detoured", "", rounds, note=f"{detoured:,} packets")

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = []
        for scheme in _SCHEMES:
            times = [event.completion_ms("burst") for event in self._events.of(runs, scheme)]
            series.append(cdf_series(scheme, [time for time in times if time is not None]))
        yield Plot("Completion times of the burst", "FCT (ms)", "share of events", series)
