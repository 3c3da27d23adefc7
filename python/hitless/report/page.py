"""The report's page: one self-contained file."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jinja2
import polars as pl
from markupsafe import Markup

from hitless.analysis.intervals import format_interval
from hitless.drawing.canvas import NARROW, WIDE
from hitless.drawing.palette import Palette
from hitless.drawing.plot import Plot
from hitless.drawing.svg import ALONE_STYLE, draw
from hitless.numbers import format_number
from hitless.outcome.mechanisms import counters_above_zero
from hitless.outcome.scenario import facts_of, scenario_of
from hitless.runs.result import Measurement, Result, RowType
from hitless.topology import draw_topology
from hitless.visible import visible
from hitless.whole_file import file_name

OWN = "run"
"""The kind of a result for a user's scenario."""


def render_report(results: Sequence[Result[RowType]], manifest: Mapping[str, Any]) -> str:
    palette = Palette(itertools.chain(*(result.plots for result in results)))
    return render_sections([section(result, result.plots, palette) for result in results], manifest)


def render_sections(
    sections: Sequence[Mapping[str, Any]],
    manifest: Mapping[str, Any],
    *,
    template: str = "report.html.j2",
    templates: Sequence[str] = (),
    **more: Any,
) -> str:
    """Return the page from the output of `section`; ``templates`` are packages with further templates."""
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package) for package in ("hitless.report", *templates)]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["number"] = format_number
    known = {"verdicts": {}, "words": {}, **more}
    page = environment.get_template(template)
    return visible(page.render(exhibits=sections, manifest=manifest, picture_style=ALONE_STYLE, **known))


def named_plots(results: Sequence[Result[RowType]]) -> dict[str, Plot]:
    """Return each plot with a name."""
    return {f"{result.id}-{number}": plot for result in results for number, plot in enumerate(result.plots, start=1)}


def section(result: Result[RowType], plots: Sequence[Plot], palette: Palette) -> dict[str, Any]:
    """Return the part of the page about one result, with these plots."""
    is_own = result.kind == OWN
    effective = next((task.run.effective for task in result.tasks if task.run is not None), "") if is_own else ""
    has_network = "topology" in scenario_of(effective)
    rows = [row_of_table(row) for row in result.rows]
    return {
        "id": result.id,
        "title": result.title,
        "seeds": f"Seed {result.seed}" if len(result.seeds) < 2 else f"Seeds {', '.join(map(str, result.seeds))}",
        "wall_s": result.wall_s,
        "complete": result.complete,
        "failures": [str(failure) for failure in result.failures],
        "shortened": list(result.shortened),
        "has_paper": False,
        "judged": noted_once(rows),
        "unjudged": [],
        "plots": [plot_drawing(plot, palette) for plot in plots],
        "facts": facts_of(effective) if effective else [],
        # The drawing escapes its texts.
        "network": Markup(draw_topology(effective)) if has_network else "",  # noqa: S704
        "tables": _tables(result) if is_own else [],
    }


def row_of_table(row: Measurement) -> dict[str, Any]:
    """Return a row for the page's table."""
    return {**row.as_json(), "paper": row.reference, "interval": format_interval(row.interval)}


def noted_once(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows; several consecutive rows with the same note show it only below the last of them."""
    made = []
    for row, following in itertools.zip_longest(rows, rows[1:]):
        is_repeated = following is not None and following["note"] == row["note"]
        made.append({**row, "note": "" if is_repeated else row["note"]})
    return made


def plot_drawing(plot: Plot, palette: Palette) -> dict[str, Any]:
    """Return a plot in both sizes; drawing escapes every text in them."""
    wide, narrow = (Markup(draw(plot, palette, size)) for size in (WIDE, NARROW))  # noqa: S704 - escaped there
    return {"title": plot.title, "caption": plot.caption, "wide": wide, "narrow": narrow}


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


def _tables(result: Result[RowType]) -> list[Table]:
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
