"""How fairly flows share: Jain's index, of anything and over time.

The summary of a run has the index of each group's mean rates, under ``fairness``. What happens within a run needs
samples of its flows: ``[[measure.flow]]`` in the scenario, whose table ``flow_progress`` is what is read here.
"""

from typing import TYPE_CHECKING

import numpy as np

from hitless.analysis.intervals import Sample

if TYPE_CHECKING:
    import polars as pl


def jain_index(shares: Sample) -> float:
    """Jain's fairness index (Jain, Chiu and Hawe 1984): 1 if all have the same, 1/n if one of n has all.

    Not a number without shares, or if nobody has anything.
    """
    values = np.asarray(shares, dtype=np.float64)
    squares = float(np.square(values).sum())
    return float(values.sum()) ** 2 / (values.size * squares) if squares > 0.0 else float("nan")


def fairness_over_time(flow_progress: "pl.DataFrame", group: str) -> "pl.DataFrame":
    """Jain's index of what the flows of a group were delivered in each interval between two samples.

    A flow counts in the intervals at both ends of which it was under way. Columns: ``time_ps``, the end of the
    interval, ``flows``, how many counted, and ``jain``; intervals with fewer than two flows, or in which nothing was
    delivered, are left out.
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
