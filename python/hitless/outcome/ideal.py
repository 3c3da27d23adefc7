"""Ideal completion time of a message in the empty fabric: the lower bound that slowdowns are relative to.

The bound assumes a sender that can send everything at once. It adds propagation, the serialization of the whole message
on the slowest link of the path, the serialization of its last packet on every other link, and the constant delays of
hosts and switches. It leaves out handshakes, windows and waiting in hosts, as do the slowdowns of pFabric, Homa and
HPCC.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hitless.checking import fabric_of
from hitless.outcome.scenario import scenario_of, without_seed
from hitless.outcome.tables import Columns, numbered, rows_of
from hitless.outcome.ways import Ways
from hitless.quantities import bytes_of, seconds_of

_PS = 1e12

Numbers = NDArray[np.float64]

_Pair: TypeAlias = tuple[str, str, str]
"""Source, destination and group of a flow."""

_Bound: TypeAlias = tuple[float, float, float, float, float]
"""See `Ideal._bound`."""


@dataclass(frozen=True, slots=True)
class _Hop:
    """A link of a path."""

    rate_bps: float
    delay_s: float
    overhead_bytes: float


class Ideal:
    """The empty fabric of a scenario."""

    def __init__(self, effective: Mapping[str, Any], fabric: Mapping[str, Any]) -> None:
        self._scenario = effective
        self._switches = set(fabric["switches"])
        self._next: dict[str, dict[str, _Hop]] = {}
        for link in fabric["links"]:
            (a, b), hop = link["ends"], self._hop(link)
            self._next.setdefault(a, {}).setdefault(b, hop)
            self._next.setdefault(b, {}).setdefault(a, hop)
        self._ways = Ways({name: self._switches_at(name) for name in fabric["switches"]})
        self._bounds: dict[_Pair, _Bound] = {}
        self._transports = {entry["name"]: entry for entry in effective.get("transport", [])}
        self._transport_of = {group["name"]: group["transport"] for group in effective.get("flows", [])}

    def of(self, messages: Columns, flows: Columns) -> Numbers:
        """Return the ideal time of each message in picoseconds; NaN for a message without its flow in ``flows``."""
        pairs, of_flows = _pairs(flows)
        bounds = np.array(self._bounds_of(pairs), dtype=np.float64).reshape(-1, 5)
        at, is_known = _places(messages["flow"], flows["flow"])
        of_messages = bounds[0] if len(pairs) == 1 else bounds[of_flows[at[is_known]]].T
        mss, per_packet, fixed_s, all_s_per_bit, slowest_s_per_bit = of_messages
        size = messages["bytes"][is_known].astype(np.float64)
        packets = np.maximum(np.ceil(size / mss), 1.0)
        last = size - (packets - 1) * mss + per_packet
        whole = size + packets * per_packet
        on_links = 8 * last * all_s_per_bit + 8 * (whole - last) * slowest_s_per_bit
        found = np.full(rows_of(messages), np.nan)
        found[is_known] = (fixed_s + on_links) * _PS
        return found

    def _bounds_of(self, pairs: Sequence[_Pair]) -> list[_Bound]:
        """Return `_bound` of each pair; pairs from one switch share a path search."""
        unknown = [pair for pair in pairs if pair not in self._bounds]
        for pair in sorted(unknown, key=lambda pair: self._access(pair[0])[0]):
            self._bounds[pair] = self._bound(*pair)
        return [self._bounds[pair] for pair in pairs]

    def _bound(self, source: str, destination: str, group: str) -> _Bound:
        """Return the parts of the ideal time of any message of a group between two hosts.

        These are the payload of a packet and its other bytes; constant seconds; seconds per bit summed over all links,
        and on the slowest link.
        """
        way = self._way(source, destination)
        transport = self._transports[self._transport_of[group]]
        switch, host = self._scenario.get("switch", {}), self._scenario.get("host", {})
        in_switch = sum(seconds_of(switch.get(name, "0 s")) for name in ("ingress_latency", "egress_latency"))
        in_hosts = sum(
            seconds_of(host.get(part, {}).get(way_, "0 s"))
            for part in ("kernel", "network_card")
            for way_ in ("send", "receive")
        )
        phy = seconds_of(switch.get("phy_latency", "0 s"))
        header = bytes_of(transport.get("header_bytes", "0 B"))
        payload = transport.get("mss", transport.get("mtu"))  # the name in TCP and in RoCE
        return (
            bytes_of(payload) if payload else bytes_of(transport["frame_bytes"]) - header,
            header + max(hop.overhead_bytes for hop in way),
            sum(hop.delay_s + phy for hop in way) + (len(way) - 1) * in_switch + in_hosts,
            sum(1 / hop.rate_bps for hop in way),
            max(1 / hop.rate_bps for hop in way),
        )

    def _way(self, source: str, destination: str) -> list[_Hop]:
        """Return a shortest path between two hosts."""
        (first, access), (last, egress) = self._access(source), self._access(destination)
        return [access, *(self._next[a][b] for a, b in self._ways.between(first, last)), egress]

    def _switches_at(self, switch: str) -> list[str]:
        return [other for other in self._next.get(switch, {}) if other in self._switches]

    def _access(self, host: str) -> tuple[str, _Hop]:
        [(switch, hop)] = self._next[host].items()
        return switch, hop

    def _hop(self, link: Mapping[str, Any]) -> _Hop:
        spec = self._spec(link["ends"])
        return _Hop(float(link["rate_bps"]), seconds_of(spec["delay"]), float(spec.get("overhead_bytes", 0)))

    def _spec(self, ends: Sequence[str]) -> Mapping[str, Any]:
        """Return the scenario's fields of a link."""
        topology = self._scenario["topology"]
        if topology["kind"] == "graph":
            found: Mapping[str, Any] = next(link for link in topology["links"] if set(link["ends"]) == set(ends))
            return found
        if set(ends) - self._switches:
            host_link: Mapping[str, Any] = topology["host_link"]
            return host_link
        between = ("core_link", "bottleneck", "switch_link")
        core: Mapping[str, Any] = next(topology[name] for name in between if name in topology)
        return core


