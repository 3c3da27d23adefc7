"""Completion times of short flows from h2 to h4, one at a time, while sw6 - sw10 fails: figures 3, 8, 10, 11 and 12.

A flow's completion time starts with the program's write, which also opens the connection, and ends when the last byte
arrives at the receiver. The smallest flows take 1.5 round trips, like the paper's minimum of 157 us.

The paper sends 30 flows of each of 1,000 sizes, one after the other. Here each flow's size is drawn from the same
distribution, and a flow starts every 4.1 ms, so a flow that waits for a second does not delay others. The link fails
every 20 ms plus up to 12 ms of jitter, so failures hit all phases of the flows equally.

The paper's flows start back to back: each failure hits the flow in progress, and the next flow starts long after the
repair. Flows that start here between a failure and its repair do not occur in the paper. They are excluded, except in
the rows of figure 11 that sweep the time of the failure.

A flow is hit if it lost a frame, original or copy, to a failure. If SQR holds packets back until the link is repaired,
no packet is lost after the detection; then a flow is also hit if its packets arrived during the outage.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.simulation import Run
from hitless_papers import Context, Point, Share
from hitless_papers.sqr import testbed

CHECKED = ("network_packets_lost", "network_packets_reordered", "network_packets_duplicated")
GIVEN_UP = {
    "packets_sent_unprotected": "packets sent unprotected",
    "copies_refused": "copies refused by the buffer",
    "packets_lost_without_buffer": "packets lost for want of buffer",
    "tags_skipped": "tags skipped",
}
"""Counters of packets that SQR could not protect, with the names of their rows."""


def checked(run: Run, column: str) -> int:
    """Sum a column of the order checker over the flows that SQR protects."""
    return int(protected(run)[column].sum())


def protected(run: Run) -> pl.DataFrame:
    """Return the flow table without the background."""
    return run.table("flows").filter(~pl.col("group").str.starts_with("background"))


def passes_per_copy(run: Run, switch: str | None = None) -> float:
    """Return the mean number of passes of a copy through egress before it is discarded or sent."""
    return run.counter("ring_passes", switch) / max(1, run.counter("copies_made", switch))


TABLES = ("flows", "messages", "failures")
WORKLOADS = {"web search": "websearch_dctcp_pias", "data mining": "datamining_vl2_pias"}
"""Size distributions of the paper, up to 100 KB."""
PERIOD_MS = 4.1
"""Period of flow starts. A multiple of the kernel's ticks would synchronize with the timeouts."""
RANGES_KB = ((0, 10), (10, 50), (50, 100))
"""Size ranges of figure 11, assumed: the text does not give its three ranges."""

TO_LINK_US = 26.0
FROM_LINK_US = 26.0
"""Delay from a write to the failing link, and from the link to the program: a kernel pass and a few switches each."""

Times = NDArray[np.float64]


@dataclass(frozen=True)
class FlowCase:
    workload: str
    scheme: str

    @property
    def key(self) -> str:
        return f"{self.workload} {self.scheme}"

    @property
    def holds_back(self) -> bool:
        """Do packets wait in the switch while the link is down?"""
        recovery, has_sqr = testbed.SCHEMES[self.scheme]
        return has_sqr and recovery["kind"] == "same-port"


def short_flows(workload: str, count: int) -> Mapping[str, Any]:
    return {
        "name": "short",
        "transport": "tcp",
        "kind": "schedule",
        "sources": ["h2"],
        "destinations": ["h4"],
        "port": testbed.PORT,
        "period": f"{PERIOD_MS} ms",
        "count": count,
        "sizes": {"kind": "cdf", "table": WORKLOADS[workload], "largest": "100 KB"},
    }


