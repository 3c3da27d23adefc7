"""Appendix E: does a deflected packet choose all free ports with the same probability?

The mechanism draws a random place, and takes the first free port after it, in a circle. Ports are full independently,
each with its probability; draws with all ports full do not count. Further rows count the packets that leave by each
port of a simulated switch when its neighbours have room.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Literal, TypeAlias

import polars as pl

from hitless.analysis import chi_square_p_value
from hitless.checking import Fields
from hitless.deflection import ScanCounts
from hitless.drawing.plot import Plot, Series
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Point, Row, Runs, Shape, exhibit, scenarios
from hitless_papers.statements import judged_once

PORTS = (4, 8, 12)
FULL = tuple(tenth / 10 for tenth in range(10))
"""Probability of a port to be full."""
LEVEL = 0.01
"""The chance that a uniform choice is taken for another one, all tests together."""

Start: TypeAlias = Literal["uniform", "five-bit"]
Chances: TypeAlias = Callable[[Sequence[bool]], list[float]]
"""Chances of all ports for a set of free ports; they add up to 1."""


def counts(full: Sequence[float], draws: int, seed: int, start: Start = "uniform") -> list[int]:
    """Count the draws of each port; some draws find no free port."""
    table = ScanCounts(full, draws, start).job(file_name="port choice", seed=seed).run().table("scan")
    return table.filter(pl.col("port") >= 0)["chosen"].to_list()


def circular_shares(full: Sequence[float]) -> list[float]:
    """Sum equation 3 over all bitmaps: the shares of the ports while at least one is free."""
    ports = len(full)
    return _shares(full, lambda free: [_starts_that_lead_to(place, free) / ports for place in range(ports)])


def fair_shares(full: Sequence[float]) -> list[float]:
    """The same of a choice that takes each of the free ports with the same probability."""
    return _shares(full, lambda free: [is_free / sum(free) for is_free in free])


def _shares(full: Sequence[float], chances: Chances) -> list[float]:
    totals = [0.0] * len(full)
    for free in product((False, True), repeat=len(full)):
        if any(free):
            weight = prod(1 - chance if is_free else chance for is_free, chance in zip(free, full, strict=True))
            totals = [total + weight * chance for total, chance in zip(totals, chances(free), strict=True)]
    return [total / sum(totals) for total in totals]


def _starts_that_lead_to(place: int, free: Sequence[bool]) -> int:
    """Itself and the full ports just before it; none if it is full."""
    if not free[place]:
        return 0
    run = 1
    while run < len(free) and not free[place - run]:
        run += 1
    return run


UNEQUAL: Mapping[str, Sequence[float]] = {
    "the first of 4 ports full with 0.9, others with 0.1": (0.9, 0.1, 0.1, 0.1),
    "three neighbours of 8 ports full with 0.9, others with 0.1": (0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1),
}
"""Cases outside the proof of appendix E."""


def overload(spines: int, start: Start) -> Fields:
    """Build a leaf that receives more for a host than its link carries, and spines with room to deflect to."""
    rates = {"host_link": {"rate": "10 Gbps", "delay": "1 us"}, "core_link": {"rate": "40 Gbps", "delay": "1 us"}}
    flow = {"kind": "constant-rate", "sources": ["h2", "h3"], "destinations": ["h0", "h0"]}
    buffer = {"kind": "static", "per_port": "80 KB"}
    return scenarios.scenario(
        "port-choice",
        {"kind": "leaf-spine", "leaves": 2, "spines": spines, "hosts_per_leaf": 2, **rates},
        [{"name": "overload", "transport": "udp", **flow}],
        {"udp": {"kind": "udp", "rate": "6 Gbps"}},
        duration="4 ms",
        switch={"preset": "ideal", "depth_visible": "ingress-and-egress", "buffer": buffer},
        mechanism=[{"kind": "simple-deflection", "ports": ["leaf0"], "start": start}],
        measure={"throughput": [{"links": _uplinks(spines), "period": "4 ms"}]},
    )


def _uplinks(spines: int) -> list[str]:
    return [f"leaf0->spine{spine}" for spine in range(spines)]


def deflected(run: Run, spines: int) -> list[int]:
    """Packets that left by each port to a spine: only deflected ones do."""
    table = run.table("throughput")
    totals = [int(table.filter(pl.col("link") == link)["value_bytes"].sum()) for link in _uplinks(spines)]
    return [total // _FRAME_BYTES for total in totals]


_FRAME_BYTES = 1_518


@exhibit("pd/uniform", title="The first free port from a random one on: is the choice uniform?")
class Uniform(Exhibit):
    """Uniform where ports are equally likely to be full, and how far from it elsewhere."""

    def points(self, context: Context) -> Iterable[Point]:
        self._draws = context.length("draws for each case", full=1_000_000, quick=200_000)
        for ports in PORTS:
            yield Point(f"uniform {ports}", overload(ports, "uniform"), keep=("throughput",))
        yield Point("five-bit 8", overload(8, "five-bit"), keep=("throughput",))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        seed = 1 if context.seed is None else context.seed
        yield from _rejected_by_none(self._equal(seed), LEVEL / (len(PORTS) * len(FULL)))
        yield from self._unequal(seed)
        yield from _rejected_by_none((_simulated(runs, ports) for ports in PORTS), LEVEL / len(PORTS))
        yield from self._five_bit(seed)
        found = deflected(runs["five-bit 8"], 8)
        metric = "packets that leave by the first port, simulated switch"
        yield Row("five-bit number", "8 ports", metric, "%", 100 * found[0] / sum(found))

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        x = [str(port) for port in range(8)]
        series = []
        for name in ("uniform 8", "five-bit 8"):
            found = deflected(runs[name], 8)
            series.append(Series(name, x, [100 * count / sum(found) for count in found], style="bars"))
        yield Plot("Packets deflected to each port", "port", "share (%)", series)

    def _equal(self, seed: int) -> Iterator[Row]:
        """Equal probabilities, where equation 6 holds."""
        for ports in PORTS:
            tests = {full: self._test(ports, full, seed) for full in FULL}
            worst = min(tests, key=tests.__getitem__)
            metric = f"smallest p-value of {len(FULL)} chi-square tests"
            x = f"{ports} ports, full with 0 to 0.9"
            note = f"at {worst}; {self._draws:,} draws each"
            yield Row("circular first free", x, metric, "", tests[worst], note=note)

    def _test(self, ports: int, full: float, seed: int) -> float:
        return chi_square_p_value(counts([full] * ports, self._draws, seed))

    def _unequal(self, seed: int) -> Iterator[Row]:
        for x, full in UNEQUAL.items():
            found, fair = counts(full, self._draws, seed), fair_shares(full)
            shares = [count / sum(found) for count in found]
            most = max(range(len(full)), key=lambda port: shares[port] / fair[port])
            exact = circular_shares(full)[most] / fair[most]
            metric = "share of the favoured port, over that of a fair choice among free ports"
            note = f"port {most}: {100 * shares[most]:.1f} % instead of {100 * fair[most]:.1f} %"
            note = f"{note}; equation 3 says {exact:.4f} times"
            yield Row("circular first free", x, metric, "times", shares[most] / fair[most], note=note)

    def _five_bit(self, seed: int) -> Iterator[Row]:
        for ports in PORTS:
            found = counts([0.0] * ports, self._draws, seed, "five-bit")
            note = f"the authors' program; {100 / ports:.1f} % if it were uniform"
            share = 100 * found[0] / sum(found)
            yield Row("five-bit number", f"{ports} ports, all free", "choices of the first port", "%", share, note=note)


def _simulated(runs: Runs, ports: int) -> Row:
    found = deflected(runs[f"uniform {ports}"], ports)
    metric = "p-value of a chi-square test, packets by port of a simulated switch"
    note = f"{sum(found):,} packets"
    return Row("circular first free", f"{ports} ports", metric, "", chi_square_p_value(found), note=note)


def _rejected_by_none(rows: Iterable[Row], level: float) -> Iterator[Row]:
    """A uniform choice: the smallest p-value of all is judged."""
    found = list(rows)
    holds = all(row.measured is not None and row.measured > level for row in found)
    judge = Shape(holds, f"not rejected: no p-value is below {level:.2g}")
    yield from judged_once(found, judge, lambda p_value: -p_value)
