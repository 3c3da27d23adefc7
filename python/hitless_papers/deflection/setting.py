"""One run of section 5: a network, a scheme, a transport, background flows and incast queries.

Values that section 5.2 does not give come from the authors' simulator (hopnets/practical_deflection): segments of 1,452
bytes, including 12 bytes of timestamps; Nagle; a maximum window of 65,535 bytes; no SACK; TTL 250; requests of 250
bytes; 20 +- 3 us until a server answers; and all parameters of Swift and Bolt, which begin with one segment. Its TCP is
INET's Reno. It lacks RFC 6582, and grows its window per acknowledgement, without regard to the receiver's window. Its
DCTCP is in hopnets/vertigo_simulations, by the same group.

The load is the percentage of the links from leaves to spines, one way, payload only: 5 % of incast are 2,000 queries a
second at 10/40G. The same traffic loads the links to hosts 2.5 times less. The background is the cache-follower
workload.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import polars as pl

from hitless.checking import Fields
from hitless.simulation import Run
from hitless_papers import Point, scenarios
from hitless_papers.deflection.fabrics import LEAF_SPINE, Fabric
from hitless_papers.deflection.schemes import PAPER, Preset, Scheme, under

_SUMMED = ("delivered_bytes", "packets_sent", "packets_received", "packets_reordered", "packets_arrived_late")
_OF_MESSAGES = ("group", "query", "bytes", "started_ps", "requested_ps", "delivered_ps")


def reduced(run: Run) -> Run:
    """Replace flows by their sums for each group, and keep the columns of messages that statistics need.

    A full run has millions of flows, and an exhibit up to 190 runs that wait for each other.
    """
    flows, messages = run.table("flows"), run.table("messages")
    sums = [pl.col(name).sum() for name in _SUMMED if name in flows.columns]
    narrow = pl.col("group").cast(pl.Categorical), pl.col("query").cast(pl.UInt32, strict=False)
    tables = {
        "flows": flows.group_by("group", maintain_order=True).agg(sums),
        "messages": messages.select(_OF_MESSAGES).with_columns(narrow),
    }
    return replace(run, tables={**run.tables, **tables})


TransportName = Literal["Reno", "DCTCP", "Swift", "Bolt"]
TABLES = ("messages", "flows", "drops")

BACKGROUND, QUERIES, LIARS = "background", "queries", "liars"
"""The groups of flows."""
TIME_TO_LIVE = 250
DURATION_MS = 1_200
"""Simulated time of a published run; there is one for each point."""

_TCP = {
    "kind": "tcp",
    "mss": "1440 B",
    "receive_window": "65535 B",
    "initial_window": 10,
    "handshake": True,
    "nagle": True,
    "sack": False,
    "recovery": "reno",
    "rack_tlp": False,
    "eifel_undo": False,
    "rto_formula": "rfc6298",
    "rto_min": "10 ms",
    "rto_initial": "10 ms",
    "rto_max": "240 s",
    "syn_timeout": "10 ms",
}
_INET_GROWTH = {"window_growth": "per-ack", "window_validation": False}
_CONGESTION: Mapping[TransportName, Mapping[str, Any]] = {
    "Reno": {"congestion": {"kind": "newreno", **_INET_GROWTH}},
    "DCTCP": {"congestion": {"kind": "dctcp", "estimate": "at-echoes", **_INET_GROWTH}},
    "Swift": {
        "initial_window": 1,
        "congestion": {
            "kind": "swift",
            "base_target": "60 us",
            "per_hop": "30 us",
            "fs_range": "300 us",
            "min_cwnd": 0.001,
            "max_cwnd": 43,
            "retransmit_reset_threshold": 100,
        },
    },
    "Bolt": {"congestion": {"kind": "bolt", "reaction": "inverse-share"}, "initial_window": 1},
}
_BOLT_SWITCH = {"kind": "bolt", "threshold": "10 KB", "segment": "1452 B"}
_REQUEST = {"size": "250 B", "think": {"mean": "20 us", "deviation": "3 us"}}


@dataclass(frozen=True, slots=True)
class Incast:
    """Queries that many hosts answer at once."""

    queries_per_second: float
    fan_in: int = 100
    answer_bytes: int = 40_000
    servers_repeat: bool = False
    """May a host give several answers to a query, as it must where there are more answers than hosts?"""

    def percent(self, fabric: Fabric) -> float:
        """Return the load of the answers, payload only."""
        return 100 * self.queries_per_second * self.fan_in * self.answer_bytes * 8 / fabric.core_bps


@dataclass(frozen=True, slots=True)
class FabricCase:
    scheme: Scheme
    incast: Incast
    fabric: Fabric = LEAF_SPINE
    transport: TransportName = "DCTCP"
    background_percent: float = 50
    preset: Preset = PAPER
    switch: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the switches that differ."""
    lie_divisor: int = 1
    """Above 1 half of the background claims to be more urgent by this factor: the group `LIARS`."""
    further: Sequence[Mapping[str, Any]] = ()
    """Further mechanisms."""
    sizes: str = "facebook_cachefollower_intracluster_homa"
    label: str = ""
    """What else is special, for the key."""

    @property
    def percent(self) -> int:
        """Load of background and queries, as the paper names it: a multiple of 5."""
        return 5 * round((self.background_percent + self.incast.percent(self.fabric)) / 5)

    @property
    def title(self) -> str:
        fair = "" if self.preset is PAPER else f", {self.preset.name}"
        return f"{self.scheme.name} {self.transport}{fair}"

    @property
    def x(self) -> str:
        """Position on an axis, in rows."""
        fabric = "" if self.fabric is LEAF_SPINE else self.fabric.name
        return " ".join(filter(None, [f"{self.percent} %", self.label, fabric]))

    @property
    def key(self) -> str:
        preset = "" if self.preset is PAPER else self.preset.name
        parts = (self.scheme.name, self.transport, self.fabric.name, f"{self.percent} %", self.label, preset)
        return " ".join(filter(None, parts))

    def point(self, duration_ms: float, keep: Iterable[str] = ()) -> Point:
        made = self.scenario(duration_ms)
        return Point(self.key, made, keep=(*TABLES, *keep), reduce=reduced)

    def scenario(self, duration_ms: float) -> Fields:
        scheme = under(self.scheme, self.preset)
        return scenarios.scenario(
            "deflection",
            self.fabric.topology,
            self._flows(),
            {"transport": self._transport(scheme)},
            duration=f"{duration_ms:g} ms",
            routing={"choice": "two-choices" if scheme.spreads else "flow-hash"},
            switch=self._switch(),
            host=self._host(scheme),
            mechanism=self._mechanisms(scheme),
        )

    def _switch(self) -> Mapping[str, Any]:
        marks = {"ecn": {"threshold": f"{self.fabric.mark_packets} packets"}} if self.transport == "DCTCP" else {}
        return {
            "preset": "ideal",
            "depth_visible": "ingress-and-egress",
            "buffer": {"kind": "static", "per_port": f"{self.fabric.queue_bytes} B"},
            **marks,
            **self.switch,
        }

    def _host(self, scheme: Scheme) -> Mapping[str, Any]:
        host: dict[str, Any] = {"time_to_live": TIME_TO_LIVE}
        wait = f"{self.fabric.reorder_timeout_us:g} us"
        if scheme.marking:
            host["priority_tagger"] = {"by": scheme.marking, **({"flowlet_gap": wait} if scheme.has_flowlets else {})}
        if scheme.restores_order:
            host["reorder_buffer"] = {"timeout": wait}
        return host

    def _transport(self, scheme: Scheme) -> Mapping[str, Any]:
        made = {**_TCP, **_CONGESTION[self.transport]}
        return made if scheme.fast_retransmit else {**made, "fast_retransmit": False}

    def _mechanisms(self, scheme: Scheme) -> list[Mapping[str, Any]]:
        bolt: list[Mapping[str, Any]] = [_BOLT_SWITCH] if self.transport == "Bolt" else []
        others = [*self.further, *bolt]
        if scheme.mechanism is None:
            return others
        remembers = scheme.mechanism["kind"] == "preemptive-deflection" and self.transport in {"Swift", "Bolt"}
        return [*others, {**scheme.mechanism, **({"memory": True} if remembers else {})}]

    def _flows(self) -> list[Mapping[str, Any]]:
        incast = self.incast
        common = {"transport": "transport", "request": _REQUEST}
        queries = {
            "name": QUERIES,
            "kind": "incast",
            **common,
            "fan_in": incast.fan_in,
            "size": f"{incast.answer_bytes} B",
            "queries_per_second": incast.queries_per_second,
            **({"servers_repeat": True} if incast.servers_repeat else {}),
        }
        return [*self._background(common), queries]

    def _background(self, common: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        groups = {BACKGROUND: 1} if self.lie_divisor == 1 else {BACKGROUND: 1, LIARS: self.lie_divisor}
        shared = {
            "kind": "poisson",
            **common,
            "sizes": {"kind": "cdf", "table": self.sizes},
            "load": self.background_percent / 100 / len(groups),
            "load_of": "leaf-spine-links",
        }
        lies = {name: {"rank_divisor": divisor} if divisor > 1 else {} for name, divisor in groups.items()}
        return [{"name": name, **shared, **lies[name]} for name in groups]
