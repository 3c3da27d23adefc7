"""The release that the paper's switch could not do: a detour ends when all before are released (section V)."""

from collections.abc import Iterable
from typing import ClassVar

from hitless.drawing.plot import Plot
from hitless_papers import Context, Exact, Factor, Range, Row, Runs, Shape, exhibit
from hitless_papers.estimates import mean_of
from hitless_papers.rimm import testbed
from hitless_papers.rimm.events import OfEvents, mean_completion


@exhibit("rimm/exact", title="Release when S_a = S_f, beside release after a flowlet gap")
class ExactRelease(OfEvents):
    """One register for each number, the earlier stage for S_f: a new packet reads it, and then takes S_a."""

    schemes: ClassVar = {"RIMM": testbed.RIMM, "exact release": testbed.EXACT}

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        x = self.x
        for scheme in self.schemes:
            events = self.events(runs, scheme)
            counts = [event.retransmitted for event in events]
            detoured = sum(event.counter("packets detoured") for event in events)
            nothing = None if detoured else testbed.NOTHING_DETOURED
            note = f"at most {max(counts)} in an event"
            if scheme == "RIMM":
                paper, judge = Range(1.0, 3.0), Factor(better="lower")
                metric = "retransmissions per event"
                yield mean_of(counts).row(scheme, x, metric, paper, nothing or judge, unit="", note=note)
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
            yield mean_completion(events, "burst", scheme).row(scheme, x, "mean FCT of the burst", unit="ms")
            rounds = sum(event.counter("detours") for event in events) / max(1, detoured)
            yield Row(scheme, x, "detours of a packet that is detoured", "", rounds, note=f"{detoured:,} packets")

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        yield self.completions(runs, "burst")
