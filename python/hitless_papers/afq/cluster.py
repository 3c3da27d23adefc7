"""The simulated cluster of section 6.2: 288 hosts, 9 leaves, 4 spines, and flows between random hosts.

Sources of the values:

- Section 6.2.1: 32 hosts of 10 Gbps per leaf, 40 Gbps from each leaf to each spine, 512 KB per port of a leaf and 1 MB
  per port of a spine, a round trip of about 10 us over four hops, ECMP. Links of 850 ns make it 10.05 us, including the
  transmission of a full frame and its acknowledgement.
- Connections are open, and each flow starts with the window of a new connection: the paper simulates no handshake.
- The load is the utilization of the links between leaves and spines, including headers and acknowledgements; `sizes`
  derives the rate of flows from it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.checking import Fields
from hitless.simulation import Run
from hitless_papers import Context, Point, Runs
from hitless_papers.afq import flows
from hitless_papers.afq.schemes import Buffers, Scheme
from hitless_papers.afq.sizes import OVERHEAD_BYTES, Sizes

LEAVES, SPINES, HOSTS_PER_LEAF = 9, 4, 32
HOST_GBPS, CORE_GBPS = 10, 40
LINK_DELAY_NS = 850
CORE_BPS = LEAVES * SPINES * CORE_GBPS * 1e9

TABLES = ("flows", "messages")

BUFFERS = Buffers(
    "512 KB",
    {HOST_GBPS: "20 packets", CORE_GBPS: "80 packets"},
    ({"switches": [f"spine{number}" for number in range(SPINES)], "buffer": "1 MB"},),
)


def topology() -> Mapping[str, Any]:
    """Section 6.2.1."""
    link = {"delay": f"{LINK_DELAY_NS} ns"}
    return {
        "kind": "leaf-spine",
        "leaves": LEAVES,
        "spines": SPINES,
        "hosts_per_leaf": HOSTS_PER_LEAF,
        "host_link": {"rate": f"{HOST_GBPS} Gbps", **link},
        "core_link": {"rate": f"{CORE_GBPS} Gbps", **link},
    }


def core_ports() -> list[str]:
    pairs = [(f"leaf{leaf}", f"spine{spine}") for leaf in range(LEAVES) for spine in range(SPINES)]
    return [name for leaf, spine in pairs for name in (f"{leaf}->{spine}", f"{spine}->{leaf}")]


def flows_per_second(sizes: Sizes, load: float, duration_s: float) -> float:
    """How often a flow starts, anywhere, for core links to be used to ``load`` over the run."""
    hosts = LEAVES * HOSTS_PER_LEAF
    crossing = (hosts - HOSTS_PER_LEAF) / (hosts - 1)
    data, acknowledgements = sizes.wire_bytes(HOST_GBPS * 1e9, duration_s)
    return load * CORE_BPS / (8 * crossing * (data + acknowledgements))


@dataclass(frozen=True)
class ClusterCase:
    """A scheme under a workload at a load, in percent."""

    sizes: Sizes
    load: int
    scheme: Scheme

    @property
    def key(self) -> str:
        return f"{self.scheme.name} {self.load} %"

    def point(self, duration_ms: float, measure: Mapping[str, Any] | None = None, keep: Iterable[str] = ()) -> Point:
        return Point(self.key, self.scenario(duration_ms, measure or {}), keep=(*TABLES, *keep))

    def scenario(self, duration_ms: float, measure: Mapping[str, Any]) -> Fields:
        rate = flows_per_second(self.sizes, self.load / 100, duration_ms / 1e3)
        length, flows = f"{duration_ms} ms", [self.sizes.group(rate)]
        of = {"name": "cluster", "duration": length, "topology": topology(), "flows": flows, "measure": measure}
        return self.scheme.scenario(BUFFERS, **of)


def duration_ms(context: Context, quick: int) -> int:
    """Return the simulated time: 10 s in the paper."""
    return context.length("ms of traffic", full=10_000, normal=200, quick=quick)


def utilization(run: Run) -> float:
    """Return the utilization of the links between leaves and spines."""
    links = run.table("links").filter(pl.col("link").str.contains("leaf") & pl.col("link").str.contains("spine"))
    on_wire = int(links["arrived_bytes"].sum()) + OVERHEAD_BYTES * int(links["frames_arrived"].sum())
    return float(on_wire * 8 / (run.summary["simulated_s"] * 2 * CORE_BPS))


def idle_us(size_bytes: flows.Times, same_leaf: NDArray[np.bool_]) -> flows.Times:
    """Return completion times in the idle cluster."""
    delay_us = LINK_DELAY_NS / 1e3
    below = flows.idle_us(size_bytes, (HOST_GBPS, HOST_GBPS), 2 * delay_us)
    across = flows.idle_us(size_bytes, (HOST_GBPS, CORE_GBPS, CORE_GBPS, HOST_GBPS), 4 * delay_us)
    times: flows.Times = np.where(same_leaf, below, across)
    return times


def completion(run: Run) -> pl.DataFrame:
    """Return the finished flows, like `flows.with_idle_us`."""
    leaf = [pl.col(end).str.slice(1).cast(pl.Int64) // HOSTS_PER_LEAF for end in ("source", "destination")]
    ends = run.table("flows").select("flow", same_leaf=leaf[0] == leaf[1])
    done = flows.delivered(run).join(ends, on="flow")
    idle = idle_us(done["bytes"].to_numpy().astype(np.float64), done["same_leaf"].to_numpy())
    return done.drop("same_leaf").with_columns(idle_us=pl.Series(idle))


def compared(runs: Runs, cases: Sequence[ClusterCase]) -> flows.Compared:
    """The flows of cases that differ in their scheme only."""
    return flows.compared({case.scheme.name: runs[case.key] for case in cases}, completion)
