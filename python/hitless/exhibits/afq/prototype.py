"""The hardware testbed of section 6.1: four servers answer four clients through one switch.

Where a number comes from:

- 16 pairs of hosts, links of 10 Gbps, round-trip time 200 us, most of it inside the network processor; drop-tail
  queues or AFQ with 32 queues and a sketch of 4 x 16K; DCTCP marks from 65 packets on; Linux with CUBIC; 60 s:
  section 6.1.
- The switch takes 90 us for each pass, and hosts 5 us: the paper does not divide the 200 us further.
- 512 KB for each port, as in the simulations: the paper does not say what the prototype has.
- Linux' defaults for TCP: RTOmin 200 ms, SACK, RACK, ticks of 1 ms. The packet pair's own timer is not given; it is the
  200 us of the simulations on top of what the round trip takes.
- A request is a flow of its own on an open connection. In the paper each of 400 connections carries many requests, one
  behind another, and keeps its window between them.
- The load is the utilization of the clients' links.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from hitless.exhibits import Context, Exact, Exhibit, Gain, Point, Row, Runs, Shape, exhibit
from hitless.exhibits.afq import flows, schemes, statistics
from hitless.exhibits.afq.flows import Compared
from hitless.exhibits.afq.schemes import Buffers, Scheme
from hitless.exhibits.afq.sizes import ENTERPRISE
from hitless.plot import Plot, Series
from hitless.simulation import Run, Scenario

_GBPS = 10
_CLIENTS = 4
_SWITCH_PASS_US = 90
_HOST_PASS_US = 5
_LINK_NS = 50
_BUFFERS = Buffers("512 KB", {_GBPS: "65 packets"})
_TABLES = ("flows", "messages", "links")

_LINUX: Mapping[str, Any] = {"kind": "tcp", "congestion": "cubic"}
_LINUX_DCTCP: Mapping[str, Any] = {"kind": "tcp", "congestion": "dctcp"}
_AFQ: Mapping[str, Any] = {**schemes.AFQ, "sketch": {"rows": 4, "columns": 16_384}}

_TCP = Scheme("TCP", _LINUX)
_DCTCP = Scheme("DCTCP", _LINUX_DCTCP, marks=True)
_DCTCP_AFQ = Scheme("DCTCP+AFQ", _LINUX_DCTCP, afq=_AFQ)
_PAIR_AFQ = Scheme("packet-pair+AFQ", schemes.PACKET_PAIR, afq=_AFQ)
_PAIR_IDEAL = Scheme("packet-pair+Ideal-FQ", schemes.PACKET_PAIR, flow_queueing=schemes.IDEAL_FQ)
_SCHEMES = (_TCP, _DCTCP, _DCTCP_AFQ, _PAIR_AFQ, _PAIR_IDEAL)

_BUCKETS_KB = ((0, 10), (10, 100), (100, 1_000), (1_000, 1_000_000_000))
_HIGH_LOAD = 80
_GAINS = (("DCTCP", 2.0), ("TCP", 10.0))
"""By how much AFQ improves each, "for both average and tail flow completion times" (section 6.1.4)."""


def scenario(scheme: Scheme, load: int, duration_ms: int) -> Scenario:
    """The testbed at a load in percent."""
    data, _ = ENTERPRISE.wire_bytes(_GBPS * 1e9, duration_ms / 1e3)
    per_second = load / 100 * _CLIENTS * _GBPS * 1e9 / (8 * data)
    servers = [f"s{number}" for number in range(_CLIENTS)]
    clients = [f"c{number}" for number in range(_CLIENTS)]
    link = {"rate": f"{_GBPS} Gbps", "delay": f"{_LINK_NS} ns"}
    switch = {**scheme.switch(_BUFFERS), "ingress_latency": f"{_SWITCH_PASS_US} us"}
    kernel = {"send": f"{_HOST_PASS_US} us", "receive": f"{_HOST_PASS_US} us"}
    made = {
        "name": "prototype",
        "duration": f"{duration_ms} ms",
        "topology": {
            "kind": "graph",
            "hosts": [*servers, *clients],
            "switches": ["afq"],
            "links": [{"ends": [host, "afq"], **link} for host in (*servers, *clients)],
        },
        "switch": switch,
        "host": {"kernel": kernel, "timer_tick": "1 ms"},
        "transport": [{"name": "transport", **scheme.transport}],
        "flows": [
            {
                "name": "enterprise",
                "transport": "transport",
                "kind": "poisson",
                "sizes": ENTERPRISE.scenario,
                "sources": servers,
                "destinations": clients,
                "flows_per_second": round(per_second),
            }
        ],
    }
    mechanisms = scheme.mechanisms(_BUFFERS)
    return {**made, "mechanism": mechanisms} if mechanisms else made


def _completion(run: Run) -> pl.DataFrame:
    done = flows.delivered(run)
    fixed_us = _SWITCH_PASS_US + 2 * _HOST_PASS_US + 2 * _LINK_NS / 1e3
    idle = flows.idle_us(done["bytes"].to_numpy().astype(np.float64), (_GBPS, _GBPS), fixed_us)
    return done.with_columns(idle_us=pl.Series(idle))


@exhibit("afq/fig7", title="Completion times through one switch, enterprise workload")
class Figure7(Exhibit):
    """Four schemes at rising load, and packet pair with Ideal-FQ beside them."""

    def points(self, context: Context) -> Iterable[Point]:
        self._loads = (40, 60, 80) if context.effort == "quick" else (20, 30, 40, 50, 60, 70, 80)
        length_ms = context.length("ms of traffic", full=60_000, normal=5_000, quick=1_000)
        for load in self._loads:
            for scheme in _SCHEMES:
                yield Point(_key(scheme, load), scenario(scheme, load, length_ms), keep=_TABLES)

    def _compared(self, runs: Runs, load: int) -> Compared:
        return Compared({scheme.name: _completion(runs[_key(scheme, load)]) for scheme in _SCHEMES})

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        compared = {load: self._compared(runs, load) for load in self._loads}
        yield from _gains(compared[_HIGH_LOAD])
        yield _pairs_are_better(compared[_HIGH_LOAD])
        for load, group in compared.items():
            yield from _beside_ideal(load, group)
            yield from _values(load, group)
        yield from _buckets(compared[_HIGH_LOAD])

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        compared = {load: self._compared(runs, load) for load in self._loads}
        loads = [float(load) for load in compared]
        y_title = "FCT over that in an idle network (times)"
        means = [_mean_series(name, loads, compared) for name in (scheme.name for scheme in _SCHEMES)]
        yield Plot("Mean FCT of all flows", "load (%)", y_title, means, y_scale="log")
        tails = []
        for scheme in _SCHEMES:
            pairs = [statistics.slowdown_percentile(group.short, scheme.name, 99) for group in compared.values()]
            tails.append(Series(scheme.name, loads, [value for value, _ in pairs], [limits for _, limits in pairs]))
        yield Plot("p99 FCT of flows below 100 KB", "load (%)", y_title, tails, y_scale="log")


def _key(scheme: Scheme, load: int) -> str:
    return f"{scheme.name} {load} %"


def _mean_series(name: str, loads: list[float], compared: Mapping[int, Compared]) -> Series:
    pairs = [statistics.mean_ratio(group.all, name, "idle_us") for group in compared.values()]
    return Series(name, loads, [value for value, _ in pairs], [interval for _, interval in pairs])


def _gains(group: Compared) -> Iterator[Row]:
    for name, paper in _GAINS:
        for series in (_PAIR_AFQ.name, _DCTCP_AFQ.name):
            judge = Gain(better="higher")
            value, interval = statistics.mean_ratio(group.all, name, series)
            metric = f"mean FCT of all flows, {name} over it"
            yield Row(series, f"{_HIGH_LOAD} %", metric, "times", value, paper, interval, judge)
            value, interval = statistics.tail_ratio(group.short, name, series, 99)
            metric = f"p99 FCT of flows below 100 KB, {name} over it"
            yield Row(series, f"{_HIGH_LOAD} %", metric, "times", value, paper, interval, judge)


def _pairs_are_better(group: Compared) -> Row:
    value, interval = statistics.mean_ratio(group.short, _DCTCP_AFQ.name, _PAIR_AFQ.name)
    judge = Shape(value > 1.0, "packet pair improves on DCTCP for short flows, both with AFQ")
    metric = f"mean FCT of flows below 100 KB, {_DCTCP_AFQ.name} over it"
    return Row(_PAIR_AFQ.name, f"{_HIGH_LOAD} %", metric, "times", value, interval=interval, judge=judge)


def _beside_ideal(load: int, group: Compared) -> Iterator[Row]:
    value, interval = statistics.mean_ratio(group.short, _PAIR_AFQ.name, _PAIR_IDEAL.name)
    metric = "mean FCT of flows below 100 KB, over Ideal-FQ"
    yield Row(_PAIR_AFQ.name, f"{load} %", metric, "times", value, 1.0, interval, Exact(0.15))


def _values(load: int, group: Compared) -> Iterator[Row]:
    note = f"{len(group.all):,} flows; {group.missing_percent:.2g} % left out, which some scheme did not finish"
    for name in group.names:
        value, interval = statistics.mean_ratio(group.all, name, "idle_us")
        metric = "mean FCT of all flows, normalized"
        yield Row(name, f"{load} %", metric, "times", value, interval=interval, note=note)
        value, interval = statistics.slowdown_percentile(group.short, name, 99)
        yield Row(name, f"{load} %", "p99 FCT of flows below 100 KB, normalized", "times", value, interval=interval)
        note = ""


def _buckets(group: Compared) -> Iterator[Row]:
    for low, high in _BUCKETS_KB:
        of_size = group.of_sizes(1e3 * low, 1e3 * high)
        title = f"above {low:,} KB" if high == _BUCKETS_KB[-1][1] else f"{low:,}-{high:,} KB"
        if of_size.is_empty():
            continue
        for name in group.names:
            value, interval = statistics.mean_ratio(of_size, name, "idle_us")
            x = f"{_HIGH_LOAD} %, {title}"
            yield Row(
                name, x, "mean FCT, normalized", "times", value, interval=interval, note=f"{len(of_size):,} flows"
            )
