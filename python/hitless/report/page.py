"""The report's page: one file, everything within it, nothing fetched."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import jinja2
from markupsafe import Markup

from hitless.answer.screen import first_screen
from hitless.exhibits.campaign import Result
from hitless.exhibits.judge import VERDICT_WORDS, VERDICTS
from hitless.exhibits.model import Row
from hitless.exhibits.numbers import format_interval, format_paper
from hitless.numbers import format_number
from hitless.plot import Plot
from hitless.report import scenario
from hitless.report.canvas import NARROW, WIDE
from hitless.report.drawing import ALONE_STYLE, draw
from hitless.report.palette import Palette
from hitless.report.paper_points import with_papers_points
from hitless.visible import visible

OWN = "run"
"""What stands before the slash of a scenario of the user's own."""


def render_report(results: Sequence[Result], manifest: Mapping[str, Any]) -> str:
    """The page as HTML."""
    plots = [_plots(result) for result in results]
    palette = Palette(itertools.chain(*plots))
    exhibits = [_exhibit(result, own, palette) for result, own in zip(results, plots, strict=True)]
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("hitless.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["number"] = format_number
    has_paper = any(exhibit["has_paper"] for exhibit in exhibits)
    page = environment.get_template("report.html.j2").render(
        exhibits=exhibits,
        manifest=manifest,
        screen=first_screen(results) if has_paper else None,
        words=VERDICT_WORDS,
        verdicts=_counted(row["verdict"] for exhibit in exhibits for row in exhibit["rows"]) if has_paper else {},
        picture_style=ALONE_STYLE,
    )
    return visible(page)


def render_pictures(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    """Each plot as an SVG file, with a name for it; colours are those of the page."""
    plots = [_plots(result) for result in results]
    palette = Palette(itertools.chain(*plots))
    for result, own in zip(results, plots, strict=True):
        for number, plot in enumerate(own, 1):
            yield f"{result.entry.id}-{number}", draw(plot, palette, alone=True)


def _plots(result: Result) -> list[Plot]:
    return [with_papers_points(plot, result.rows) for plot in result.plots]


def _counted(verdicts: Iterable[str]) -> dict[str, int]:
    """How many there are of each verdict that there is."""
    counts = Counter(verdicts)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def _exhibit(result: Result, plots: Sequence[Plot], palette: Palette) -> dict[str, Any]:
    rows = [_row(row) for row in result.rows]
    is_own = result.entry.paper == OWN
    has_paper = any(row.paper is not None or row.verdict != "unjudged" for row in result.rows)
    return {
        "id": result.entry.id,
        "title": result.entry.title,
        "seeds": f"Seed {result.seed}" if len(result.seeds) < 2 else f"Seeds {', '.join(map(str, result.seeds))}",
        "wall_s": result.wall_s,
        "complete": result.complete,
        "failures": [str(failure) for failure in result.failures],
        "shortened": list(result.shortened),
        "rows": rows,
        "has_paper": has_paper,
        "judged": _noted_once([row for row in rows if row["verdict"] != "unjudged"] if has_paper else rows),
        "unjudged": _noted_once([row for row in rows if row["verdict"] == "unjudged"] if has_paper else []),
        "plots": [_plot(plot, palette) for plot in plots],
        "facts": scenario.facts(result) if is_own else [],
        "tables": scenario.tables(result) if is_own else [],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        **row.as_json(),
        "paper": format_paper(row.paper),
        "rule": row.judgement.reason or row.judge.rule,
        "interval": format_interval(row.interval),
    }


def _noted_once(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, where a note that several in a row have stands below the last of them."""
    made = []
    for row, following in itertools.zip_longest(rows, rows[1:]):
        is_repeated = following is not None and following["note"] == row["note"]
        made.append({**row, "note": "" if is_repeated else row["note"]})
    return made


def _plot(plot: Plot, palette: Palette) -> dict[str, Any]:
    """A plot in both sizes; every text in them is escaped where it is drawn."""
    wide, narrow = (Markup(draw(plot, palette, size)) for size in (WIDE, NARROW))  # noqa: S704 - escaped there
    return {"title": plot.title, "caption": plot.caption, "wide": wide, "narrow": narrow}
