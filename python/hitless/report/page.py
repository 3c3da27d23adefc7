"""The report's page: one file, everything within it, nothing fetched."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jinja2
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from hitless.exhibits.campaign import Result
from hitless.exhibits.judge import VERDICTS
from hitless.exhibits.model import Row
from hitless.exhibits.numbers import format_interval, format_number, format_paper
from hitless.report.figures import Painter


def render_report(results: Sequence[Result], manifest: Mapping[str, Any]) -> str:
    """The page as HTML."""
    painter = Painter()
    exhibits = [_exhibit(result, painter) for result in results]
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("hitless.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["number"] = format_number
    has_plots = any(exhibit["plots"] for exhibit in exhibits)
    return environment.get_template("report.html.j2").render(
        exhibits=exhibits,
        manifest=manifest,
        verdicts=_counted(row["verdict"] for exhibit in exhibits for row in exhibit["rows"]),
        # A library of 4 MB, inlined once, and only when there is something to draw.
        plotly=Markup(get_plotlyjs()) if has_plots else "",  # noqa: S704 - the library itself
    )


def _counted(verdicts: Iterable[str]) -> dict[str, int]:
    """How many there are of each verdict that there is."""
    counts = Counter(verdicts)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def _exhibit(result: Result, painter: Painter) -> dict[str, Any]:
    return {
        "id": result.entry.id,
        "title": result.entry.title,
        "seed": result.seed,
        "wall_s": result.wall_s,
        "complete": result.complete,
        "failures": [str(failure) for failure in result.failures],
        "shortened": list(result.shortened),
        "rows": [_row(row) for row in result.rows],
        "plots": [
            {"title": plot.title, "caption": plot.caption, "figure": _json(painter, plot)} for plot in result.plots
        ],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        **row.as_json(),
        "paper": format_paper(row.paper),
        "rule": row.judgement.reason or row.judge.rule,
        "interval": format_interval(row.interval),
    }


def _json(painter: Painter, plot: Any) -> Markup:
    """The figure as JSON that can stand in a script element: no text in it can end the element."""
    text: str = painter.draw(plot).to_json()
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - escaped on this line