def _pairs(flows: Columns) -> tuple[list[_Pair], NDArray[np.int64]]:
    """Return each distinct source, destination and group, and for each flow the index of its triple."""
    sources, of_source = numbered(flows["source"])
    destinations, of_destination = numbered(flows["destination"])
    groups, of_group = numbered(flows["group"])
    keys = (of_source * len(destinations) + of_destination) * len(groups) + of_group
    found, of_flows = np.unique(keys, return_inverse=True)
    parts = (
        (key // len(groups) // len(destinations), key // len(groups) % len(destinations), key % len(groups))
        for key in found
    )
    return [(sources[a], destinations[b], groups[c]) for a, b, c in parts], of_flows.astype(np.int64)


def _places(wanted: NDArray[np.uint64], known: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the index of each wanted number among the known ones, and whether it exists."""
    if known.size == 0:
        return np.zeros(wanted.size, dtype=np.int64), np.zeros(wanted.size, dtype=np.bool_)
    if known.size == 1:
        return np.zeros(wanted.size, dtype=np.int64), wanted == known[0]
    order = np.argsort(known, kind="stable")
    found = np.minimum(np.searchsorted(known[order], wanted), known.size - 1)
    places = order[found]
    return places, known[places] == wanted


def ideal_of(effective: str) -> Ideal | None:
    """Return the empty fabric of an effective scenario; None for a scenario without a topology."""
    return _of(without_seed(effective))


@lru_cache(maxsize=16)
def _of(effective: str) -> Ideal | None:
    scenario = scenario_of(effective)
    return Ideal(scenario, fabric_of(scenario["topology"])) if "topology" in scenario else None
