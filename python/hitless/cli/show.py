"""Exhibits as tables on a terminal."""

from rich import box
from rich.table import Table
from rich.text import Text

from hitless.cli.console import VERDICT_STYLES, print_json, stdout
from hitless.exhibits.campaign import Result
from hitless.exhibits.model import Row
from hitless.exhibits.numbers import format_interval, format_number, format_paper
from hitless.exhibits.registry import PAPERS, entries

_WIDE = 110
"""Columns of a terminal from which on an interval has room beside its value."""


def print_result(result: Result) -> None:
    """Show an exhibit: a row for each number, and the notes below."""
    title = f"{result.entry.id}  {result.entry.title}"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    beside = " " if stdout.width >= _WIDE else "\n"
    has_paper = any(row.paper is not None or row.verdict != "unjudged" for row in result.rows)
    for name in ("series", "x", "metric"):
        table.add_column(name, overflow="fold")
    if has_paper:
        table.add_column("paper", justify="right", no_wrap=True)
    table.add_column("measured", justify="right", no_wrap=True)
    if has_paper:
        table.add_column("verdict", no_wrap=True)
    for row in result.rows:
        table.add_row(*_cells(row, beside, has_paper=has_paper))
    stdout.print(table)
    for note in _notes(result):
        stdout.print(f"  {note}", style="dim", markup=False)


def _cells(row: Row, beside: str, *, has_paper: bool) -> list[Text]:
    """The cells of a row; ``beside`` stands between a value and its interval."""
    metric = row.metric if row.unit in row.metric else f"{row.metric}, {row.unit}"
    cells = [Text(row.series), Text(row.x), Text(metric)]
    measured = Text(f"{format_number(row.measured)}{beside}{format_interval(row.interval)}".strip())
    if not has_paper:
        return [*cells, measured]
    return [
        *cells,
        Text(format_paper(row.paper)),
        measured,
        Text(row.verdict, style=VERDICT_STYLES[row.verdict]),
    ]


def _notes(result: Result) -> list[str]:
    notes = list(dict.fromkeys(row.full_note for row in result.rows if row.full_note))
    notes += [f"shortened: {text}" for text in result.shortened]
    if not result.complete:
        notes.append("not complete: what could be worked out is shown")
    return notes


def print_exhibits(*, json: bool) -> None:
    """List every exhibit, the headlines marked."""
    known = entries()
    if json:
        print_json([{"id": entry.id, "title": entry.title, "headline": entry.headline} for entry in known])
        return
    for paper in PAPERS:
        stdout.print(f"{paper.name}  {paper.title}", style="bold", markup=False)
        for entry in known:
            if entry.paper == paper.name:
                stdout.print(f"  {'*' if entry.headline else ' '} {entry.id:<16} {entry.title}", markup=False)
    stdout.print("* runs when no exhibit is named", style="dim")
