"""The report's page of exhibits: the first screen, verdicts, and the paper's points in plots."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hitless.drawing.palette import Palette
from hitless.drawing.plot import Plot
from hitless.report import page
from hitless.report.page import noted_once, plot_drawing, render_sections, row_of_table, section
from hitless_papers.answer.screen import first_screen
from hitless_papers.campaign import ExhibitResult
from hitless_papers.judge import VERDICT_WORDS, VERDICTS
from hitless_papers.paper_points import with_papers_points
from hitless_papers.tails import is_tail


def render_report(results: Sequence[ExhibitResult], manifest: Mapping[str, Any]) -> str:
    """Render the page as HTML."""
    drawn = [_with_points(result) for result in results]
    palette = Palette(plot for result in drawn for plot in result.plots)
    sections = [_judged_section(result, palette) for result in drawn]
    has_paper = any(made["has_paper"] for made in sections)
    counts = Counter(row.verdict for result in results for row in result.rows)
    return render_sections(
        sections,
        manifest,
        template="papers.html.j2",
        templates=["hitless_papers"],
        screen=first_screen(results) if has_paper else None,
        tail=_first_tail(drawn, palette),
        words=VERDICT_WORDS,
        verdicts={verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]} if has_paper else {},
    )


def _first_tail(results: Sequence[ExhibitResult], palette: Palette) -> dict[str, Any] | None:
    """Return the drawing of the first explained tail, and its exhibit, for the top of a page with several exhibits."""
    found = ((result, plot) for result in results for plot in result.plots if is_tail(plot))
    result, plot = next(found, (None, None))
    if result is None or plot is None or len(results) == 1:
        return None
    return {"exhibit": result.id, **plot_drawing(plot, palette)}


def named_plots(results: Sequence[ExhibitResult]) -> dict[str, Plot]:
    """Return each plot, with the paper's points, by name."""
    return page.named_plots([_with_points(result) for result in results])


def _with_points(result: ExhibitResult) -> ExhibitResult:
    return replace(result, plots=[with_papers_points(plot, result.rows) for plot in result.plots])


def _judged_section(result: ExhibitResult, palette: Palette) -> dict[str, Any]:
    made = section(result, result.plots, palette)
    if not any(row.paper is not None or row.verdict != "unjudged" for row in result.rows):
        return made
    rows = [{**row_of_table(row), "rule": row.judgement.reason or row.judge.rule} for row in result.rows]
    return {
        **made,
        "has_paper": True,
        "judged": noted_once([row for row in rows if row["verdict"] != "unjudged"]),
        "unjudged": noted_once([row for row in rows if row["verdict"] == "unjudged"]),
    }
