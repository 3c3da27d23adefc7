"""How long a message takes in the empty fabric: the lower bound that a slowdown is measured against.

The bound is that of a sender which may send all at once: propagation, the time of the whole message on the slowest link
of the way, the time of its last packet on every other link, and the constant delays of hosts and switches. Handshakes,
windows and what a host waits for are no part of it, as in the slowdowns of pFabric, Homa and HPCC.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl

from hitless.outcome.scenario import scenario_of, without_seed
from hitless.quantities import bytes_of, seconds_of
from hitless.simulation import fabric_of

_PS = 1e12


@dataclass(frozen=True, slots=True)
class _Hop:
    """A link of a way."""

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
        self._ways: dict[str, dict[str, list[_Hop]]] = {}
        self._transports = {entry["name"]: entry for entry in effective.get("transport", [])}
        self._transport_of = {group["name"]: group["transport"] for group in effective.get("flows", [])}

    def add_to(self, messages: pl.DataFrame, flows: pl.DataFrame) -> pl.DataFrame:
        """The messages of ``flows``, which have a ``source``, a ``destination`` and a ``group``, with ``ideal_ps``."""
        keys = ["source", "destination", "group"]
        pairs = flows.select(keys).unique(maintain_order=True)
        rows = [{**pair, **self._bound(pair)} for pair in pairs.iter_rows(named=True)]
        if not rows:
            return messages.clear().with_columns(ideal_ps=pl.lit(None, dtype=pl.Float64))
        bounds = flows.select("flow", *keys).join(pl.DataFrame(rows), on=keys).drop(keys)
        packets = (pl.col("bytes") / pl.col("mss")).ceil().clip(lower_bound=1)
        last = pl.col("bytes") - (packets - 1) * pl.col("mss") + pl.col("per_packet")
        whole = pl.col("bytes") + packets * pl.col("per_packet")
        on_links = 8 * last * pl.col("all_s_per_bit") + 8 * (whole - last) * pl.col("slowest_s_per_bit")
        joined = messages.join(bounds, on="flow", how="inner", maintain_order="left")
        added = ("mss", "per_packet", "fixed_s", "all_s_per_bit", "slowest_s_per_bit")
        return joined.with_columns(ideal_ps=(pl.col("fixed_s") + on_links) * _PS).drop(added)

    def _bound(self, pair: Mapping[str, str]) -> dict[str, float]:
        """What the time of any message between two hosts is made of."""
        way = self._way(pair["source"], pair["destination"])
        transport = self._transports[self._transport_of[pair["group"]]]
        switch, host = self._scenario.get("switch", {}), self._scenario.get("host", {})
        in_switch = sum(seconds_of(switch.get(name, "0 s")) for name in ("ingress_latency", "egress_latency"))
        in_hosts = sum(
            seconds_of(host.get(part, {}).get(way_, "0 s"))
            for part in ("kernel", "network_card")
            for way_ in ("send", "receive")
        )
        phy = seconds_of(switch.get("phy_latency", "0 s"))
        header = bytes_of(transport.get("header_bytes", "0 B"))
        payload = transport.get("mss", transport.get("mtu"))  # as TCP and RoCE call it
        return {
            "mss": bytes_of(payload) if payload else bytes_of(transport["frame_bytes"]) - header,
            "per_packet": header + max(hop.overhead_bytes for hop in way),
            "fixed_s": sum(hop.delay_s + phy for hop in way) + (len(way) - 1) * in_switch + in_hosts,
            "all_s_per_bit": sum(1 / hop.rate_bps for hop in way),
            "slowest_s_per_bit": max(1 / hop.rate_bps for hop in way),
        }

    def _way(self, source: str, destination: str) -> list[_Hop]:
        """A shortest way between two hosts."""
        (first, access), (last, egress) = self._access(source), self._access(destination)
        if first not in self._ways:
            self._ways[first] = dict(self._search(first))
        return [access, *self._ways[first][last], egress]

    def _access(self, host: str) -> tuple[str, _Hop]:
        [(switch, hop)] = self._next[host].items()
        return switch, hop

    def _search(self, start: str) -> Iterator[tuple[str, list[_Hop]]]:
        """The shortest ways from a switch to all others, by number of links."""
        ways: dict[str, list[_Hop]] = {start: []}
        waiting = deque([start])
        while waiting:
            node = waiting.popleft()
            yield node, ways[node]
            for other, hop in self._next[node].items():
                if other in self._switches and other not in ways:
                    ways[other] = [*ways[node], hop]
                    waiting.append(other)

    def _hop(self, link: Mapping[str, Any]) -> _Hop:
        spec = self._spec(link["ends"])
        return _Hop(float(link["rate_bps"]), seconds_of(spec["delay"]), float(spec.get("overhead_bytes", 0)))

    def _spec(self, ends: Sequence[str]) -> Mapping[str, Any]:
        """What the scenario says of a link."""
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


def ideal_of(effective: str) -> Ideal | None:
    """The empty fabric of a scenario with every default spelled out; None where it has none to speak of."""
    return _of(without_seed(effective))


@lru_cache(maxsize=16)
def _of(effective: str) -> Ideal | None:
    scenario = scenario_of(effective)
    return Ideal(scenario, fabric_of(scenario["topology"])) if "topology" in scenario else None
