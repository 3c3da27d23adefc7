"""The release that the paper's switch could not do: a detour ends when all before are released (section V)."""

from collections.abc import Iterable

from hitless.exhibits import Context, Exact, Exhibit, Factor, Point, Range, Row, Runs, Shape, Unjudged, exhibit
from hitless.exhibits.rimm import testbed
from hitless.exhibits.rimm.events import Events, completed, completions_ms, mean_of
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
            detoured = sum(event.counter("packets detoured") for event in events)
            nothing = None if detoured else Unjudged("no packet was detoured: nothing was tried")
            note = f"at most {max(counts)} in an event"
            if scheme == "RIMM":
                mean, interval = mean_of(counts)
                paper, judge = Range(1.0, 3.0), Factor(better="lower")
                metric = "retransmissions per event"
                yield Row(scheme, x, metric, "", mean, paper, interval, nothing or judge, note)
            else:
                metric = "retransmissions, all events"
                yield Row(scheme, x, metric, "", sum(counts), 0.0, judge=nothing or Exact(), note=note)
            lost = sum(event.lost for event in events)
            yield Row(scheme, x, "packets lost, all events", "", lost, 0.0, judge=nothing or Exact())
            early = sum(
                event.counter("packets released early") + event.counter("packets released late") for event in events
            )
            none = Shape(early == 0, f"{scheme} releases all numbered packets in their order")
            yield Row(scheme, x, "packets released out of order", "", early, judge=nothing or none)
            passed = sum(event.counter("new packets past detoured ones") for event in events)
            yield Row(scheme, x, "new packets past detoured ones", "", passed)
            yield Row(scheme, x, "packets reordered", "", sum(event.reordered for event in events))
            times, done = completions_ms(events, "burst"), [completed(events, "burst", scheme)]
            mean_ms, interval = mean_of(times) if times else (None, None)
            yield Row(scheme, x, "mean FCT of the burst", "ms", mean_ms, interval=interval, completed=done)
            rounds = sum(event.counter("detours") for event in events) / max(1, detoured)
            yield Row(scheme, x, "detours of a packet that is detoured", "", rounds, note=f"{detoured:,} packets")

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = [cdf_series(scheme, completions_ms(self._events.of(runs, scheme), "burst")) for scheme in _SCHEMES]
        yield Plot("Completion times of the burst", "FCT (ms)", "share of events", series)
