"""What rows of LinkGuardian's exhibits rest on: calibrated settings, finished flows, and links and queues of a run."""

import polars as pl

from hitless.simulation import Run
from hitless_papers import Share
from hitless_papers.linkguardian import testbed

KERNEL_NOTE = 'hosts as in the authors\' scripts, their delays calibrated on the column "No Loss" of table 2'
"""Of every number that kernel-based TCP makes."""

REPAIR_NOTE = "latency of repairs calibrated on the largest delay at 25G of figure 19"
"""Of every number that depends on how long LinkGuardian takes to repair."""

CARD_NOTE = "the jitter of the RDMA card is assumed"
"""Of every number that RDMA makes."""


def share(series: str, run: Run) -> Share:
    """How many messages of a scheme's run were delivered and acknowledged, of those that began."""
    return Share(series, len(run.completed_messages()), len(run.table("messages")))


def arrived_bytes(run: Run, link: str) -> int:
    """Bytes of the frames that arrived whole over a link."""
    return int(run.table("links").filter(pl.col("link") == link)["arrived_bytes"].sum())


def speed_percent(run: Run, rate_gbps: int, link: str = "sw6->h8", seconds: float | None = None) -> float:
    """Return full frames over a link, by default the one after the protected link, in percent of its line rate."""
    bits = arrived_bytes(run, link) * testbed.WIRE_BYTES / testbed.FRAME_BYTES * 8
    return 100 * bits / ((seconds or float(run.summary["simulated_s"])) * rate_gbps * 1e9)


def depths_bytes(run: Run, port: str) -> list[int]:
    values: list[int] = run.table("queues").filter(pl.col("port") == port)["value_bytes"].to_list()
    return values