def background() -> list[Mapping[str, Any]]:
    """Build shuffles between h4 and two other hosts, a model of the paper's Spark queries of unknown volume.

    In a wave both hosts send 250 KB to h4 simultaneously; a wave in the other direction goes to one of them. Each kind
    has 10 waves per second, at random times: 100 Mb/s on average, in bursts at line rate. SQR does not protect them.
    """
    wave = {"transport": "background", "kind": "incast", "size": "250 KB", "queries_per_second": 10}
    return [
        {"name": "background in", "fan_in": 2, "servers": ["h1", "h2"], "clients": ["h4"], **wave},
        {"name": "background h1", "fan_in": 1, "servers": ["h4"], "clients": ["h1"], **wave},
        {"name": "background h2", "fan_in": 1, "servers": ["h4"], "clients": ["h2"], **wave},
    ]


def points(cases: Iterable[FlowCase], count: int) -> Iterable[Point]:
    """Yield a run for each case; all runs have the same flows and failures."""
    for case in cases:
        recovery, has_sqr = testbed.SCHEMES[case.scheme]
        stop = testbed.milliseconds(PERIOD_MS * count)
        made = testbed.scenario(
            "short-flows",
            [short_flows(case.workload, count), *({**group, "stop": stop} for group in background())],
            transports={"tcp": testbed.TCP, "background": {**testbed.TCP, "handshake": False}},
            failures=[testbed.failures(recovery)],
            recovery=testbed.recovery(recovery),
            sqr={} if has_sqr else None,
            measure={"order": True},
        )
        yield Point(case.key, made, keep=TABLES)


def flows(run: Run, *, holds_back: bool) -> pl.DataFrame:
    """Return the completed flows that did not start in an outage, with ``fct_us``, ``bytes`` and ``is_hit``."""
    return all_flows(run, holds_back=holds_back).filter(~pl.col("starts_in_outage"))


def all_flows(run: Run, *, holds_back: bool) -> pl.DataFrame:
    """Return all completed flows, additionally with ``starts_in_outage`` and ``until_down_us``.

    ``until_down_us`` is the time from a flow's start to the next failure. It is negative in an outage, from its start.
    """
    sizes = run.completed_messages().select("flow", "bytes", "delivered_ps")
    table = protected(run).join(sizes, on="flow")
    outages = Outages(run.table("failures"))
    started, delivered = table["started_ps"].to_numpy(), table["delivered_ps"].to_numpy()
    is_hit = table["frames_lost_to_failures"].to_numpy() > 0
    if holds_back:
        is_hit |= outages.meet(started + TO_LINK_US * 1e6, delivered - FROM_LINK_US * 1e6)
    columns = {
        "fct_us": (delivered - started) / 1e6,
        "is_hit": is_hit,
        "starts_in_outage": outages.meet(started, started),
        "until_down_us": (outages.down_ps_of(started) - started) / 1e6,
    }
    return table.with_columns(pl.Series(name, values) for name, values in columns.items())


def share(run: Run, series: str) -> Share:
    begun = protected(run)
    finished = begun.join(run.completed_messages().select("flow").unique(), on="flow", how="semi")
    return Share(series, finished.height, begun.height)


class Outages:
    """Outages: from each failure until both ends of the link have a path again."""

    def __init__(self, failures: pl.DataFrame) -> None:
        self.down_ps = failures["down_ps"].to_numpy()
        recovered = np.maximum(failures["from_recovered_ps"].to_numpy(), failures["to_recovered_ps"].to_numpy())
        self.recovered_ps = np.where(recovered < 0, np.iinfo(np.int64).max, recovered)

    def meet(self, first_ps: Times, last_ps: Times) -> NDArray[np.bool_]:
        """Does an outage overlap the interval from ``first_ps`` to ``last_ps``?"""
        met: NDArray[np.bool_] = self.down_ps_of(first_ps) <= last_ps
        return met

    def down_ps_of(self, first_ps: Times) -> Times:
        """Return the start of the first outage that ends after ``first_ps``; outages do not overlap."""
        place = np.searchsorted(self.recovered_ps, first_ps, side="right")
        never = np.append(self.down_ps, np.iinfo(np.int64).max)
        found: Times = never[place]
        return found


def times_us(table: pl.DataFrame) -> Times:
    return table["fct_us"].to_numpy()


def flow_count(context: Context) -> int:
    return context.length("flows", full=30_000, quick=9_000)
