"""Losses, retransmissions and delays in 20 separate microbursts. Table 1, figures 7 and 8, section V."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from hitless.drawing.plot import Plot, Series, cdf_series
from hitless_papers import Context, Exact, Factor, Gain, Range, Row, Runs, Shape, Tail, Unjudged, above_one, exhibit
from hitless_papers.estimates import Estimate, mean_of
from hitless_papers.judge import Judge
from hitless_papers.rimm import testbed
from hitless_papers.rimm.events import Event, OfEvents, completed, mean_completion, ratio_of_means

_OF_TWO = {name: testbed.SCHEMES[name] for name in ("basic forwarding", "RIMM")}


@exhibit("rimm/loss", title="Packets lost in a microburst, with basic forwarding and with RIMM", headline=True)
class Loss(OfEvents):
    """Section IV-A."""

    schemes = _OF_TWO

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        x = self.x
        basic = self.events(runs, "basic forwarding")
        judge: Judge = Unjudged(testbed.CALIBRATED)
        mean, metric = mean_of([event.lost for event in basic]), "packets lost per event"
        yield mean.row("basic forwarding", x, metric, 31, judge, unit="", note=testbed.HOSTS_NOTE)
        yield Row("basic forwarding", x, "events that lose packets", "", sum(event.lost > 0 for event in basic))
        rimm = self.events(runs, "RIMM")
        lost = sum(event.lost for event in rimm)
        detoured = sum(event.counter("packets_detoured") for event in rimm)
        note = f"{detoured:,} packets were detoured; {testbed.HOSTS_NOTE}"
        judge = Exact() if detoured else testbed.NOTHING_DETOURED
        yield Row("RIMM", x, "packets lost, all events", "", lost, 0, judge=judge, note=note)
        yield Row("RIMM", x, "events without a detour", "", sum(e.counter("packets_detoured") == 0 for e in rimm))

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = []
        for scheme in _OF_TWO:
            lost = [float(event.lost) for event in self.events(runs, scheme)]
            series.append(Series(scheme, list(range(1, len(lost) + 1)), lost, style="bars"))
        yield Plot("Packets lost in each event", "event", "packets lost", series)
        yield _depths(runs)


def _depths(runs: Runs) -> Plot:
    """Plot the queue of S2-3 during the first event."""
    series = []
    for scheme in _OF_TWO:
        table = runs[f"{scheme} 0"].table("queues")
        own = table.filter(table["port"] == testbed.HOT_PORT)
        own = own.filter(own["time_ps"].is_between(testbed.BURST_MS * 10**9, (testbed.BURST_MS + 12) * 10**9))
        x, y = (own["time_ps"] / 1e9).to_list(), (own["value_bytes"] / testbed.SEGMENT_BYTES).to_list()
        series.append(Series(scheme, x, y))
    caption = f"capacity: {testbed.QUEUE_SEGMENTS:,} segments; RIMM detours above {testbed.ALARM_SEGMENTS:,}"
    return Plot("The queue to VM7 in an event", "time (ms)", "segments", series, caption=caption)


_WITH_OLDER = ("basic forwarding", "detour-based forwarding")


def _older(scheme: str) -> str:
    return f"{scheme}, older hosts"


def _beside_older(schemes: Mapping[str, Mapping[str, Any]], names: Iterable[str]) -> Mapping[str, Mapping[str, Any]]:
    """Return the schemes, and additionally the named ones with older hosts."""
    return {**schemes, **{_older(name): {**schemes[name], "transport": testbed.NO_UNDO} for name in names}}


@exhibit("rimm/tab1", title="Packets retransmitted in a microburst, by three strategies")
class Table1(OfEvents):
    """Section IV-B: retransmissions of the background and of the burst together.

    The hosts' TCP determines how often they mistake reordering for loss, and the paper does not name it. So the first
    two schemes also run with an older TCP.
    """

    _PAPER: ClassVar[Mapping[str, tuple[Range, Judge, str]]] = {
        "basic forwarding": (Range(30.0, 150.0), Unjudged(testbed.CALIBRATED), ""),
        "detour-based forwarding": (Range(low=1_000.0), Factor(), "RACK and Eifel undo reactions to reordering"),
        "RIMM": (Range(1.0, 3.0), Factor(better="lower"), "the paper explains its own by flowlet gaps that end early"),
    }

    schemes = _beside_older(testbed.SCHEMES, _WITH_OLDER)
    tail = Tail("the burst", ("basic forwarding", "basic forwarding *"), ("RIMM", "RIMM *"), "burst", percents=(50.0,))
    """The median only: 20 events with one burst each are too few for a higher percentile."""

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        x = self.x
        counts = {}
        for scheme, (paper, judge, why) in self._PAPER.items():
            events = self.events(runs, scheme)
            counts[scheme] = [event.retransmitted for event in events]
            seen = f"{min(counts[scheme])} to {max(counts[scheme])}"
            note = "; ".join(filter(None, [seen, why, testbed.HOSTS_NOTE]))
            mean = mean_of(counts[scheme])
            yield mean.row(scheme, x, "retransmissions per event", paper, judge, unit="", note=note)
            yield Row(scheme, x, "packets reordered per event", "", mean_of([e.reordered for e in events]).value)
            yield Row(scheme, x, "packets lost per event", "", mean_of([e.lost for e in events]).value)
        yield from self._ratios(counts, x)
        yield from self._with_older_hosts(runs, x)

    @staticmethod
    def _ratios(counts: Mapping[str, list[int]], x: str) -> Iterator[Row]:
        """Yield ratios to basic forwarding. The paper's are over 1,000, and 1 to 3, divided by 30 to 150."""
        note = f"basic forwarding's retransmissions are calibrated; {testbed.HOSTS_NOTE}"
        for scheme, paper, judge in (
            ("detour-based forwarding", Range(low=1_000 / 150), Gain()),
            ("RIMM", Range(1 / 150, 3 / 30), Gain(better="lower")),
        ):
            ratio = ratio_of_means(counts[scheme], counts["basic forwarding"])
            yield ratio.row(scheme, x, _OF_BASIC, paper, judge, note=note)

    def _with_older_hosts(self, runs: Runs, x: str) -> Iterator[Row]:
        note = "no RACK, and spurious retransmissions are not undone"
        counts = []
        for scheme in map(_older, _WITH_OLDER):
            counts.append([event.retransmitted for event in self.events(runs, scheme)])
            mean = mean_of(counts[-1])
            yield mean.row(scheme, x, "retransmissions per event", None, _OTHER_HOSTS, unit="", note=note)
        ratio = ratio_of_means(counts[1], counts[0])
        yield ratio.row(_older("detour-based forwarding"), x, _OF_BASIC, None, _OTHER_HOSTS)


