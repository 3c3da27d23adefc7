"""A network, its flows and its switches between two formats."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from math import ceil

_DURATIONS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 1000, "ps": 1}
_RATES = {"Gbps": 10**9, "Mbps": 10**6, "kbps": 10**3, "bps": 1}


def duration_text(duration_ps: int) -> str:
    """Return a duration as a whole number, in the longest possible unit."""
    unit = next(unit for unit, ps in _DURATIONS.items() if duration_ps % ps == 0)
    return f"{duration_ps // _DURATIONS[unit]} {unit}" if duration_ps else "0 s"


def rate_text(rate_bps: int) -> str:
    """Return a rate exactly; in Gbps if it is a whole number of them."""
    unit = next(unit for unit, bps in _RATES.items() if rate_bps % bps == 0)
    return f"{rate_bps // _RATES[unit]} {unit}"


@dataclass(frozen=True)
class Link:
    """A link between two nodes; both directions are alike."""

    ends: tuple[str, str]
    rate_bps: int
    delay_ps: int
    loss: Decimal = Decimal(0)


@dataclass(frozen=True)
class Shape:
    """A topology that a scenario names instead of listing its links."""

    fields: dict[str, str | int]
    host_link: tuple[int, int]
    """Rate in bits per second and delay in picoseconds."""
    core_link: tuple[int, int]

    @property
    def switch_ports(self) -> int:
        """The maximum number of links of a switch."""
        if self.fields["kind"] == "fat-tree":
            return int(self.fields["k"])
        leaves, spines, hosts = (int(self.fields[name]) for name in ("leaves", "spines", "hosts_per_leaf"))
        return max(leaves, spines + hosts)


@dataclass
class Network:
    hosts: list[str]
    switches: list[str]
    links: list[Link]
    """All links; with a shape only the links of the longest path."""
    longest: list[Link]
    """The links of the longest of all shortest paths between two hosts."""
    shape: Shape | None = None
    switch_latency_ps: int = 0

    @property
    def host_bps(self) -> int:
        """The rate of the fastest host link of the longest path."""
        return max(self.longest[0].rate_bps, self.longest[-1].rate_bps)

    @property
    def host_ports(self) -> int:
        """The maximum number of links of a host."""
        return max(self._ports_of(self.hosts), default=1) if self.shape is None else 1

    @property
    def switch_ports(self) -> int:
        """The maximum number of links of a switch."""
        return max(self._ports_of(self.switches), default=1) if self.shape is None else self.shape.switch_ports

    def _ports_of(self, nodes: list[str]) -> Iterable[int]:
        ports = Counter(end for link in self.links for end in link.ends)
        return (ports[node] for node in nodes)

    def round_trip_ps(self, there_bytes: int, back_bytes: int) -> int:
        """Return the round-trip time of the longest path without queues."""
        per_byte = [8 * 10**12 * (there_bytes + back_bytes) // link.rate_bps for link in self.longest]
        latency = 2 * self.switch_latency_ps * (len(self.longest) - 1)
        return sum(per_byte) + 2 * sum(link.delay_ps for link in self.longest) + latency

    def window_packets(self, packet_bytes: int, ack_bytes: int) -> int:
        """Return the bandwidth-delay product of a host in packets, rounded up."""
        product = self.round_trip_ps(packet_bytes, ack_bytes) * self.host_bps / 8e12
        return max(1, ceil(product / packet_bytes))


@dataclass(frozen=True)
class Flow:
    """A flow between hosts, which are numbered in the order of the network."""

    source: int
    destination: int
    size_bytes: int
    start_ns: int
    """Start time; of a flow that waits for others the time from their end to its start."""
    after: tuple[int, ...] = ()
    """Flows that it waits for, by position in the list."""
    needed: int = 0
    """Number of them that must end."""

    @property
    def line(self) -> str:
        """The flow as a line of a list of flows."""
        found = f"{self.source} {self.destination} {self.size_bytes} {self.start_ns}"
        if not self.after:
            return found
        count = "" if self.needed == len(self.after) else f"{self.needed} of "
        return f"{found} after {count}{' '.join(map(str, self.after))}"


Settings = dict[str, str | float]
"""A table of a scenario."""


@dataclass
class SwitchSettings:
    """The `[switch]` of a scenario: buffer, marking and flow control, and exceptions by the rate of a port."""

    buffer: Settings | None = None
    """`None`: derived from the network."""
    ecn: Settings | None = None
    ecn_by_rate: dict[int, Settings] = field(default_factory=dict)
    preset: str = "tofino-like"
    pfc: Mapping[str, object] | None = None
    """Priority flow control; `None`: none."""
    has_headroom_apart: bool = False
    """Whether the buffer excludes the headroom of flow control."""


def longest_path(hosts: list[str], links: list[Link]) -> list[Link]:
    """Return the links of a longest one of all shortest paths between two hosts, which do not forward.

    Empty if no host reaches another.
    """
    neighbours: dict[str, list[tuple[str, Link]]] = defaultdict(list)
    for link in links:
        first, second = link.ends
        neighbours[first].append((second, link))
        neighbours[second].append((first, link))
    ends = set(hosts)
    starts = {neighbours[host][0][0]: host for host in reversed(hosts) if neighbours[host]}
    found: list[Link] = []
    for host in starts.values():
        path = _longest_from(host, neighbours, ends)
        found = max(found, path, key=lambda links: (len(links), sum(link.delay_ps for link in links)))
    return found


def _longest_from(host: str, neighbours: dict[str, list[tuple[str, Link]]], ends: set[str]) -> list[Link]:
    """Return the path from ``host`` to the farthest host, by breadth-first search."""
    before: dict[str, tuple[str, Link] | None] = {host: None}
    turn, farthest = [host], host
    while turn:
        following = []
        for node in turn:
            for other, link in neighbours[node] if node == host or node not in ends else ():
                if other not in before:
                    before[other] = (node, link)
                    following.append(other)
        farthest = next((node for node in following if node in ends), farthest)
        turn = following
    path = []
    while (entry := before[farthest]) is not None:
        farthest = entry[0]
        path.append(entry[1])
    return path[::-1]


def names_of(prefix: str, count: int) -> list[str]:
    """Return the names of ``count`` nodes, as "tor0"."""
    return [f"{prefix}{number}" for number in range(count)]


def chain(nodes: list[str], links: list[tuple[int, int]]) -> list[Link]:
    """Return the links along ``nodes`` with these rates and delays."""
    return [Link(ends, *link) for ends, link in zip(pairwise(nodes), links, strict=True)]
