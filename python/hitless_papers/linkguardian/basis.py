"""Common parts of LinkGuardian's rows: notes about calibration, and measurements of flows, links and queues."""

import polars as pl

from hitless.simulation import Run
from hitless_papers import Share
from hitless_papers.linkguardian import testbed

KERNEL_NOTE = 'hosts as in the authors\' scripts, their delays calibrated on the column "No Loss" of table 2'
"""Note of every number that depends on TCP in a kernel."""

REPAIR_NOTE = "latency of repairs calibrated on the largest delay at 25G of figure 19"
"""Note of every number that depends on LinkGuardian's repair time."""

CARD_NOTE = "the jitter of the RDMA card is assumed"
"""Note of every number that depends on RDMA."""


def share(series: str, run: Run) -> Share:
    """Return the share of messages that were delivered and acknowledged."""
    return Share(series, len(run.completed_messages()), len(run.table("messages")))


def arrived_bytes(run: Run, link: str) -> int:
    """Return the bytes of the frames that arrived intact over a link."""
    return int(run.table("links").filter(pl.col("link") == link)["arrived_bytes"].sum())


def speed_percent(run: Run, rate_gbps: int, link: str = "sw6->h8", seconds: float | None = None) -> float:
    """Return the rate of full frames in percent of line rate; the default link follows the protected one."""
    bits = arrived_bytes(run, link) * testbed.WIRE_BYTES / testbed.FRAME_BYTES * 8
    return 100 * bits / ((seconds or float(run.summary["simulated_s"])) * rate_gbps * 1e9)


def depths_bytes(run: Run, port: str) -> list[int]:
    values: list[int] = run.table("queues").filter(pl.col("port") == port)["value_bytes"].to_list()
    return values
