"""The hardware testbed of section 6.1: four servers answer four clients through one switch.

Sources of the values:

- Section 6.1: 16 pairs of hosts; links of 10 Gbps; a round-trip time of 200 us, mostly inside the network processor;
  drop-tail queues, or AFQ with 32 queues and a sketch of 4 x 16K; DCTCP marks from 65 packets up; Linux with
  CUBIC; 60 s.
- A pass through the switch takes 90 us, a host 5 us: the paper does not divide the 200 us further.
- 512 KB per port, as in the simulations: the paper does not give the prototype's buffer.
- Linux's defaults for TCP: RTOmin 200 ms, SACK, RACK, ticks of 1 ms. The paper does not give the packet pair's timer:
  here 200 us, as in the simulations, plus the round trip, with the same ticks.
- Each request is a separate flow on an open connection. In the paper each of 400 connections carries many requests in
  sequence, and keeps its window between them.
- The load is the utilization of the clients' links.

`causes` changes these assumptions one by one.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from hitless.checking import Fields
from hitless.drawing.plot import Plot
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Gain, Point, Row, Runs, above_one, exhibit
from hitless_papers.afq import flows, ratios, schemes
from hitless_papers.afq.flows import ALL_FLOWS, SHORT_FLOWS, Compared
from hitless_papers.afq.load_sweep import buckets, by_bucket
from hitless_papers.afq.schemes import Buffers, Scheme
from hitless_papers.afq.sizes import ENTERPRISE, FRAME_BYTES, OVERHEAD_BYTES
from hitless_papers.estimates import curve
from hitless_papers.scenarios import graph

_GBPS = 10
_CLIENTS = 4
_SWITCH_PASS_US = 90
_HOST_PASS_US = 5
_LINK_NS = 50
BUFFERS = Buffers("512 KB", {_GBPS: "65 packets"})
TABLES = ("flows", "messages", "links")

_LINUX: Mapping[str, Any] = {"kind": "tcp", "congestion": "cubic"}
_LINUX_DCTCP: Mapping[str, Any] = {"kind": "tcp", "congestion": "dctcp"}
_AFQ: Mapping[str, Any] = {**schemes.AFQ, "sketch": {"rows": 4, "columns": 16_384}}

TCP = Scheme("TCP", _LINUX)
DCTCP = Scheme("DCTCP", _LINUX_DCTCP, marks=True)
DCTCP_AFQ = Scheme("DCTCP+AFQ", _LINUX_DCTCP, afq=_AFQ)
PAIR_AFQ = Scheme("packet-pair+AFQ", schemes.PACKET_PAIR, afq=_AFQ)
PAIR_IDEAL = Scheme("packet-pair+Ideal-FQ", schemes.PACKET_PAIR, flow_queueing=schemes.IDEAL_FQ)
SCHEMES = (TCP, DCTCP, DCTCP_AFQ, PAIR_AFQ, PAIR_IDEAL)

_BUCKETS_KB = ((0, 10), (10, 100), (100, 1_000), (1_000, 1_000_000_000))
HIGH_LOAD = 80
_GAINS = (("DCTCP", 2.0), ("TCP", 10.0))
"""By how much AFQ improves each, "for both average and tail flow completion times" (section 6.1.4)."""


_NOTE = (
    f"{BUFFERS.per_port} for each port, {FRAME_BYTES:,} B a round, marks from {schemes.AFQ['ecn_rounds']} rounds on, "
    f"packet pair without SACK, a connection for each flow"
)


@dataclass(frozen=True)
class Testbed:
    """Settings that the paper leaves open, or that differ from it."""

    buffer: str = BUFFERS.per_port
    connections: int | None = None
    """Between two hosts, each with requests behind one another; None: one for each flow."""


AS_ASSUMED = Testbed()


def scenario(scheme: Scheme, load: int, duration_ms: int, testbed: Testbed = AS_ASSUMED) -> Fields:
    buffers = replace(BUFFERS, per_port=testbed.buffer)
    shared = {"connections": testbed.connections} if testbed.connections else {}
    data, _ = ENTERPRISE.wire_bytes(_GBPS * 1e9, duration_ms / 1e3)
    per_second = load / 100 * _CLIENTS * _GBPS * 1e9 / (8 * data)
    servers = [f"s{number}" for number in range(_CLIENTS)]
    clients = [f"c{number}" for number in range(_CLIENTS)]
    hosts = [*servers, *clients]
    kernel = {"send": f"{_HOST_PASS_US} us", "receive": f"{_HOST_PASS_US} us"}
    made = scheme.scenario(
        buffers,
        name="prototype",
        duration=f"{duration_ms} ms",
        topology=graph(hosts, ["afq"], [(host, "afq", _GBPS) for host in hosts], f"{_LINK_NS} ns"),
        host={"kernel": kernel, "timer_tick": "1 ms"},
        flows=[ENTERPRISE.group(per_second, sources=servers, destinations=clients, **shared)],
    )
    return {**made, "switch": {**made["switch"], "ingress_latency": f"{_SWITCH_PASS_US} us"}}


def _completion(run: Run) -> pl.DataFrame:
    return flows.with_idle_us(run, (_GBPS, _GBPS), _SWITCH_PASS_US + 2 * _HOST_PASS_US + 2 * _LINK_NS / 1e3)


@exhibit("afq/fig7", title="Completion times through one switch, enterprise workload")
class Figure7(Exhibit):
    """Four schemes at rising load, and packet pair with Ideal-FQ."""

    def points(self, context: Context) -> Iterable[Point]:
        self._loads = (40, 60, 80) if context.effort == "quick" else (20, 30, 40, 50, 60, 70, 80)
        length_ms = context.length("ms of traffic", full=60_000, normal=5_000, quick=1_000)
        for load in self._loads:
            for scheme in SCHEMES:
                yield Point(_key(scheme, load), scenario(scheme, load, length_ms), keep=TABLES)

    def _compared(self, runs: Runs, load: int) -> Compared:
        return compared({scheme.name: runs[_key(scheme, load)] for scheme in SCHEMES})

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        groups = {load: self._compared(runs, load) for load in self._loads}
        yield from gains(groups[HIGH_LOAD], f"{HIGH_LOAD} %")
        yield pairs_are_better(groups[HIGH_LOAD], f"{HIGH_LOAD} %")
        for load, group in groups.items():
            yield from _values(load, group)
            for scheme in SCHEMES:
                percent = 100 * _utilization(runs[_key(scheme, load)])
                yield Row(scheme.name, f"{load} %", "utilization of the clients' links", "%", percent)
        yield from by_bucket(buckets(groups[HIGH_LOAD], _BUCKETS_KB), HIGH_LOAD)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        groups = {load: self._compared(runs, load) for load in self._loads}
        loads = [float(load) for load in groups]
        y_title = "FCT over that in an idle network (times)"
        means, tails = [], []
        for name in (scheme.name for scheme in SCHEMES):
            points = [ratios.normalized_mean(group, name) for group in groups.values()]
            means.append(curve(name, loads, points))
            points = [ratios.normalized_percentile(group.short, name) for group in groups.values()]
            tails.append(curve(name, loads, points))
        yield Plot(f"Mean FCT of {ALL_FLOWS}", "load (%)", y_title, means, y_scale="log")
        yield Plot(f"p99 FCT of {SHORT_FLOWS}", "load (%)", y_title, tails, y_scale="log")


def _key(scheme: Scheme, load: int) -> str:
    return f"{scheme.name} {load} %"


def compared(runs: Mapping[str, Run]) -> Compared:
    """The flows of runs that differ in their scheme only."""
    return flows.compared(runs, _completion)


def gains(group: Compared, x: str) -> Iterator[Row]:
    """Compare AFQ on both of its transports with DCTCP and TCP; section 6.1.4 does not name the transport."""
    judge = Gain(better="higher")
    for rival, paper in _GAINS:
        for series in (PAIR_AFQ.name, DCTCP_AFQ.name):
            mean, tail = ratios.mean(group, rival, series), ratios.tail(group.short, rival, series)
            yield mean.row(series, x, f"mean FCT of {ALL_FLOWS}, {rival} over it", paper, judge, note=_NOTE)
            yield tail.row(series, x, f"p99 FCT of {SHORT_FLOWS}, {rival} over it", paper, judge, note=_NOTE)


def pairs_are_better(group: Compared, x: str) -> Row:
    """Does packet pair improve on DCTCP, "especially for short flows" (section 6.1.4)?"""
    ratio = ratios.mean(group.short, DCTCP_AFQ.name, PAIR_AFQ.name)
    statement = "packet pair improves on DCTCP for short flows, both with AFQ"
    judge = above_one(statement, nothing="no flow finished under both")
    return ratio.row(PAIR_AFQ.name, x, f"mean FCT of {SHORT_FLOWS}, {DCTCP_AFQ.name} over it", judge=judge, note=_NOTE)


def _values(load: int, group: Compared) -> Iterator[Row]:
    x = f"{load} %"
    ideal = ratios.mean(group.short, PAIR_AFQ.name, PAIR_IDEAL.name)
    yield ideal.row(PAIR_AFQ.name, x, f"mean FCT of {SHORT_FLOWS}, over Ideal-FQ")
    for name in group.names:
        yield ratios.normalized_mean(group, name).row(name, x, f"mean FCT of {ALL_FLOWS}, normalized")
        yield ratios.normalized_percentile(group.short, name).row(name, x, f"p99 FCT of {SHORT_FLOWS}, normalized")


def _utilization(run: Run) -> float:
    links = run.table("links").filter(pl.col("link").str.starts_with("afq->c"))
    on_wire = int(links["arrived_bytes"].sum()) + OVERHEAD_BYTES * int(links["frames_arrived"].sum())
    return float(on_wire * 8 / (run.summary["simulated_s"] * _CLIENTS * _GBPS * 1e9))
