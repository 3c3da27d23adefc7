"""Facts and tables for the report of a scenario: topology, mechanisms, queues, links and counters."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from hitless.outcome.facts import facts_of
from hitless.runs.result import Result, RowType

_MOST_ROWS = 40
_COUNTERS = ("switch", "mechanism", "scope", "counter", "value")
_LINKS = ("link", "frames_sent", "frames_arrived", "frames_corrupted", "frames_lost_down")


@dataclass(frozen=True, slots=True)
class Table:
    """A table next to the rows."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left_out: int
    """Number of rows that are only in the Parquet file."""


def facts(result: Result[RowType]) -> list[tuple[str, str]]:
    """Describe the run in a few lines, from the effective scenario; empty for other work."""
    run = next((task.run for task in result.tasks if task.run is not None), None)
    return [] if run is None else facts_of(run.effective)


def tables(result: Result[RowType]) -> list[Table]:
    """Return the counters of mechanisms and links, without zeros."""
    made = []
    # The columns of a table without rows are untyped.
    counters, links = (_filled(result.tables.get(name)) for name in ("mechanisms", "links"))
    if counters is not None and set(_COUNTERS) <= set(counters.columns):
        counted = (pl.col("value") > 0) & ~pl.col("counter").str.starts_with("resources:")
        made.append(_table("Counters of mechanisms", counters.filter(counted), _COUNTERS))
    if links is not None and set(_LINKS) <= set(links.columns):
        lost = pl.col("frames_corrupted") + pl.col("frames_lost_down")
        made.append(_table("Links that lost frames", links.filter(lost > 0).sort(lost, descending=True), _LINKS))
    return [table for table in made if table.rows]


def _filled(table: pl.DataFrame | None) -> pl.DataFrame | None:
    return None if table is None or table.is_empty() else table


def _table(title: str, table: pl.DataFrame, columns: Sequence[str]) -> Table:
    cells = table.select(columns).iter_rows()
    rows = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in cells]
    header = [name.replace("_", " ") for name in columns]
    return Table(title, header, rows[:_MOST_ROWS], max(0, len(rows) - _MOST_ROWS))