_OF_BASIC = "retransmissions, of basic forwarding's"
_OTHER_HOSTS = Unjudged("the paper has a single kind of host")


@exhibit("rimm/fig7", title="Flow completion times of the burst and of the background", headline=True)
class Figure7(OfEvents):
    """Section IV-C. The paper's times contain delays of virtual machines, under both schemes.

    The exhibit repeats the ratio with hosts without RACK and tail loss probes, because only they run into timeouts.
    """

    _PAPER_MS: ClassVar[Mapping[str, float]] = {"basic forwarding": 423.05, "RIMM": 290.07}

    schemes = _beside_older(_OF_TWO, _OF_TWO)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for group in ("burst", "background"):
            yield from self._means(runs, group)
            yield self._ratio(runs, group, list(_OF_TWO))
        yield self._ratio(runs, "burst", [_older(scheme) for scheme in _OF_TWO])

    def _means(self, runs: Runs, group: str) -> Iterator[Row]:
        for scheme in self.schemes:
            events = self.events(runs, scheme)
            paper = self._PAPER_MS.get(scheme) if group == "burst" else None
            judge: Judge = Factor() if paper else _OTHER_HOSTS if scheme not in _OF_TWO else Unjudged()
            note = f"{_LEAST_MS:.1f} ms on a line at 10 Gbps; {_timeouts(events, group)}"
            if scheme in _OF_TWO:
                note = f"{note}; {testbed.HOSTS_NOTE}"
            mean = mean_completion(events, group, scheme)
            yield mean.row(scheme, f"{group}, {self.x}", "mean FCT", paper, judge, unit="ms", note=note)

    def _ratio(self, runs: Runs, group: str, schemes: list[str]) -> Row:
        found = [self.events(runs, scheme) for scheme in schemes]
        pairs = zip(*([event.completion_ms(group) for event in events] for events in found), strict=True)
        times = [(basic, rimm) for basic, rimm in pairs if basic is not None and rimm is not None]
        ratio = ratio_of_means(*zip(*times, strict=True)) if times else Estimate(None)
        paper: float | None = None
        judge: Judge = _OTHER_HOSTS
        note = f"a loss costs a round trip if a probe finds it, and otherwise a timeout; {testbed.HOSTS_NOTE}"
        if schemes[0] not in _OF_TWO:
            note = "no RACK, no tail loss probes"
        elif group == "burst":
            paper, judge = 423.05 / 290.07, Gain(better="higher")
        else:
            judge = above_one("the background also completes sooner with RIMM", apart=0.01)
        done = [completed(events, group, scheme) for scheme, events in zip(schemes, found, strict=True)]
        metric = "FCT of basic forwarding over that of RIMM"
        return ratio.row(schemes[1], f"{group}, {self.x}", metric, paper, judge, note=note, completed=done)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for group in ("burst", "background"):
            yield self.completions(runs, group)


