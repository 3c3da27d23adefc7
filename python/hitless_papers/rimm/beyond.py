"""Experiments beyond the paper: other flows, simultaneous bursts, full neighbours, and alarms at other switches."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hitless.checking import Fields
from hitless_papers import Context, Point, Replicated, Row, Runs, Shape, Unjudged, exhibit
from hitless_papers.estimates import mean_of
from hitless_papers.rimm import testbed
from hitless_papers.rimm.events import TABLES, Event, mean_completion, measure

_SCHEMES = {name: testbed.SCHEMES[name] for name in ("basic forwarding", "RIMM")}
_LENGTH_MS = 60.0
_ANY_TIME = "5 MB, any neighbour at any time"


@dataclass(frozen=True)
class Variant:
    """One change to the paper's set-up; ``make`` builds the scenario for a scheme."""

    name: str
    make: Callable[[Mapping[str, Any]], Fields]
    note: str = ""


def _bursts(name: str, size_bytes: int = testbed.BURST_BYTES, stack_us: float = testbed.STACK_US) -> Variant:
    flows = [testbed.background(_LENGTH_MS), testbed.burst(size_bytes)]
    return Variant(name, lambda scheme: testbed.scenario("beyond", flows, scheme, measure=measure(), stack_us=stack_us))


def _any_time() -> Variant:
    """Send new packets to the neighbour with the shortest queue, even during a detour (section III-A2)."""
    flows = [testbed.background(_LENGTH_MS), testbed.burst()]
    changed = {"mechanism": [{"kind": "rimm", "neighbour_change": "any-time"}]}

    def make(scheme: Mapping[str, Any]) -> Fields:
        return testbed.scenario("beyond", flows, {**scheme, **changed} if scheme else scheme, measure=measure())

    return Variant(_ANY_TIME, make, "packets of a flow on two paths wait for each other, and circulate meanwhile")


def _two_ports() -> Variant:
    """Send a background and a burst to each of two hosts of leaf S2-3: VM1 and VM4 to VM7, VM2 and VM5 to VM8."""
    hosts = {**testbed.HOSTS, "VM8": "S2-3"}
    flows = [
        testbed.background(_LENGTH_MS),
        {**testbed.background(_LENGTH_MS, "background 2"), "sources": ["VM2"], "destinations": ["VM8"]},
        testbed.burst(),
        {**testbed.burst(source="VM5", destination="VM8"), "name": "burst 2"},
    ]
    groups = ["background", "background 2", "burst", "burst 2"]

    def make(scheme: Mapping[str, Any]) -> Fields:
        made = testbed.scenario("beyond", flows, scheme, measure=measure(groups), hosts=hosts)
        # Both backgrounds must leave slow start.
        first = made["link"][0]
        return {**made, "link": [first, {**first, "name": "VM2->S2-1"}]}

    return Variant("two ports", make, "a background and a burst to VM7, and to another host of its leaf")


def _datagrams() -> Variant:
    """Send 6 Gb/s of UDP, and another 10 Gb/s for 2.9 ms: 2.2 MB of excess for a queue of 1.92 MB."""
    rates = {"slow": {"kind": "udp", "rate": "6 Gbps"}, "fast": {"kind": "udp", "rate": "10 Gbps"}}
    flow = {"kind": "constant-rate", "destinations": ["VM7"]}
    flows = [
        {**flow, "name": "background", "transport": "slow", "sources": ["VM1"], "stop": "40 ms"},
        {**flow, "name": "burst", "transport": "fast", "sources": ["VM4"], "start": "30 ms", "stop": "32.9 ms"},
    ]

    def make(scheme: Mapping[str, Any]) -> Fields:
        return testbed.scenario(
            "beyond", flows, scheme, transports=rates, duration="50 ms", measure=measure(), settles=False
        )

    return Variant("UDP", make, "6 Gb/s of UDP, and another 10 Gb/s for 2.9 ms")


_CROSSING = 12
"""Pairs of hosts that fill the two links from the spines to S2-3: six pairs each, chosen by the sum of host numbers."""


def _full_neighbours() -> Variant:
    """Fill the queues of both spines with UDP; background and burst come from hosts of S2-3 and bypass the spines.

    The UDP exceeds each link to S2-3 by 0.5 Gb/s, so the queues there are above alpha at 30 ms.
    """
    senders = {f"X{number}": testbed.LEAVES[number % 2] for number in range(_CROSSING)}
    receivers = {f"Y{number}": "S2-3" for number in range(_CROSSING)}
    hosts = {**testbed.HOSTS, "L1": "S2-3", "L2": "S2-3", **senders, **receivers}
    half = _CROSSING // 2
    pairs = [(number, number if number < half else half + (number + 1) % half) for number in range(_CROSSING)]
    crossing = {
        "name": "crossing", "kind": "constant-rate", "transport": "udp", "sources": [f"X{pair[0]}" for pair in pairs],
        "destinations": [f"Y{pair[1]}" for pair in pairs], "start": "2 ms", "spacing": "0.1 us", "stop": "60 ms",
    }  # fmt: skip
    flows = [{**testbed.background(_LENGTH_MS), "sources": ["L1"]}, {**testbed.burst(), "sources": ["L2"]}, crossing]
    rates = {"udp": {"kind": "udp", "rate": "6.75 Gbps"}}

    def make(scheme: Mapping[str, Any]) -> Fields:
        made = testbed.scenario("beyond", flows, scheme, measure=measure(), hosts=hosts, transports=rates)
        return {**made, "link": [{**made["link"][0], "name": "L1->S2-3"}]}

    return Variant("full neighbours", make, "both spines' queues to S2-3 are above alpha when the burst starts")


