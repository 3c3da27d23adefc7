"""What is left of a run while it waits for the others: a full one has millions of flows, and an exhibit 190 runs."""

from dataclasses import replace

import polars as pl

from hitless.simulation import Run

_SUMMED = ("delivered_bytes", "packets_sent", "packets_received", "packets_reordered", "packets_arrived_late")
_OF_MESSAGES = ("group", "query", "bytes", "started_ps", "requested_ps", "delivered_ps")


def reduced(run: Run) -> Run:
    """The run with sums of its flows for each group instead of them, and of messages only what statistics need."""
    flows, messages = run.table("flows"), run.table("messages")
    sums = [pl.col(name).sum() for name in _SUMMED if name in flows.columns]
    narrow = pl.col("group").cast(pl.Categorical), pl.col("query").cast(pl.UInt32, strict=False)
    tables = {
        "flows": flows.group_by("group", maintain_order=True).agg(sums),
        "messages": messages.select(_OF_MESSAGES).with_columns(narrow),
    }
    return replace(run, tables={**run.tables, **tables})
