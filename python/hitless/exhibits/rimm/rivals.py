"""RIMM beside others: the same 20 events for all."""

from collections.abc import Iterable, Mapping
from typing import Any

from hitless.exhibits import Context, Exhibit, Point, Row, Runs, exhibit
from hitless.exhibits.rimm import testbed
from hitless.exhibits.rimm.events import Event, Events, completed, completions_ms, mean_of
from hitless.plot import Plot, Series, cdf_series

_SCHEMES: Mapping[str, Mapping[str, Any]] = {
    **testbed.SCHEMES,
    "RIMM, exact release": testbed.EXACT,
    "DIBS": testbed.DIBS,
    "ECN, DCTCP": testbed.ECN,
}
_NOTES = {
    "DIBS": "ingress reads the depths of all ports exactly, on hardware that shows them there",
    "ECN, DCTCP": "hosts with DCTCP, marks from 65 packets on; all other schemes leave hosts as they are",
}


@exhibit("rimm/rivals", title="The same microbursts under six strategies")
class Rivals(Exhibit):
    """Losses, retransmissions, completion times and queues. The paper compares with the first two only."""

    def points(self, context: Context) -> Iterable[Point]:
        self._events = Events(_SCHEMES)
        return self._events.points(context)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        x = f"{self._events.count} events"
        for scheme in _SCHEMES:
            events = self._events.of(runs, scheme)
            note = _NOTES.get(scheme, "")
            for metric, unit, values in _metrics(scheme, events):
                mean, interval = mean_of(values) if values else (None, None)
                yield Row(scheme, x, metric, unit, mean, interval=interval, note=note)
                note = ""
            for group in ("burst", "background"):
                times, done = completions_ms(events, group), [completed(events, group, scheme)]
                mean, interval = mean_of(times) if times else (None, None)
                yield Row(scheme, x, f"FCT of the {group}", "ms", mean, interval=interval, completed=done)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for group in ("burst", "background"):
            by_scheme = {scheme: completions_ms(self._events.of(runs, scheme), group) for scheme in _SCHEMES}
            series = [cdf_series(scheme, times) for scheme, times in by_scheme.items()]
            yield Plot(f"Completion times of the {group}", "FCT (ms)", "share of events", series)
        series = []
        for scheme in _SCHEMES:
            events = self._events.of(runs, scheme)
            lost, again = (sum(values) / len(events) for values in _lost_and_again(events))
            series.append(Series(scheme, [max(lost, 0.1)], [max(again, 0.1)], style="points"))
        caption = "means over the events; 0.1 stands for none"
        yield Plot(
            "What is lost and what is sent again", "packets lost per event", "retransmissions per event", series,
            x_scale="log", y_scale="log", caption=caption,
        )  # fmt: skip


def _lost_and_again(events: list[Event]) -> tuple[list[int], list[int]]:
    return [event.lost for event in events], [event.retransmitted for event in events]


def _metrics(scheme: str, events: list[Event]) -> Iterable[tuple[str, str, list[float]]]:
    lost, again = _lost_and_again(events)
    yield "packets lost per event", "", [float(count) for count in lost]
    yield "retransmissions per event", "", [float(count) for count in again]
    yield "packets reordered per event", "", [float(event.reordered) for event in events]
    yield "jitter of the burst", "us", [event.jitter_us("burst") for event in events]
    yield "deepest queue to VM7", "segments", [event.peak_segments() for event in events]
    yield (
        "deepest queue at a neighbour",
        "segments",
        [max(map(event.peak_segments, testbed.NEIGHBOUR_PORTS)) for event in events],
    )
    if scheme == "DIBS":
        yield "packets detoured per event", "", [float(event.counter("packets detoured", "dibs")) for event in events]
        yield "most detours of a packet", "", [_most(event) for event in events]


def _most(event: Event) -> float:
    table = event.run.table("mechanisms")
    found = table.filter(table["counter"] == "most detours of a packet")
    return float(found["value"].max() or 0)  # type: ignore[arg-type]
