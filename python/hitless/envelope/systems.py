"""Each mechanism with the trouble that it is for, and its stated cost."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitless.envelope.places import HEADERS_BYTES, Place, Transport

Scenario = dict[str, Any]

_FRAMES = 12_000
"""Minimum length of a run in frames: at a loss rate of 1e-3 a dozen are lost."""
_ROUND_TRIPS = 40
"""Minimum length of a run of long flows in round trips."""
_UDP_HEADERS_BYTES = 46
_PIPELINE_NS = 500
"""Latency of a switch from egress to the line, and of its PHY."""


@dataclass(frozen=True, slots=True)
class Places:
    """The field of a mechanism's settings with the links or ports where it runs."""

    field: str
    is_list: bool = True
    is_both_ways: bool = False
    """Does it name links in both directions, instead of ports?"""


@dataclass(frozen=True, slots=True)
class Cost:
    """A share of the service that a mechanism may take."""

    share: float
    why: str


class System(ABC):
    """A mechanism and its trouble."""

    trouble: str
    transports: Sequence[Transport] = ("udp", "tcp", "roce", "uet")
    victims: Sequence[str] = ("f",)
    """Groups of flows that the mechanism should help."""
    places: Places | None = None
    """Field for these ports; None for a mechanism that runs everywhere."""

    def __init__(self, name: str, cost: Cost | None = None, *, kind: str | None = None) -> None:
        self.name = name
        """Name of the map: the mechanism's kind in scenario files if it has one map."""
        self.kind = kind or name
        self.cost = cost or Cost(0.0, "none stated")
        self.fields: Mapping[str, Any] = {}
        """Settings of the mechanism besides its places."""

    @property
    def at(self) -> Sequence[str]:
        """Ports, or links, with the trouble."""
        return ["left->right"]

    def mechanism(self) -> list[Mapping[str, Any]]:
        """Return the mechanism's entry in the scenario."""
        places: dict[str, Any] = {}
        if self.places is not None:
            places[self.places.field] = self.at if self.places.is_list else self.at[0]
        return [{"kind": self.kind, **places, **self.fields}]

    def scenario(self, place: Place, *, with_it: bool) -> Scenario:
        """Return the trouble at a place, with the mechanism or without."""
        made = self._scenario(place)
        if with_it:
            made["mechanism"] = self.mechanism()
        return made

    @abstractmethod
    def _scenario(self, place: Place) -> Scenario:
        """Build the trouble at a place."""

    def pause_ns(self, place: Place) -> float:
        """Time without service that the mechanism may take in a run."""
        return 0

    def cost_at(self, place: Place) -> float:
        """Share of the service of a run that the mechanism may take."""
        duration_ns = int(self.scenario(place, with_it=False)["duration"].removesuffix(" ns"))
        return self.cost.share + self.pause_ns(place) / duration_ns

    def measures(self, place: Place) -> bool:
        """Is the place part of the map? Places with runs of minutes are left out."""
        return True

    def sends_messages(self, place: Place) -> bool:
        """Do its flows end, so that their times are compared?"""
        return False


class LossyLink(System):
    """Protection of a link that loses one frame in a thousand."""

    trouble = "a link that loses one frame in a thousand"
    places = Places("link", is_list=False)
    _LOSS_RATE = 1e-3

    def _scenario(self, place: Place) -> Scenario:
        loss = {"kind": "bernoulli", "rate": self._LOSS_RATE}
        return {**_two_switches(place, hosts=2), "link": [{"name": "left->right", "loss": loss}]}


def _two_switches(place: Place, hosts: int) -> Scenario:
    """Hosts on both sides of the place's link, and its traffic."""
    rate = f"{place.rate_gbps} Gbps"
    return {
        "name": "envelope",
        "topology": {
            "kind": "chain",
            "hosts_left": [f"a{host}" for host in range(hosts)],
            "switches": ["left", "right"],
            "hosts_right": [f"b{host}" for host in range(hosts)],
            "host_link": {"rate": rate, "delay": "5 ns"},
            "switch_link": {"rate": rate, "delay": f"{place.delay_ns} ns"},
        },
        "switch": {"preset": "tofino-like", "recirculation_rate": f"{max(100, place.rate_gbps)} Gbps"},
        "measure": {"order": True},
        **_traffic(place),
    }


