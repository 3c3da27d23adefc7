"""Reading what LinkGuardian counted in a run."""

import polars as pl

from hitless.simulation import Run
from hitless_papers.linkguardian import testbed


def counter(run: Run, switch: str, name: str) -> int:
    """A counter of LinkGuardian at a switch, summed over its ports."""
    table = run.table("mechanisms").filter((pl.col("switch") == switch) & (pl.col("counter") == name))
    if table.is_empty():
        raise KeyError(f"LinkGuardian at {switch} has no counter {name!r}")
    return int(table["value"].sum())


def arrived_bytes(run: Run, link: str) -> int:
    """Bytes of the frames that arrived whole over a link."""
    return int(run.table("links").filter(pl.col("link") == link)["arrived_bytes"].sum())


def speed_percent(run: Run, rate_gbps: int, link: str = "sw6->h8", seconds: float | None = None) -> float:
    """Full frames delivered over a link, by default the one behind the protected one, in percent of its line rate."""
    bits = arrived_bytes(run, link) * testbed.WIRE_BYTES / testbed.FRAME_BYTES * 8
    return 100 * bits / ((seconds or float(run.summary["simulated_s"])) * rate_gbps * 1e9)


def depths_bytes(run: Run, port: str) -> list[int]:
    """The samples of a port's queue."""
    values: list[int] = run.table("queues").filter(pl.col("port") == port)["value_bytes"].to_list()
    return values
