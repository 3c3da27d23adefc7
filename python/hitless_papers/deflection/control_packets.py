"""Figure 16 and the text of section 6: round time and cost of control packets."""

from collections.abc import Iterable, Iterator

import numpy as np

from hitless.checking import Fields
from hitless.drawing.plot import Plot, Series
from hitless.simulation import Run
from hitless_papers import Context, Exact, Exhibit, Factor, Gain, Point, Range, Row, Runs, Unjudged, exhibit, scenarios
from hitless_papers.deflection import testbed

NUMBERS = (8, 16, 32, 64, 128, 256, 512)
"""Control packets: one for each active port."""
PORTS = (1, 2, 4)
"""Recirculation ports. The paper does not say how many its switch used; a Tofino 1 has one in each of its two or four
pipes."""
LOAD_GBPS = 120
"""Appendix D."""
PAPER_RATE_M = 1.7
"""Millions of recirculations in a second of each packet, up to 64 of them (section 6)."""
PAPER_GAP_US = 1.7
"""With 512 of them (section 6)."""
PAPER_GROWTH = 2.8
"""The gap with 512 over that with 64 (appendix D)."""
_MORE_PORTS = Unjudged("the paper does not say how many recirculation ports it had: one is judged")
WARMUP_US = 100
GAP = "update_gap_ns"

_BYTES = 72
_SERVERS = ("server1", "server2", "server3", "server4")
_SWITCH, _OTHER = "switch1", "switch2"


def scenario(packets: int, recirculation_ports: int, length_us: float) -> Fields:
    """Build four servers that send to each other through one switch with this number of control packets."""
    occupancy = {"kind": "control-packets", "packets": packets}
    mechanism = {"kind": "simple-deflection", "ports": [_SWITCH], "occupancy": occupancy}
    rate_gbps = LOAD_GBPS / len(_SERVERS)
    ends = {"sources": list(_SERVERS), "destinations": [*_SERVERS[1:], _SERVERS[0]]}
    links = [*((server, _SWITCH, 40) for server in _SERVERS), (_SWITCH, _OTHER, 100)]
    switch = {"preset": "tofino-like", "buffer": {"kind": "static", "per_port": f"{testbed.QUEUE_BYTES} B"}}
    return scenarios.scenario(
        "control-packets",
        scenarios.graph(_SERVERS, [_SWITCH, _OTHER], links),
        [{"name": "load", "transport": "udp", "kind": "constant-rate", **ends}],
        {"udp": {"kind": "udp", "rate": f"{rate_gbps:g} Gbps"}},
        duration=f"{WARMUP_US + length_us:g} us",
        switch={**switch, "recirculation_ports": recirculation_ports},
        mechanism=[mechanism] if packets else [],
    )


def gaps_us(run: Run) -> tuple[float, float]:
    """Mean and 99th percentile of the time between two updates of a queue."""
    found = run.histogram(GAP).sort("value")
    values, counts = found["value"].to_numpy() / 1e3, found["count"].to_numpy()
    p99 = values[np.searchsorted(np.cumsum(counts), 0.99 * counts.sum())]
    return float(np.average(values, weights=counts)), float(p99)


def delivered_gbps(run: Run) -> float:
    return float(run.table("flows")["delivered_bytes"].sum()) * 8 / 1e9 / float(run.summary["simulated_s"])


@exhibit("pd/fig16", title="Time between two updates of what ingress knows, by the number of control packets")
class Figure16(Exhibit):
    """A loop through the pipelines up to a number of packets, and the recirculation port's rate beyond it."""

    def points(self, context: Context) -> Iterable[Point]:
        length_us = context.length("us of load", full=2_000, quick=500)
        tables = ("histograms", "flows")
        yield Point("none", scenario(0, 1, length_us), keep=tables)
        for ports in PORTS:
            for packets in NUMBERS:
                yield Point(_key(packets, ports), scenario(packets, ports, length_us), keep=tables)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for ports in PORTS:
            yield from _judged(runs, ports)
        for ports in PORTS:
            for packets in NUMBERS:
                mean, p99 = gaps_us(runs[_key(packets, ports)])
                x = f"{packets} control packets"
                yield Row(_name(ports), x, "mean time between updates", "us", mean, note=f"p99 {p99:.3g} us")
        share = 100 * delivered_gbps(runs[_key(NUMBERS[-1], 1)]) / delivered_gbps(runs["none"])
        metric = "traffic delivered, of that without control packets"
        yield Row(_name(1), f"{NUMBERS[-1]} control packets", metric, "%", share, paper=100, judge=Exact())

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = [
            Series(_name(ports), list(map(float, NUMBERS)), [gaps_us(runs[_key(n, ports)])[0] for n in NUMBERS])
            for ports in PORTS
        ]
        yield Plot("Time between two updates", "control packets", "mean (us)", series, x_scale="log", y_scale="log")


def _judged(runs: Runs, ports: int) -> Iterator[Row]:
    """Judge the paper's three numbers with one recirculation port, the default here; the paper gives no number."""
    means = {packets: gaps_us(runs[_key(packets, ports)])[0] for packets in NUMBERS}
    judge = Factor() if ports == 1 else _MORE_PORTS
    few, many = 64, 512
    x, metric = f"up to {few} control packets", "recirculations of each packet"
    note = "the paper's take 0.59 us each"
    yield Row(_name(ports), x, metric, "M/s", 1 / means[few], PAPER_RATE_M, judge=judge, note=note)
    x, metric = f"{many} control packets", "mean time between updates"
    note = _arithmetic(many, ports)
    yield Row(_name(ports), x, metric, "us", means[many], PAPER_GAP_US, judge=judge, note=note)
    metric = f"time between updates, over that with {few}"
    growth = Gain() if ports == 1 else _MORE_PORTS
    yield Row(_name(ports), x, metric, "times", means[many] / means[few], PAPER_GROWTH, judge=growth)
    used = _BYTES * 8 / means[few] / 1e3
    judge = Unjudged(f"{_BYTES} bytes times the recirculations, which are judged")
    x, metric = f"{few} control packets", "bandwidth of each packet"
    yield Row(_name(ports), x, metric, "Gbps", used, Range(high=1.0), judge=judge)


def _arithmetic(packets: int, ports: int) -> str:
    """Time of a round through the ports."""
    needed_us = packets * (_BYTES + 20) * 8 / 100e3 / ports
    round_us = f"{needed_us:.2f} us at 100 Gbps"
    return f"{packets} packets of {_BYTES} B with preamble and gap take {round_us} on {_name(ports)}"


def _name(ports: int) -> str:
    return f"{ports} recirculation port{'s' if ports > 1 else ''}"


def _key(packets: int, ports: int) -> str:
    return f"{packets} on {ports}"
