"""RIMM and its rivals on the same 20 events."""

from collections.abc import Iterable
from typing import ClassVar

from hitless.drawing.plot import Plot, Series
from hitless_papers import Context, Row, Runs, exhibit
from hitless_papers.estimates import mean_if_any
from hitless_papers.rimm import testbed
from hitless_papers.rimm.events import Event, OfEvents, mean_completion

_NOTES = {
    "DIBS": "needs hardware that shows the exact depths of all ports to ingress",
    "ECN, DCTCP": "hosts with DCTCP, marking threshold of 65 packets; no other scheme changes the hosts",
}


@exhibit("rimm/rivals", title="The same microbursts under six strategies")
class Rivals(OfEvents):
    """Losses, retransmissions, completion times and queues. The paper compares only the first two schemes with RIMM."""

    schemes: ClassVar = {
        **testbed.SCHEMES,
        "RIMM, exact release": testbed.EXACT,
        "DIBS": testbed.DIBS,
        "ECN, DCTCP": testbed.ECN,
    }

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for scheme in self.schemes:
            events = self.events(runs, scheme)
            note = _NOTES.get(scheme, "")
            for metric, unit, values in _metrics(scheme, events):
                yield mean_if_any(values).row(scheme, self.x, metric, unit=unit, note=note)
                note = ""
            for group in ("burst", "background"):
                yield mean_completion(events, group, scheme).row(scheme, self.x, f"FCT of the {group}", unit="ms")

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for group in ("burst", "background"):
            yield self.completions(runs, group)
        series = []
        for scheme in self.schemes:
            events = self.events(runs, scheme)
            lost, again = (sum(values) / len(events) for values in _lost_and_again(events))
            series.append(Series(scheme, [max(lost, 0.1)], [max(again, 0.1)], style="points"))
        caption = "means over the events; 0 is drawn at 0.1"
        yield Plot(
            "Losses and retransmissions", "packets lost per event", "retransmissions per event", series,
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
        yield "packets detoured per event", "", [float(event.counter("packets_detoured")) for event in events]
        yield "most detours of a packet", "", [_most(event) for event in events]


def _most(event: Event) -> float:
    table = event.run.table("mechanisms")
    found = table.filter(table["counter"] == "packet_detours_max")
    return float(found["value"].max() or 0)  # type: ignore[arg-type]