def _traffic(place: Place) -> Mapping[str, Any]:
    """Datagrams at a rate, or two long flows, and how long they are watched."""
    if place.transport == "udp":
        sending_ns = _FRAMES * place.frame_ns / place.load
        transport = {
            "name": "t",
            "kind": "udp",
            "rate": f"{round(place.rate_gbps * place.load * 1e9)} bps",
            "frame_bytes": f"{place.frame_bytes} B",
        }
        flows = {"kind": "constant-rate", "sources": ["a0"], "destinations": ["b0"], "stop": f"{round(sending_ns)} ns"}
        end_ns = sending_ns + 2 * place.round_trip_ns + 20_000
    else:
        end_ns = max(_FRAMES * place.frame_ns, _ROUND_TRIPS * place.round_trip_ns)
        of_place = {"tcp": _tcp, "roce": _roce, "uet": _uet}[place.transport]
        transport = {"name": "t", **of_place(place)}
        flows = {"kind": "long", "sources": ["a0", "a1"], "destinations": ["b0", "b1"]}
    return {
        "duration": f"{round(end_ns)} ns",
        "transport": [transport],
        "flows": [{"name": "f", "transport": "t", **flows}],
    }


def _tcp(place: Place) -> Mapping[str, Any]:
    wait = f"{max(1_000_000, round(3 * place.round_trip_ns))} ns"
    return {
        "kind": "tcp",
        "congestion": "cubic",
        "mss": f"{place.payload_bytes} B",
        "rto_min": wait,
        "rto_initial": wait,
        "known_rtt": f"{round(place.round_trip_ns)} ns",
    }


def _roce(place: Place) -> Mapping[str, Any]:
    window = max(64, round(2 * place.round_trip_ns / place.frame_ns))
    # A shorter timeout than the queues and an outage retransmits packets that only wait.
    waits_ns = place.round_trip_ns + 2 * window * place.frame_ns
    return {
        "kind": "roce",
        "mtu": f"{place.payload_bytes} B",
        "window": window,
        "recovery": "selective-repeat",
        "timeout": f"{max(1_000_000, round(3 * waits_ns))} ns",
    }


def _uet(place: Place) -> Mapping[str, Any]:
    """Spraying connections by their defaults: the topology decides their times, and switches do not trim."""
    return {"kind": "uet", "mtu": f"{place.payload_bytes} B", "header_bytes": f"{HEADERS_BYTES} B"}


class Burst(System):
    """Bursts from three hosts to a fourth, each time twice what the buffer of its port holds."""

    trouble = "bursts of twice a port's buffer"
    transports = ("udp", "tcp")
    _BUFFER_BYTES = 300_000
    _SENDERS = 3
    _BURSTS = 6
    victims = tuple(f"f{host}" for host in range(_SENDERS))

    @property
    def at(self) -> Sequence[str]:
        """The last port, where the bursts meet."""
        return ["leaf0->h0"]

    def sends_messages(self, place: Place) -> bool:
        """Datagrams of a burst that arrive count, whenever they do."""
        return place.transport == "tcp"

    def _scenario(self, place: Place) -> Scenario:
        """Build two leaves and two spines; the first leaf's hosts send to a host of the second."""
        rate = f"{place.rate_gbps} Gbps"
        wire = {"rate": rate, "delay": f"{place.delay_ns} ns"}
        frames = 2 * self._BUFFER_BYTES // (self._SENDERS * place.frame_bytes)
        each = frames * (place.payload_bytes if place.transport == "tcp" else place.frame_bytes - _UDP_HEADERS_BYTES)
        drained_ns = self._SENDERS * frames * place.frame_ns
        period_ns = round(drained_ns / place.load if place.transport == "udp" else 3 * drained_ns)
        transport: Mapping[str, Any] = {"kind": "udp", "rate": rate, "frame_bytes": f"{place.frame_bytes} B"}
        if place.transport == "tcp":
            transport = {**_tcp(place), "initial_window": max(10, frames)}
        return {
            "name": "envelope",
            "duration": f"{round(period_ns * self._BURSTS + 4 * drained_ns + 4 * place.round_trip_ns + 3e6)} ns",
            "topology": {
                "kind": "leaf-spine",
                "leaves": 2,
                "spines": 2,
                "hosts_per_leaf": 4,
                "host_link": wire,
                "core_link": {**wire, "rate": f"{2 * place.rate_gbps} Gbps"},
            },
            "switch": {
                "preset": "ideal",
                "depth_visible": "ingress-and-egress",
                "buffer": {"kind": "static", "per_port": f"{self._BUFFER_BYTES} B"},
            },
            "host": {
                "time_to_live": 250,
                "priority_tagger": {"by": "remaining-bytes"},
                "reorder_buffer": {"timeout": f"{round(4 * drained_ns + place.round_trip_ns)} ns"},
            },
            "measure": {"order": True},
            "transport": [{"name": "t", **transport}],
            "flows": [
                {
                    "name": name,
                    "kind": "schedule",
                    "transport": "t",
                    "sources": [f"h{4 + host}"],
                    "destinations": ["h0"],
                    "sizes": {"kind": "fixed", "bytes": f"{each} B"},
                    "period": f"{period_ns} ns",
                    "count": self._BURSTS,
                }
                for host, name in enumerate(self.victims)
            ],
        }


