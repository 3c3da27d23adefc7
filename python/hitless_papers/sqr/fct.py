"""Completion times of short flows from h2 to h4, one at a time, while sw6 - sw10 fails: figures 3, 8, 10, 11 and 12.

A flow's completion time runs from the program's write, with which the connection is opened, to the arrival of the last
byte at the receiver: one and a half round trips for the smallest, as the paper's least, 157 us.

The paper sends 30 flows of each of 1,000 sizes, one after the other; here each flow's size is drawn from the same
distribution, and a flow starts every 4.1 ms: one that waits for a second holds up no other. Every 20 ms and up
to 12 ms later the link fails, so that failures meet every phase of the flows alike.

As the paper's flows follow each other at once, each failure meets the one that is in progress, and the next starts long
after the repair. Flows that start by the clock between a failure and its repair have no counterpart there. They are
left out everywhere but in the rows of figure 11 that sweep the time of the failure.

Of the others, hit is a flow that lost a frame to a failure, original or copy. Where SQR holds packets back until the
link is whole, nothing is lost after the detection, and a flow is hit as well when its packets came by in the meantime.
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
GIVEN_UP = (
    "packets sent unprotected",
    "copies refused by the buffer",
    "packets lost for want of buffer",
    "tags skipped",
)
"""The counters of what SQR could not protect."""


def checked(run: Run, column: str) -> int:
    """A column of the order checker, summed over the flows that SQR protects."""
    return int(protected(run)[column].sum())


def protected(run: Run) -> pl.DataFrame:
    """Return the flow table without the background."""
    return run.table("flows").filter(~pl.col("group").str.starts_with("background"))


def passes_per_copy(run: Run, switch: str | None = None) -> float:
    """How often a copy passes egress, on average, before it is retired or sent."""
    return run.counter("passes through the ring", switch) / max(1, run.counter("copies made", switch))


TABLES = ("flows", "messages", "failures")
WORKLOADS = {"web search": "websearch_dctcp_pias", "data mining": "datamining_vl2_pias"}
"""The paper's distributions, up to 100 KB."""
PERIOD_MS = 4.1
"""Between the starts of two flows. A multiple of the kernel's ticks would keep step with the timeouts."""
RANGES_KB = ((0, 10), (10, 50), (50, 100))
"""Figure 11 has three ranges of size; the text does not give them."""

TO_LINK_US = 26.0
FROM_LINK_US = 26.0
"""From a write to the failing link, and from there to the program: one kernel pass and a few switches."""

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
        """Do packets wait in the switch while the link is dead?"""
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
    """Build shuffles between h4 and the two others, a model of the paper's Spark queries of unknown volume.

    In a wave both others send 250 KB to h4 at once; waves in the other direction go to one of them. Ten waves of each
    kind come in a second, at random: 100 Mbps on the average, bursts at line rate. None of it is protected.
    """
    wave = {"transport": "background", "kind": "incast", "size": "250 KB", "queries_per_second": 10}
    return [
        {"name": "background in", "fan_in": 2, "servers": ["h1", "h2"], "clients": ["h4"], **wave},
        {"name": "background h1", "fan_in": 1, "servers": ["h4"], "clients": ["h1"], **wave},
        {"name": "background h2", "fan_in": 1, "servers": ["h4"], "clients": ["h2"], **wave},
    ]


def points(cases: Iterable[FlowCase], count: int) -> Iterable[Point]:
    """A run for each case; all meet the same flows, and failures at the same moments."""
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
    """The measured flows that completed and did not start in a failure, with ``fct_us``, ``bytes`` and ``is_hit``."""
    return all_flows(run, holds_back=holds_back).filter(~pl.col("starts_in_outage"))


def all_flows(run: Run, *, holds_back: bool) -> pl.DataFrame:
    """The measured flows that completed, and as well ``starts_in_outage`` and ``until_down_us``.

    The latter is the time from a flow's start to the failure that it is about to meet, or is in: negative then.
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
    """The times from each failure to the moment at which both ends of the link have a way again."""

    def __init__(self, failures: pl.DataFrame) -> None:
        self.down_ps = failures["down_ps"].to_numpy()
        recovered = np.maximum(failures["from_recovered_ps"].to_numpy(), failures["to_recovered_ps"].to_numpy())
        self.recovered_ps = np.where(recovered < 0, np.iinfo(np.int64).max, recovered)

    def meet(self, first_ps: Times, last_ps: Times) -> NDArray[np.bool_]:
        """Does an outage overlap with the time from ``first_ps`` to ``last_ps``?"""
        met: NDArray[np.bool_] = self.down_ps_of(first_ps) <= last_ps
        return met

    def down_ps_of(self, first_ps: Times) -> Times:
        """When the first outage that is not over at ``first_ps`` began or will begin; outages follow each other."""
        place = np.searchsorted(self.recovered_ps, first_ps, side="right")
        never = np.append(self.down_ps, np.iinfo(np.int64).max)
        found: Times = never[place]
        return found


def times_us(table: pl.DataFrame) -> Times:
    return table["fct_us"].to_numpy()


def flow_count(context: Context) -> int:
    return context.length("flows", full=30_000, quick=12_000)
