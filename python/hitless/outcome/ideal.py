"""Ideal completion time of a message in the empty fabric: the lower bound that slowdowns are relative to.

The bound assumes a sender that can send everything at once. It adds propagation, the serialization of the whole message
on the slowest link of the path, the serialization of its last packet on every other link, and the constant delays of
hosts and switches. It leaves out handshakes, windows and waiting in hosts, as do the slowdowns of pFabric, Homa and
HPCC. A host with several ports sends and receives at the sum of their rates with a spraying transport, and otherwise
through the pair of ports with the fastest path.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
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
_Access = dict[str, list[tuple[int, Parts]]]


class Ideal:
    """The empty fabric of a scenario."""

    def __init__(self, effective: Mapping[str, Any], fabric: Mapping[str, Any]) -> None:
        self._scenario = effective
        switches = {name: self._settings_of("switch", name) for name in fabric["switches"]}
        next_to: dict[str, dict[str, Parts]] = {name: {} for name in fabric["switches"]}
        phy_s = {name: seconds_of(settings.get("phy_latency", "0 s")) for name, settings in switches.items()}
        own_s = {name: _in_switch_s(settings) - self._in_switch_s() for name, settings in switches.items()}
        """Time in a switch beyond that of `[switch]`, which counts with the link to it."""
        leaving: dict[str, list[tuple[str, Parts]]] = {}
        arriving: dict[str, list[tuple[str, Parts]]] = {}
        for link in fabric["links"]:
            for (a, b), direction in zip((link["ends"], link["ends"][::-1]), link["directions"], strict=True):
                # Each end has half of its coding, and a host codes like its switch.
                coding_s = (phy_s[a if a in phy_s else b] + phy_s[b if b in phy_s else a]) / 2
                delay_s = direction["delay_ps"] / _PS + coding_s + own_s.get(b, 0.0)
                per_bit = 1 / float(direction["rate_bps"])
                parts: Parts = (delay_s, per_bit, per_bit, float(direction["overhead_bytes"]))
                if a not in switches:
                    leaving.setdefault(a, []).append((b, parts))
                elif b in switches:
                    next_to[a].setdefault(b, parts)
                else:
                    arriving.setdefault(b, []).append((a, parts))
        self._ways = Ways(next_to)
        self._leaving, self._arriving = self._numbered(leaving), self._numbered(arriving)
        """The switch at each port of a host, and that direction of the link."""
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
        mss, header = np.array([self._constants(group) for group in groups]).reshape(-1, 2)[of_group[at]].T
        in_hosts_s = self._in_hosts_s(flows)[at]
        size = messages["bytes"].astype(np.float64)
        packets = np.maximum(np.ceil(size / mss), 1.0)
        ideal = np.full(rows_of(messages), np.nan)
        for ports in self._pairs_of_ports(flows):
            wholes, parallel = self._wholes(flows, ports)[:, at], self._parallel(flows, ports)[at]
            delay_s, all_s_per_bit, slowest_s_per_bit, overhead, switches = wholes
            fixed_s = delay_s + switches * self._in_switch_s() + in_hosts_s
            per_packet = header + overhead
            last = size - (packets - 1) * mss + per_packet
            whole = size + packets * per_packet
            # Switches store and forward: every link delays the last packet, and only the slowest all packets before it.
            on_links = 8 * last * all_s_per_bit + 8 * (whole - last) * slowest_s_per_bit / parallel
            # Of several pairs of ports the fastest counts; fmin leaves out pairs without a path, which are NaN.
            ideal = np.fmin(ideal, np.where(is_known, (fixed_s + on_links) * _PS, np.nan))
        return ideal

    def _constants(self, group: str) -> tuple[float, float]:
        """Return the payload of a group's packets, and their other bytes above links."""
        transport = self._transports[self._transport_of[group]]
        header = bytes_of(transport.get("header_bytes", "0 B"))
        payload = transport.get("mss", transport.get("mtu"))  # the name in TCP and in RoCE
        mss = bytes_of(payload) if payload else bytes_of(transport["frame_bytes"]) - header
        return mss, header

    def _in_hosts_s(self, flows: Columns) -> Numbers:
        """Return the constant delays of both hosts for each flow."""
        total = np.zeros(rows_of(flows))
        for part in ("kernel", "network_card"):
            for end, way in (("source", "send"), ("destination", "receive")):
                hosts, of_host = numbered(flows[end])
                delays_s = [seconds_of(self._settings_of("host", host).get(part, {}).get(way, "0 s")) for host in hosts]
                total += np.array(delays_s)[of_host]
        return total

    def _settings_of(self, section: str, node: str) -> Mapping[str, Any]:
        """Return the settings of a host or a switch, with its exception."""
        settings: dict[str, Any] = self._scenario.get(section, {})
        exceptions, nodes = settings.get("exceptions", ()), {"host": "hosts", "switch": "switches"}[section]
        own = [exception for exception in exceptions if any(_names(name, node) for name in exception[nodes])]
        return settings | own[0] if own else settings

    def _in_switch_s(self) -> float:
        return _in_switch_s(self._scenario.get("switch", {}))

    def _pairs_of_ports(self, flows: Columns) -> list[tuple[int, int]]:
        """Return the pairs of ports of a source and a destination."""
        most = [max(len(self._leaving[host]) for host in numbered(flows[end])[0]) for end in ("source", "destination")]
        return [(source, destination) for source in range(most[0]) for destination in range(most[1])]

    def _numbered(self, access: Mapping[str, list[tuple[str, Parts]]]) -> _Access:
        number = self._ways.number
        return {host: [(number[switch], parts) for switch, parts in ports] for host, ports in access.items()}

    def _parallel(self, flows: Columns, ports: tuple[int, int]) -> Numbers:
        """Return the number of paths like the one between these ports that a flow uses at once."""
        spreads = {name for name, entry in self._transports.items() if entry["kind"] == "uet"}
        groups, of_group = numbered(flows["group"])
        uses_all = np.array([self._transport_of[group] in spreads for group in groups])[of_group]
        sums, firsts = [], []
        ends = (("source", self._leaving), ("destination", self._arriving))
        for (end, access), port in zip(ends, ports, strict=True):
            hosts, of_host = numbered(flows[end])
            sums.append(np.array([sum(1 / parts[1] for _, parts in access[host]) for host in hosts])[of_host])
            firsts.append(np.array([1 / _port(access, host, port)[1][1] for host in hosts])[of_host])
        return np.where(uses_all, np.minimum(*sums) / np.minimum(*firsts), 1.0)

    def _wholes(self, flows: Columns, ports: tuple[int, int]) -> Numbers:
        """Return each flow's `WHOLE_ROWS` between two ports; the last row is the number of switches."""
        sources, of_source = numbered(flows["source"])
        destinations, of_destination = numbered(flows["destination"])
        ends = [_port(self._arriving, host, ports[1]) for host in destinations]
        last = np.array([switch for switch, _ in ends])[of_destination]
        egress = np.array([parts for _, parts in ends]).T[:, of_destination]
        # Hosts with equal links at one switch share a search.
        firsts = [_port(self._leaving, host, ports[0]) for host in sources]
        starts = {start: number for number, start in enumerate(dict.fromkeys(firsts))}
        of_start = np.array([starts[first] for first in firsts])[of_source]
        order = np.argsort(of_start, kind="stable")
        bounds = np.searchsorted(of_start[order], np.arange(len(starts) + 1))
        found = np.empty((WHOLE_ROWS, of_start.size))
        for (switch, access), first, end in zip(starts, bounds, bounds[1:], strict=False):
            chosen = order[first:end]
            found[:, chosen] = self._ways.totals_from(switch, (*access, 1.0))[:, last[chosen]]
        found[:2] += egress[:2]
        found[2:4] = np.maximum(found[2:4], egress[2:])
        return found


def _in_switch_s(settings: Mapping[str, Any]) -> float:
    return sum(seconds_of(settings.get(name, "0 s")) for name in ("ingress_latency", "egress_latency"))


def _port(access: _Access, host: str, port: int) -> tuple[int, Parts]:
    ports = access[host]
    return ports[min(port, len(ports) - 1)]


def _names(name: str, node: str) -> bool:
    """Return whether a name, a range or a pattern of a scenario includes a node."""
    if ".." not in name:
        return name == "all" or fnmatchcase(node, name)
    (stem, first), (_, last), (own, number) = (_split_digits(part.strip()) for part in (*name.split(".."), node))
    return own == stem and bool(number) and int(first) <= int(number) <= int(last)


def _split_digits(name: str) -> tuple[str, str]:
    stem = name.rstrip("0123456789")
    return stem, name[len(stem) :]


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
