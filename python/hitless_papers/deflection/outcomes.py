"""Outcomes of a run: completion of queries and flows, goodput of large flows, reordering, drops, and its load."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from hitless.simulation import Run
from hitless_papers.deflection.setting import BACKGROUND, QUERIES
from hitless_papers.deflection.statistics import Durations

ELEPHANT_BYTES = 10_000_000
"""Background flows from this size on are elephants (section 5.3, and the authors' scripts). The public table of
cache-follower sizes ends at 3.8 MB, the table of web search has elephants."""

IS_ELEPHANT = pl.col("bytes") >= ELEPHANT_BYTES
_PS = 1e12


def _times(table: pl.DataFrame, end_s: float) -> Durations:
    """Read durations from rows with ``requested_ps``, ``delivered_ps`` and ``is_complete``."""
    requested = table["requested_ps"].to_numpy().astype(np.float64) / _PS
    delivered = table["delivered_ps"].to_numpy().astype(np.float64) / _PS
    complete = table["is_complete"].to_numpy()
    return Durations(requested, np.where(complete, delivered, end_s) - requested, complete)


def _messages(run: Run, group: str) -> pl.DataFrame:
    """The messages of a group; where nothing is ever requested, a message counts from its start."""
    found = run.table("messages").filter(pl.col("group") == group)
    begins = "requested_ps" if found["requested_ps"].max() not in {None, -1} else "started_ps"
    return found.with_columns(requested_ps=pl.col(begins), is_complete=pl.col("delivered_ps") >= 0)


def queries(run: Run, fan_in: int) -> Durations:
    """Return the duration of each requested query: from its first request to the last byte of its last answer."""
    sent = _messages(run, QUERIES).filter(pl.col("requested_ps") >= 0)
    of_query = sent.group_by("query", maintain_order=True).agg(
        pl.col("requested_ps").min(), pl.col("delivered_ps").max(), is_complete=pl.col("is_complete").sum() == fan_in
    )
    return _times(of_query, run.summary["simulated_s"])


def flows(run: Run, group: str = BACKGROUND) -> Durations:
    """Of the flows of a group: from the request, or where that was never sent, from the start; to the last byte."""
    found = _messages(run, group)
    begins = pl.when(pl.col("requested_ps") >= 0).then("requested_ps").otherwise("started_ps")
    return _times(found.with_columns(requested_ps=begins), run.summary["simulated_s"])


def requested(run: Run, group: str, *conditions: pl.Expr) -> Durations:
    """Return the durations of the requested flows of a group that meet the conditions."""
    asked = _messages(run, group).filter(pl.col("requested_ps") >= 0, *conditions)
    return _times(asked, run.summary["simulated_s"])


def elephant_goodput_bps(run: Run) -> float | None:
    """Mean over the complete elephants of size over completion time."""
    found = _messages(run, BACKGROUND).filter(IS_ELEPHANT & pl.col("is_complete"))
    if found.is_empty():
        return None
    times = (found["delivered_ps"] - found["requested_ps"]).to_numpy() / _PS
    return float(np.mean(found["bytes"].to_numpy() * 8 / times))


def reordered_percent(run: Run) -> float | None:
    """Return the percentage of received packets that arrived after a later packet of their flow.

    Retransmissions count too. A reorder buffer, if there is one, counts them.
    """
    flows = run.table("flows")
    late = "packets_arrived_late" if "packets_arrived_late" in flows.columns else "packets_reordered"
    received = int(flows["packets_received"].sum())
    return 100 * float(flows[late].sum()) / received if received else None


IN_HOSTS = (
    "network card full",
    "arrived after the end of the flow",
    "addressed to another host",
    "copy of a packet held for order",
)
"""Reasons of drops in hosts: a scheme that reorders causes retransmissions that nobody needs."""


def dropped_percent(run: Run) -> float | None:
    """Packets dropped in switches, acknowledgements too, in percent of the data packets that hosts sent."""
    sent = int(run.table("flows")["packets_sent"].sum())
    return 100 * dropped_in_switches(run.summary.drops) / sent if sent else None


def dropped_in_switches(drops: Mapping[str, int]) -> int:
    return sum(count for reason, count in drops.items() if reason not in IN_HOSTS)


def offered_percent(run: Run, capacity_bps: float) -> float:
    """The load that a run had: sizes of the flows that began, payload only, over the simulated time."""
    offered = int(run.table("messages")["bytes"].sum())
    return float(100 * (offered * 8 / run.summary["simulated_s"]) / capacity_bps)