_LEAST_MS = testbed.BURST_BYTES / 1_448 * 1_538 * 8 / 10e9 * 1e3
"""Transmission time of 5 MB at 10 Gb/s."""


def _timeouts(events: list[Event], group: str) -> str:
    late = sum(event.of(group, "timeouts") > 0 for event in events)
    return f"timeouts in {late} of {len(events)} events"


@exhibit("rimm/fig8", title="Jitter of the burst and of the background")
class Figure8(OfEvents):
    """The paper does not define jitter; here it is the mean change of transit time (RFC 3550, section 6.4.1)."""

    _PAPER_MS: ClassVar[Mapping[str, float]] = {"basic forwarding": 7.89, "RIMM": 2.15}

    schemes = _OF_TWO

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        x = self.x
        for group in ("burst", "background"):
            values = {}
            for scheme, paper_ms in self._PAPER_MS.items():
                values[scheme] = [event.jitter_us(group) for event in self.events(runs, scheme)]
                paper = paper_ms * 1e3 if group == "burst" else None
                judge: Judge = Factor() if group == "burst" else Unjudged()
                note = f"jitter as in RFC 3550; {testbed.HOSTS_NOTE}" if group == "burst" else ""
                mean = mean_of(values[scheme])
                yield mean.row(scheme, f"{group}, {x}", "mean jitter", paper, judge, unit="us", note=note)
            ratio = ratio_of_means(values["basic forwarding"], values["RIMM"])
            about_one = Exact(0.1)
            paper, judge = (7.89 / 2.15, Gain(better="higher")) if group == "burst" else (1.0, about_one)
            note = "" if group == "burst" else '"not much difference" is judged as within a tenth'
            metric = "jitter of basic forwarding over that of RIMM"
            yield ratio.row("RIMM", f"{group}, {x}", metric, paper, judge, note=note)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for group in ("burst", "background"):
            series = [
                cdf_series(name, [event.jitter_us(group) for event in self.events(runs, name)]) for name in _OF_TWO
            ]
            yield Plot(f"Jitter of the {group}", "jitter (us)", "share of events", series)


@exhibit("rimm/exact", title="Release when S_a = S_f, compared with release after a flowlet gap")
class ExactRelease(OfEvents):
    """S_f and S_a have a register each, S_f in the earlier stage: a new packet reads S_f before it takes S_a."""

    schemes: ClassVar = {"RIMM": testbed.RIMM, "exact release": testbed.EXACT}

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        x = self.x
        for scheme in self.schemes:
            events = self.events(runs, scheme)
            counts = [event.retransmitted for event in events]
            detoured = sum(event.counter("packets_detoured") for event in events)
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
                event.counter("packets_released_early") + event.counter("packets_released_late") for event in events
            )
            none = Shape(early == 0, f"{scheme} releases all numbered packets in order")
            yield Row(scheme, x, "packets released out of order", "", early, judge=nothing or none)
            passed = sum(event.counter("new_packets_past_detoured") for event in events)
            yield Row(scheme, x, "new packets past detoured ones", "", passed)
            yield Row(scheme, x, "packets reordered", "", sum(event.reordered for event in events))
            yield mean_completion(events, "burst", scheme).row(scheme, x, "mean FCT of the burst", unit="ms")
            rounds = sum(event.counter("detours") for event in events) / max(1, detoured)
            yield Row(scheme, x, "detours of a packet that is detoured", "", rounds, note=f"{detoured:,} packets")

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        yield self.completions(runs, "burst")