_VARIANTS = (
    _bursts("5 MB"),
    _any_time(),
    _bursts("4 MB", 4_000_000),
    _bursts("6 MB", 6_000_000),
    _bursts("8 MB", 8_000_000),
    _bursts("5 MB, hosts with 22 us a pass", stack_us=22),
    _bursts("5 MB, hosts with 100 us a pass", stack_us=100),
    _two_ports(),
    _datagrams(),
    _full_neighbours(),
)


@exhibit("rimm/beyond", title="RIMM beyond the paper: UDP, several bursts, full neighbours, other bursts and hosts")
class Beyond(Replicated):
    """Basic forwarding and RIMM in variants that each change one thing in the events of section IV."""

    def points(self, context: Context) -> Iterable[Point]:
        count = context.length("events for each variant", full=20, quick=5)
        for variant in _VARIANTS:
            cases = {f"{variant.name} {scheme}": variant.make(settings) for scheme, settings in _SCHEMES.items()}
            yield from self.replicated(count, cases, keep=TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for variant in _VARIANTS:
            lost = {}
            for scheme in _SCHEMES:
                events = list(map(Event, self.each(runs, f"{variant.name} {scheme}")))
                lost[scheme] = mean_of([_lost_to_hosts(event) for event in events]).number
                yield from _rows(variant, scheme, events)
            yield _harm(variant.name, *lost.values())
        yield from _diffusion(list(map(Event, self.each(runs, "5 MB RIMM"))))


def _harm(x: str, basic: float, rimm: float) -> Row:
    """Judge whether RIMM loses more than basic forwarding; the ratio is undefined without losses."""
    metric = "packets lost, of basic forwarding's"
    if basic == 0 and rimm == 0:
        return Row("RIMM", x, metric, "", None, judge=Unjudged("neither scheme lost a packet"))
    judge = Shape(rimm <= 1.1 * basic, f"{x}: RIMM loses at most 10 % more than basic forwarding")
    return Row("RIMM", x, metric, "", rimm / basic if basic else None, judge=judge)


def _lost_to_hosts(event: Event) -> int:
    own = event.flows.filter(event.flows["group"].str.starts_with("b"))
    return int(own["network_packets_lost"].sum()) - event.run.summary.drops.get("corrupted on a link", 0)


def _rows(variant: Variant, scheme: str, events: Sequence[Event]) -> Iterator[Row]:
    x = variant.name
    mean = mean_of([_lost_to_hosts(event) for event in events])
    yield mean.row(scheme, x, "packets lost per event", unit="", note=variant.note)
    if variant.name != "UDP":
        mean = mean_of([event.retransmitted for event in events])
        yield mean.row(scheme, x, "retransmissions per event", unit="")
        mean = mean_completion(events, "burst", scheme)
        if mean.value is not None:
            yield mean.row(scheme, x, "mean FCT of the burst", unit="ms")
    if scheme == "RIMM":
        for key in ("packets_detoured", "detours_ended_by_congestion", "detours_ended_by_full_neighbours"):
            metric = f"{key.replace('_', ' ')} per event"
            yield Row(scheme, x, metric, "", mean_of([event.counter(key) for event in events]).value)
        rounds = [event.counter("detours") / max(1, event.counter("packets_detoured")) for event in events]
        yield Row(scheme, x, "detours of a packet that is detoured", "", mean_of(rounds).value)
    if variant.name in ("5 MB", _ANY_TIME):
        mean = replace(mean_completion(events, "background", scheme), interval=None)
        yield mean.row(scheme, x, "mean FCT of the background", unit="ms")


def _diffusion(events: Sequence[Event]) -> Iterator[Row]:
    x = "5 MB, at the neighbours"
    deepest = [max(event.peak_segments(port) for port in testbed.NEIGHBOUR_PORTS) for event in events]
    below = Shape(
        max(deepest) < testbed.ALARM_SEGMENTS, "below alpha, so the detour causes no microburst at a neighbour"
    )
    yield mean_of(deepest).row("RIMM", x, "deepest queue to S2-3", None, below, unit="segments")
    elsewhere = sum(event.counter("alarms") - event.counter("alarms", "S2-3") for event in events)
    yield Row("RIMM", x, "alarms at other switches", "", elsewhere, judge=Shape(elsewhere == 0, "none"))
