"""The published columns as files.

The published simulator writes tab-separated text with a header and two rows for each event: the state before it and the
state after it. This module writes the same columns in the same order, and also Parquet.
"""

from pathlib import Path

import polars as pl

from hitless.outcome.tables import system_errors
from hitless.whole_file import whole

SCHEMA: dict[str, type[pl.DataType]] = {
    "time": pl.Int64,
    "total_penalty": pl.Float64,
    "total_effective_penalty": pl.Float64,
    "avg_per_tor_paths": pl.Float64,
    "min_per_tor_paths": pl.UInt64,
    "avg_per_pod_capacity": pl.Float64,
    "min_per_pod_capacity": pl.Float64,
    "max_link_loss_rate": pl.Float64,
    "curr_disabled_links": pl.UInt64,
    "curr_corrupting_links": pl.UInt64,
    "max_lg_ports_per_pipe": pl.UInt64,
}
"""Names of the published columns: seconds, shares of frames, paths, Gb/s, counts."""


def write_published(rows: pl.DataFrame, path: Path) -> None:
    """Write rows in the format of the published simulator. Raises `OSError`."""
    with whole(path) as beside, system_errors(beside):
        rows.select(list(SCHEMA)).write_csv(beside, separator="\t")
