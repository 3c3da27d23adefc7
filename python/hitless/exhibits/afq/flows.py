"""Flows that several schemes were given, and how long each took under each.

A completion time runs from the start of a flow to the arrival of its last byte. It is shown divided by what the flow
would take in an idle network without a transport that holds it back: the normalization of figures 7 to 9. A mean over
flows is the mean of the completion times divided by the mean of the idle times.

Schemes meet the same flows. Those that are compared are the flows that finished under every scheme: the paper has those
that finished, of each scheme its own, in a run that is much longer.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.exhibits.afq.sizes import FRAME_BYTES, HEADER_BYTES, MSS_BYTES, OVERHEAD_BYTES, SHORT_BYTES
from hitless.simulation import Run

Times = NDArray[np.float64]


def idle_us(size_bytes: Times, rates_gbps: Sequence[float], fixed_us: float) -> Times:
    """Completion times in an idle network of flows that nothing holds back.

    Their frames pass links of these rates one behind the other. The slowest link takes them all; on each other one the
    last of them, which is a full one or waits for one, is a frame's time later. ``fixed_us`` is what does not depend on
    sizes: propagation, pipelines, stacks.
    """
    frames = np.ceil(size_bytes / MSS_BYTES)
    on_wire = size_bytes + frames * (HEADER_BYTES + OVERHEAD_BYTES)
    largest = np.where(frames > 1, FRAME_BYTES + OVERHEAD_BYTES, on_wire)
    others = sum(8 / (rate * 1e3) for rate in rates_gbps) - 8 / (min(rates_gbps) * 1e3)
    times: Times = on_wire * 8 / (min(rates_gbps) * 1e3) + largest * others + fixed_us
    return times


def delivered(run: Run) -> pl.DataFrame:
    """The flows that finished: ``flow``, ``bytes``, ``started_ps``, ``fct_us``."""
    fct = (pl.col("delivered_ps") - pl.col("started_ps")) / 1e6
    return run.completed_messages().select("flow", "bytes", "started_ps", fct_us=fct)


class Compared:
    """Flows that finished under all schemes, by the schemes' names, each with its time under each.

    The columns of ``all``: ``flow``, ``bytes``, ``started_ps``, ``idle_us``, and one for each scheme, in microseconds.
    """

    def __init__(self, tables: Mapping[str, pl.DataFrame]) -> None:
        self.names = list(tables)
        first, *_ = tables.values()
        joined = first.select("flow", "bytes", "started_ps", "idle_us")
        for name, table in tables.items():
            joined = joined.join(table.select("flow", pl.col("fct_us").alias(name)), on="flow")
        self.all = joined.sort("started_ps")
        self._most = max(len(table) for table in tables.values())

    @property
    def missing_percent(self) -> float:
        """Flows that finished under one scheme at least, but not under all."""
        return 100 * (1 - len(self.all) / self._most)

    def of_sizes(self, low: float, high: float) -> pl.DataFrame:
        """Those above ``low`` bytes, up to ``high``."""
        return self.all.filter((pl.col("bytes") > low) & (pl.col("bytes") <= high))

    @property
    def short(self) -> pl.DataFrame:
        """Those below 100 KB."""
        return self.of_sizes(0, SHORT_BYTES - 1)