class Cheat(System):
    """Two flows with congestion control, and a sender without."""

    trouble = "a sender that fills the line whatever is lost"
    transports = ("tcp",)
    places = Places("ports")

    def _scenario(self, place: Place) -> Scenario:
        """Build three pairs of hosts; the third pair cheats."""
        made = _two_switches(place, hosts=3)
        rate = f"{place.rate_gbps} Gbps"
        made["transport"].append({"name": "u", "kind": "udp", "rate": rate, "frame_bytes": f"{place.frame_bytes} B"})
        cheat = {"name": "cheat", "kind": "constant-rate", "transport": "u", "sources": ["a2"], "destinations": ["b2"]}
        made["flows"].append(cheat)
        return made


class FairQueue(Cheat):
    """The same flows, and a scheduler of the switch that has a queue for each of them."""

    def scenario(self, place: Place, *, with_it: bool) -> Scenario:
        """Give all ports the scheduler; without it they have one queue and the same buffer."""
        made = self._scenario(place)
        made["switch"]["buffer"] = {"kind": "static", "per_port": f"{max(300_000, 40 * place.frame_bytes)} B"}
        if with_it:
            made["switch"]["flow_queueing"] = {"kind": self.name, "quantum": f"{max(1_518, place.frame_bytes)} B"}
        return made


