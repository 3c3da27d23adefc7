"""Facts and tables for the report of a scenario: topology, mechanisms, queues, links and counters."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from markupsafe import Markup

from hitless.outcome.facts import facts_of
from hitless.outcome.mechanisms import counters_above_zero
from hitless.outcome.scenario import scenario_of
from hitless.runs.result import Result, RowType
from hitless.topology import draw_topology
from hitless.whole_file import file_name

_MOST_ROWS = 40
_LINKS = ("link", "frames_sent", "frames_arrived", "frames_corrupted", "frames_lost_down")


@dataclass(frozen=True, slots=True)
class Table:
    """A table next to the rows."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left_out: int
    """Number of rows that are only in the file."""
    file: str
    """Parquet file with the whole table, in the folder of the page."""


def facts(result: Result[RowType]) -> list[tuple[str, str]]:
    """Describe the run in a few lines, from the effective scenario; empty for other work."""
    run = next((task.run for task in result.tasks if task.run is not None), None)
    return [] if run is None else facts_of(run.effective)


def network(result: Result[RowType]) -> Markup:
    """Draw the network of the run; empty for other work."""
    run = next((task.run for task in result.tasks if task.run is not None), None)
    if run is None or "topology" not in scenario_of(run.effective):
        return Markup("")
    return Markup(draw_topology(run.effective))  # noqa: S704 - the drawing escapes its texts


def tables(result: Result[RowType]) -> list[Table]:
    """Return the counters of mechanisms and links, without zeros."""
    folder = file_name(result.id)
    counters = counters_above_zero(result.tables.get("mechanisms"))
    labelled = counters.drop("counter").rename({"label": "counter"})
    made = [_table("Counters of mechanisms", labelled, labelled.columns, f"{folder}/mechanisms.parquet")]
    links = result.tables.get("links")
    # The columns of a table without rows are untyped.
    if links is not None and not links.is_empty() and set(_LINKS) <= set(links.columns):
        lost = pl.col("frames_corrupted") + pl.col("frames_lost_down")
        lossy = links.filter(lost > 0).sort(lost, descending=True)
        made.append(_table("Links that lost frames", lossy, _LINKS, f"{folder}/links.parquet"))
    return [table for table in made if table.rows]


def _table(title: str, table: pl.DataFrame, columns: Sequence[str], file: str) -> Table:
    cells = table.select(columns).iter_rows()
    rows = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in cells]
    header = [name.replace("_", " ") for name in columns]
    return Table(title, header, rows[:_MOST_ROWS], max(0, len(rows) - _MOST_ROWS), file)
