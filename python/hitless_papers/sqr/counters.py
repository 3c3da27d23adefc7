"""Reading what SQR, the order checker and the links counted in a run."""

import polars as pl

from hitless.simulation import Run

CHECKED = ("network_packets_lost", "network_packets_reordered", "network_packets_duplicated")
GIVEN_UP = (
    "packets sent unprotected",
    "copies refused by the buffer",
    "packets lost for want of buffer",
    "tags skipped",
)
"""The counters of what SQR could not protect."""


def counter(run: Run, name: str, switch: str | None = None) -> int:
    """A counter of SQR, summed over its ports and switches, or over those of ``switch``."""
    table = run.table("mechanisms").filter((pl.col("mechanism") == "sqr") & (pl.col("counter") == name))
    if table.is_empty():
        raise KeyError(f"SQR has no counter {name!r}")
    if switch is not None:
        table = table.filter(pl.col("switch") == switch)
    return int(table["value"].sum())


def checked(run: Run, column: str) -> int:
    """A column of the order checker, summed over the flows that SQR protects."""
    return int(protected(run)[column].sum())


def protected(run: Run) -> pl.DataFrame:
    """The flow table without the background."""
    return run.table("flows").filter(~pl.col("group").str.starts_with("background"))


def passes_per_copy(run: Run, switch: str | None = None) -> float:
    """How often a copy passes egress, on average, before it is retired or sent."""
    return counter(run, "passes through the ring", switch) / max(1, counter(run, "copies made", switch))
