"""The report's page: one self-contained file."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2
from markupsafe import Markup

from hitless.analysis.intervals import format_interval
from hitless.drawing.canvas import NARROW, WIDE
from hitless.drawing.palette import Palette
from hitless.drawing.plot import Plot
from hitless.drawing.svg import ALONE_STYLE, draw
from hitless.numbers import format_number
from hitless.report import scenario
from hitless.runs.result import Measurement, Result, RowType
from hitless.visible import visible

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
        "plots": [_plot(plot, palette) for plot in plots],
        "facts": scenario.facts(result) if is_own else [],
        "network": scenario.network(result) if is_own else "",
        "tables": scenario.tables(result) if is_own else [],
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


def _plot(plot: Plot, palette: Palette) -> dict[str, Any]:
    """Return a plot in both sizes; drawing escapes every text in them."""
    wide, narrow = (Markup(draw(plot, palette, size)) for size in (WIDE, NARROW))  # noqa: S704 - escaped there
    return {"title": plot.title, "caption": plot.caption, "wide": wide, "narrow": narrow}
