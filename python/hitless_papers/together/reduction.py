"""What is left of a run while it waits for the others."""

from dataclasses import replace

import polars as pl

from hitless.simulation import Run

TABLES = ("messages", "flows", "drops", "links", "mechanisms", "queues")
"""What the rows need."""


def reduced(run: Run) -> Run:
    """The run with the most that each queue had instead of all samples."""
    most = run.table("queues").group_by("port", maintain_order=True).agg(pl.col("value_bytes").max())
    return replace(run, tables={**run.tables, "queues": most})