class LinkFailure(System):
    """A link fails once, and there is a longer path around it."""

    trouble = "a link that fails once"
    _DETECTION_NS = 30_000
    _REPAIR_NS = 730_000
    _REPAIR_FRAMES = 6_000
    """Limit of the repair in frames of the line, so that a run of short frames takes seconds."""
    _SLACK_NS = 500_000
    """Minimum time for the packets that wait after the failure."""
    _MIN_FRAME_NS = 4
    _DETOUR_QUEUE_BYTES = 125_000

    places = Places("links", is_both_ways=True)

    def __init__(
        self, name: str, cost: Cost | None = None, *, kind: str | None = None, scheme: str = "same-port"
    ) -> None:
        super().__init__(name, cost, kind=kind)
        self.scheme = scheme

    @property
    def at(self) -> Sequence[str]:
        is_link = self.places is not None and self.places.is_both_ways
        return ["left<->right"] if is_link else ["left->right", "right->left"]

    def measures(self, place: Place) -> bool:
        """A ring reads each copy many times."""
        return place.frame_ns > self._MIN_FRAME_NS

    def pause_ns(self, place: Place) -> float:
        """Time of local rerouting in which packets wait for their order, by SQR's defaults.

        Copies wait for `steady_delay`. Packets that go back to their own link wait for `return_hold`, but no shorter.
        Each wait can follow another one. The length of a run depends on this; a test compares it with SQR's settings.
        Spraying connections need no order.
        """
        if self.scheme != "local-reroute" or place.transport == "uet":
            return 0
        flight_ns = _PIPELINE_NS + place.frame_ns + place.delay_ns
        steady_delay_ns = self._DETECTION_NS + flight_ns
        return_hold_ns = max(self._DETOUR_QUEUE_BYTES * 8 / place.rate_gbps, 4 * flight_ns, steady_delay_ns)
        return 2 * (steady_delay_ns + return_hold_ns)

    def outage_ns(self, place: Place) -> int:
        """From the failure until the link is whole."""
        return self._DETECTION_NS + round(min(self._REPAIR_NS, self._REPAIR_FRAMES * place.frame_ns))

    def fails_ns(self, place: Place) -> int:
        return round(max(100_000, 3 * place.round_trip_ns))

    def _scenario(self, place: Place) -> Scenario:
        """Build a triangle of switches; the link between the two that have hosts fails."""
        outage_ns, fails_ns = self.outage_ns(place), self.fails_ns(place)
        made = {"name": "envelope", "topology": _triangle(place), **_traffic(place)}
        rerouted = self.scheme == "local-reroute"
        outage = {"outage": f"{outage_ns} ns"} if rerouted else {}
        repair = {} if rerouted else {"reconfiguration": f"{outage_ns - self._DETECTION_NS} ns"}
        made["switch"] = {"preset": "tofino-like"}
        made["measure"] = {"order": True}
        made["failure"] = [{"link": "left<->right", "first": f"{fails_ns} ns", **outage}]
        made["recovery"] = {
            "detection": {"kind": "fixed", "delay": f"{self._DETECTION_NS} ns"},
            "scheme": {"kind": self.scheme, **repair},
        }
        whole_ns = fails_ns + outage_ns + 3 * place.round_trip_ns
        if place.transport == "udp":
            stop_ns = whole_ns + outage_ns
            made["flows"][0]["stop"] = f"{round(stop_ns)} ns"
            end_ns = stop_ns + (outage_ns + self.pause_ns(place)) * place.load + self._SLACK_NS
        else:
            end_ns = whole_ns + max(4 * outage_ns, _ROUND_TRIPS * place.round_trip_ns)
        made["duration"] = f"{round(end_ns)} ns"
        return made


def _triangle(place: Place) -> Mapping[str, Any]:
    """Two switches with two hosts each and a link between them; the path by a third switch is as long."""

    def link(one: str, other: str, delay_ns: int) -> Mapping[str, Any]:
        return {"ends": [one, other], "rate": f"{place.rate_gbps} Gbps", "delay": f"{delay_ns} ns"}

    return {
        "kind": "graph",
        "hosts": ["a0", "a1", "b0", "b1"],
        "switches": ["left", "middle", "right"],
        "links": [
            *(link(f"a{host}", "left", 5) for host in range(2)),
            *(link(f"b{host}", "right", 5) for host in range(2)),
            link("left", "right", place.delay_ns),
            link("left", "middle", place.delay_ns // 2),
            link("middle", "right", place.delay_ns // 2),
        ],
    }


SYSTEMS: Mapping[str, System] = {
    system.name: system
    for system in (
        LossyLink("linkguardian", Cost(0.08, "the paper measures 8 % at 100G and 1e-3 (figure 8)")),
        LossyLink("link-layer-retry", Cost(0.15, "go-back-N; links on which it costs more are refused")),
        Burst("rimm"),
        Burst("simple-deflection"),
        Burst("preemptive-deflection"),
        LinkFailure("sqr", Cost(0.027, "ports read copies beside a flow that fills the line")),
        LinkFailure(
            "sqr-local-reroute",
            Cost(0.027, "and pauses of 2 x (steady_delay + return_hold) a failure, so that packets arrive in order"),
            kind="sqr",
            scheme="local-reroute",
        ),
        Cheat("afq"),
        FairQueue("drr"),
        LossyLink("wharf", Cost(0.2, "a parity frame for five data frames, and headers of 3 B in 64 B")),
    )
}
