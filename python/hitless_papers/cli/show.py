"""Exhibits as tables on a terminal."""

from typing import get_args

from rich import box
from rich.table import Table
from rich.text import Text

from hitless.analysis.intervals import format_interval
from hitless.cli.grid import Line, print_grid
from hitless.numbers import format_number
from hitless.terminal.console import print_json, print_text, stdout
from hitless.threads import core_count
from hitless_papers.campaign import ExhibitResult
from hitless_papers.durations import in_words, known
from hitless_papers.judge import VERDICT_STYLES, VERDICT_WORDS
from hitless_papers.model import Effort, Row
from hitless_papers.registry import PAPERS, Entry, entries

_WIDE = 110
"""Minimum columns of a terminal for an interval next to its value."""
_NARROW = 96
"""Columns below which scheme, setting and metric share a column."""


def print_result(result: ExhibitResult) -> None:
    """Show an exhibit: a row for each number, and the notes below."""
    has_paper = any(row.paper is not None or row.verdict != "unjudged" for row in result.rows)
    stdout.print(Text(f"{result.id}  {result.title}", style="bold"))
    if stdout.width < _NARROW:
        _print_narrow(result, has_paper=has_paper)
    else:
        _print_wide(result, has_paper=has_paper)
    for note in _notes(result):
        stdout.print(f"  {note}", style="dim", markup=False)


def _print_narrow(result: ExhibitResult, *, has_paper: bool) -> None:
    lines = []
    for row in result.rows:
        words = ", ".join(filter(None, [row.series, row.x, _metric(row)]))
        measured, interval = format_number(row.measured), format_interval(row.interval)
        if has_paper:
            cells = [row.reference, f"{measured} {interval}".strip(), VERDICT_WORDS[row.verdict]]
            lines.append(Line(words, cells, last_style=VERDICT_STYLES[row.verdict], is_last_left=True))
        else:
            lines.append(Line(words, [f"{measured} {interval}".strip()]))
    print_grid(["paper", "here", "verdict"] if has_paper else ["here"], lines)


def _print_wide(result: ExhibitResult, *, has_paper: bool) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    beside = " " if stdout.width >= _WIDE else "\n"
    for name in ("scheme", "setting", "metric"):
        table.add_column(name)
    if has_paper:
        table.add_column("paper", justify="right", no_wrap=True)
    table.add_column("here", justify="right", no_wrap=True)
    if has_paper:
        table.add_column("verdict", no_wrap=True)
    for row in result.rows:
        table.add_row(*_cells(row, beside, has_paper=has_paper))
    stdout.print(table)


def _cells(row: Row, beside: str, *, has_paper: bool) -> list[Text]:
    """Return the cells of a row; ``beside`` separates a value from its interval."""
    cells = [Text(row.series), Text(row.x), Text(_metric(row))]
    measured = Text(f"{format_number(row.measured)}{beside}{format_interval(row.interval)}".strip())
    if not has_paper:
        return [*cells, measured]
    verdict = Text(VERDICT_WORDS[row.verdict], style=VERDICT_STYLES[row.verdict])
    return [*cells, Text(row.reference), measured, verdict]


def _metric(row: Row) -> str:
    return row.metric if row.unit in row.metric else f"{row.metric}, {row.unit}"


def _notes(result: ExhibitResult) -> list[str]:
    notes = list(dict.fromkeys(row.full_note for row in result.rows if row.full_note))
    notes += [f"shortened: {text}" for text in result.shortened]
    if not result.complete:
        notes.append("not complete: what could be worked out is shown")
    return notes


def print_exhibits(*, json: bool) -> None:
    """List every exhibit with how long it takes, the headlines marked."""
    shown = entries()
    if json:
        print_json([_as_json(entry) for entry in shown])
        return
    cores = core_count()
    efforts = [effort for effort in get_args(Effort) if any(effort == measured for _, measured in known())]
    names = "".join(f"{'no flag' if effort == 'normal' else f'--{effort}':>9}" for effort in efforts)
    lines = [f"{'':<20}{names}  on {cores} core{'' if cores == 1 else 's'}"]
    for paper in PAPERS:
        lines.append(f"{paper.name}  {paper.title}")
        for entry in shown:
            if entry.paper == paper.name:
                took = "".join(f"{_took(entry, effort, cores):>9}" for effort in efforts)
                lines.append(f"  {'*' if entry.headline else ' '} {entry.id:<16}{took}  {entry.title}")
    lines.append("* runs when no exhibit is named. A dash: not measured yet.")
    print_text("\n".join(lines))


def _took(entry: Entry, effort: str, cores: int) -> str:
    duration = known().get((entry.id, effort))
    return "-" if duration is None else in_words(duration.on(cores))


def _as_json(entry: Entry) -> dict[str, object]:
    quick = known().get((entry.id, "quick"))
    return {
        "id": entry.id,
        "title": entry.title,
        "headline": entry.headline,
        "quick_cpu_s": None if quick is None else quick.cpu_s,
    }
