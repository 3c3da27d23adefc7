"""The first screen on a terminal or in a pipe: it fits 80 columns, and can be read at 60."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from hitless.cli.grid import Line, print_grid
from hitless.numbers import NOTHING
from hitless.terminal.console import stdout
from hitless_papers.answer.screen import Difference, Screen
from hitless_papers.judge import VERDICT_STYLES, VERDICT_WORDS

_DIFFERENCES = 4
_WORDS = 20
"""Characters that a disagreement has for its words at least; the report has all of them."""
_REASONS = 2
_SHORTENED = 1


def print_screen(screen: Screen) -> None:
    """Show everything, the answers first."""
    if screen.gains:
        _print_gains(screen)
        stdout.print()
    print_tallies(screen)
    stdout.print()
    if screen.differences:
        _print_differences(screen.differences)
    if screen.shortened:
        more = _more(len(screen.shortened) - _SHORTENED, "exhibit")
        _print_items("Shortened", [*screen.shortened[:_SHORTENED], *more])
    print_next(screen)


def print_tallies(screen: Screen) -> None:
    """Print how many rows agree with the papers, and why others have no verdict."""
    judged = screen.tallies[-1].judged
    _print_heading("Against the papers", f"{judged:,} value{'' if judged == 1 else 's'} judged")
    if judged == 0:
        _print_reasons(screen)
        return
    header = ["within 10 %", "within rule", "order holds", "beyond", "differs", "not judged"]
    lines = []
    for tally in screen.tallies:
        counts = (tally.near, tally.allowed, tally.statements, tally.beyond, tally.differs, tally.unjudged)
        cells = [f"{count:,}" if count else NOTHING for count in counts]
        lines.append(Line(tally.mechanism, cells, style="bold" if tally is screen.tallies[-1] else ""))
    print_grid(header, lines)
    _print_reasons(screen)


def _print_reasons(screen: Screen) -> None:
    """Why rows have no verdict, the commonest reasons."""
    if screen.reasons:
        reasons = [f"{reason} ({count:,})" for reason, count in screen.reasons[:_REASONS]]
        _print_items("  Not judged", [*reasons, *_more(len(screen.reasons) - _REASONS, "reason")])


_FIGURE = ("reproduce lg/fig10 --quick", "one figure")
_OWN = ("mechanism new mine", "your own mechanism")
_IN_CHECKOUT = (_FIGURE, ("lab up examples/lossy-link.toml", "real TCP, as root"), _OWN)
_INSTALLED = (_FIGURE, ("scenario example lossy-link --write", "for hitless lab up"), _OWN)
_AFTER_ONE = (("reproduce --list", "all figures, and their times"),)
"""Commands to try next, each with its subject."""


def print_next(screen: Screen) -> None:
    """Print commands to try next."""
    command, after_all = ("./hitless", _IN_CHECKOUT) if Path("hitless").is_file() else ("hitless", _INSTALLED)
    commands = after_all if screen.exhibits > 1 else _AFTER_ONE
    width = max(len(arguments) for arguments, _ in commands)
    for name, (arguments, subject) in zip(("Next", "", ""), commands, strict=False):
        line = f"{name:<6}{command} {arguments:<{width}}"
        has_room = len(line) + 2 + len(subject) <= stdout.width
        stdout.print(Text(f"{line}  {subject}" if has_room else line.rstrip()), soft_wrap=True)


def _print_gains(screen: Screen) -> None:
    _print_heading("What each mechanism buys", "FCT: flow completion time; QCT: of a query")
    lines = []
    for group in screen.gains:
        lines.append(Line(f"{group.mechanism}: {group.trouble}"))
        for gain in group.lines:
            cells = [gain.bare, gain.protected, gain.ratio, gain.paper, VERDICT_WORDS[gain.verdict]]
            lines.append(Line(gain.words, cells, last_style=VERDICT_STYLES[gain.verdict], is_last_left=True))
    print_grid(["without", "with", "better", "paper", "verdict"], lines)


def _print_differences(differences: Sequence[Difference]) -> None:
    _print_heading("Largest disagreements", "the furthest of each figure or table, paper -> here")
    cells = [[f"{one.paper} -> {one.measured}", one.off] for one in differences[:_DIFFERENCES]]
    room = max(_WORDS, stdout.width - 6 - sum(max(map(len, column)) for column in zip(*cells, strict=True)))
    words = [
        textwrap.shorten(f"{one.exhibit} {one.what}", room, placeholder=" \N{HORIZONTAL ELLIPSIS}")
        for one in differences[:_DIFFERENCES]
    ]
    print_grid(["", ""], [Line(text, own) for text, own in zip(words, cells, strict=True)])


def _print_heading(title: str, beside: str = "") -> None:
    gap = "   " if len(title) + 3 + len(beside) <= stdout.width else "\n  "
    stdout.print(Text(title, style="bold").append(f"{gap}{beside}" if beside else "", style="dim"), soft_wrap=True)


def _print_items(title: str, items: Sequence[str]) -> None:
    text = f"{title}: {'; '.join(items)}"
    for part in textwrap.wrap(text, stdout.width, subsequent_indent="  ", break_long_words=False):
        stdout.print(Text(part), soft_wrap=True)


def _more(count: int, what: str) -> list[str]:
    return [f"and {count} more {what}{'' if count == 1 else 's'}"] if count > 0 else []
