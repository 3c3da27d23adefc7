"""Fairness between flows: Jain's index, for any shares and over time.

The summary of a run holds the index of each group's mean rates under ``fairness``. Fairness within a run needs samples
of its flows: set ``[[measure.flow]]`` in the scenario and read its table ``flow_progress`` with this module.
"""

from typing import TYPE_CHECKING

import numpy as np

from hitless.analysis.intervals import Sample

if TYPE_CHECKING:
    import polars as pl


def jain_index(shares: Sample) -> float:
    """Return Jain's fairness index (Jain, Chiu and Hawe 1984): 1 if all shares are equal, 1/n if one has everything.

    Return NaN without shares, or if all shares are zero.
    """
    values = np.asarray(shares, dtype=np.float64)
    squares = float(np.square(values).sum())
    return float(values.sum()) ** 2 / (values.size * squares) if squares > 0.0 else float("nan")


def fairness_over_time(flow_progress: "pl.DataFrame", group: str) -> "pl.DataFrame":
    """Return Jain's index of the data delivered to each flow of a group in each interval between two samples.

    An interval counts a flow that was active at both of its ends. Columns: ``time_ps``, the end of the interval;
    ``flows``, the number of flows counted; and ``jain``. Intervals with fewer than two flows, or without any delivery,
    are omitted.
    """
    import polars as pl  # noqa: PLC0415 - daemons have use for intervals, and none for frames

    delivered = (
        flow_progress.filter(pl.col("group") == group)
        .sort("flow", "time_ps")
        .with_columns(bytes=pl.col("delivered_bytes").cast(pl.Float64).diff().over("flow"))
        .drop_nulls("bytes")
    )
    summed = delivered.group_by("time_ps").agg(
        flows=pl.len().cast(pl.UInt32), total=pl.col("bytes").sum(), squares=(pl.col("bytes") ** 2).sum()
    )
    meaningful = summed.filter((pl.col("flows") > 1) & (pl.col("squares") > 0.0))
    jain = pl.col("total") ** 2 / (pl.col("flows") * pl.col("squares"))
    return meaningful.select("time_ps", "flows", jain=jain).sort("time_ps")
