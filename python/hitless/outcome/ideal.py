"""Ideal completion time of a message in the empty fabric: the lower bound that slowdowns are relative to.

The bound assumes a sender that can send everything at once. It adds propagation, the serialization of the whole message
on the slowest link of the path, the serialization of its last packet on every other link, and the constant delays of
hosts and switches. It leaves out handshakes, windows and waiting in hosts, as do the slowdowns of pFabric, Homa and
HPCC.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hitless.checking import fabric_of
from hitless.outcome.scenario import scenario_of, without_seed
from hitless.outcome.tables import Columns, numbered, rows_of
from hitless.outcome.ways import WHOLE_ROWS, Parts, Ways
from hitless.quantities import bytes_of, seconds_of

_PS = 1e12

Numbers = NDArray[np.float64]
_Indices = NDArray[np.int64]


class Ideal:
    """The empty fabric of a scenario."""

    def __init__(self, effective: Mapping[str, Any], fabric: Mapping[str, Any]) -> None:
        self._scenario = effective
        switches = set(fabric["switches"])
        next_to: dict[str, dict[str, Parts]] = {name: {} for name in fabric["switches"]}
        access: dict[str, tuple[str, Parts]] = {}
        phy_s = seconds_of(effective.get("switch", {}).get("phy_latency", "0 s"))
        egress: dict[str, Parts] = {}
        for link in fabric["links"]:
            for (a, b), direction in zip((link["ends"], link["ends"][::-1]), link["directions"], strict=True):
                parts = _parts_of(direction, phy_s)
                if a not in switches:
                    access[a] = (b, parts)
                elif b in switches:
                    next_to[a].setdefault(b, parts)
                else:
                    egress[b] = parts
        self._ways = Ways(next_to)
        self._access = {host: (self._ways.number[switch], parts) for host, (switch, parts) in access.items()}
        self._egress = {host: (switch, egress[host]) for host, (switch, _) in self._access.items()}
        self._transports = {entry["name"]: entry for entry in effective.get("transport", [])}
        self._transport_of = {group["name"]: group["transport"] for group in effective.get("flows", [])}

    def of(self, messages: Columns, flows: Columns) -> Numbers:
        """Return the ideal time of each message in picoseconds.

        NaN for a message without its flow in ``flows``, and for hosts that no path connects.
        """
        at, is_known = _places(messages["flow"], flows["flow"])
        if not is_known.any():
            return np.full(rows_of(messages), np.nan)
        groups, of_group = numbered(flows["group"])
        mss, header, in_hosts_s = np.array([self._constants(group) for group in groups]).reshape(-1, 3)[of_group[at]].T
        delay_s, all_s_per_bit, slowest_s_per_bit, overhead, switches = self._wholes(flows)[:, at]
        fixed_s = delay_s + switches * self._in_switch_s() + in_hosts_s
        per_packet = header + overhead
        size = messages["bytes"].astype(np.float64)
        packets = np.maximum(np.ceil(size / mss), 1.0)
        last = size - (packets - 1) * mss + per_packet
        whole = size + packets * per_packet
        on_links = 8 * last * all_s_per_bit + 8 * (whole - last) * slowest_s_per_bit
        return np.where(is_known, (fixed_s + on_links) * _PS, np.nan)

    def _constants(self, group: str) -> tuple[float, float, float]:
        """Return the payload of a group's packets, their other bytes above links, and the delays of both hosts."""
        transport, host = self._transports[self._transport_of[group]], self._scenario.get("host", {})
        in_hosts_s = sum(
            seconds_of(host.get(part, {}).get(way, "0 s"))
            for part in ("kernel", "network_card")
            for way in ("send", "receive")
        )
        header = bytes_of(transport.get("header_bytes", "0 B"))
        payload = transport.get("mss", transport.get("mtu"))  # the name in TCP and in RoCE
        mss = bytes_of(payload) if payload else bytes_of(transport["frame_bytes"]) - header
        return mss, header, in_hosts_s

    def _in_switch_s(self) -> float:
        switch = self._scenario.get("switch", {})
        return sum(seconds_of(switch.get(name, "0 s")) for name in ("ingress_latency", "egress_latency"))

    def _wholes(self, flows: Columns) -> Numbers:
        """Return a shortest path's `WHOLE_ROWS` for each flow; the last row is the number of switches."""
        sources, of_source = numbered(flows["source"])
        destinations, of_destination = numbered(flows["destination"])
        ends = [self._egress[host] for host in destinations]
        last = np.array([switch for switch, _ in ends])[of_destination]
        egress = np.array([parts for _, parts in ends]).T[:, of_destination]
        # Hosts with equal links at one switch share a search.
        starts = {start: number for number, start in enumerate(dict.fromkeys(self._access[host] for host in sources))}
        of_start = np.array([starts[self._access[host]] for host in sources])[of_source]
        order = np.argsort(of_start, kind="stable")
        bounds = np.searchsorted(of_start[order], np.arange(len(starts) + 1))
        found = np.empty((WHOLE_ROWS, of_start.size))
        for (switch, access), first, end in zip(starts, bounds, bounds[1:], strict=False):
            chosen = order[first:end]
            found[:, chosen] = self._ways.totals_from(switch, (*access, 1.0))[:, last[chosen]]
        found[:2] += egress[:2]
        found[2:4] = np.maximum(found[2:4], egress[2:])
        return found


def _parts_of(direction: Mapping[str, Any], phy_s: float) -> Parts:
    """Return the `Parts` of one direction of a link."""
    per_bit = 1 / float(direction["rate_bps"])
    return direction["delay_ps"] / _PS + phy_s, per_bit, per_bit, float(direction["overhead_bytes"])


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
    return Ideal(scenario, fabric_of(scenario)) if "topology" in scenario else None
