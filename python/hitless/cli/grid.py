"""Tables with words on the left and numbers on the right, at any width: words stay whole, and columns stay visible."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from hitless.terminal.console import stdout

_GAP = 2
_INDENT = 2
_NARROW = 70
"""Width of the terminal below which a single blank separates numbers."""
_FEWEST = 20
"""Minimum characters for words next to numbers; with less space, the words go above them."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a grid; one without cells is a heading across it."""

    words: str
    cells: Sequence[str] = ()
    style: str = ""
    last_style: str = ""
    is_last_left: bool = False
    """Is the last cell a word, such as a verdict, instead of a number?"""


@dataclass(frozen=True, slots=True)
class _Margins:
    """Characters before the first number, and between numbers."""

    left: int
    gap: int


def print_grid(header: Sequence[str], lines: Sequence[Line]) -> None:
    """Print the lines; words of the header wrap into two lines above narrow numbers."""
    widths = _widths(header, lines)
    longest = max((len(line.words) for line in lines if line.cells), default=0)
    has_room = _INDENT + longest + sum(widths) + _GAP * len(widths) <= stdout.width
    gap = _GAP if has_room and stdout.width >= _NARROW else 1
    room = stdout.width - sum(widths) - gap * len(widths) - _INDENT
    is_above = room < min(_FEWEST, longest)
    left = _INDENT if is_above else _INDENT + min(room, max(longest, 8))
    is_last_left = any(line.is_last_left for line in lines)
    for line in [*_header(header, widths, is_last_left=is_last_left), *lines]:
        for text in _drawn(line, widths, _Margins(left, gap), is_above=is_above):
            stdout.print(text, no_wrap=True, overflow="ignore", crop=False, soft_wrap=True)


def _drawn(line: Line, widths: Sequence[int], margins: _Margins, *, is_above: bool) -> list[Text]:
    left, gap = margins.left, " " * margins.gap
    if not line.cells:
        wrapped = textwrap.wrap(line.words, stdout.width, subsequent_indent=" " * _INDENT, break_long_words=False)
        return [Text(part, style=line.style) for part in wrapped]
    numbers = Text(style=line.style)
    *most, last = zip(line.cells, widths, strict=True)
    for cell, width in most:
        numbers.append(gap + cell.rjust(width))
    numbers.append(gap + last[0].rjust(0 if line.is_last_left else last[1]), line.last_style)
    margin = " " * _INDENT
    room = (stdout.width if is_above else left) - _INDENT
    words = textwrap.wrap(line.words, room, subsequent_indent=" ", break_long_words=False, break_on_hyphens=False)
    if is_above:
        return [*(Text(f"{margin}{part}", style=line.style) for part in words), Text(margin).append_text(numbers)]
    first, *more = words or [""]
    drawn = Text(f"{margin}{first}".ljust(left), style=line.style).append_text(numbers)
    return [drawn, *(Text(f"{margin}{part}", style=line.style) for part in more)]


def _widths(header: Sequence[str], lines: Sequence[Line]) -> list[int]:
    """Return the width of each column: its longest cell, and the longest word of its header."""
    columns = list(zip(*(line.cells for line in lines if line.cells), strict=True)) or [()] * len(header)
    return [
        max([len(cell) for cell in column] + [len(word) for word in name.split()])
        for name, column in zip(header, columns, strict=True)
    ]


def _header(header: Sequence[str], widths: Sequence[int], *, is_last_left: bool) -> list[Line]:
    wrapped = [textwrap.wrap(name, width) for name, width in zip(header, widths, strict=True)]
    depth = max(map(len, wrapped), default=0)
    padded = [[""] * (depth - len(parts)) + parts for parts in wrapped]
    rows = ([parts[number] for parts in padded] for number in range(depth))
    return [Line("", cells, style="dim", is_last_left=is_last_left) for cells in rows]


def status_table(*columns: str, left: int = 1, collapse_padding: bool = False) -> Table:
    """Return an empty table with words in its first ``left`` columns, which stay whole, and numbers in the others."""
    table = Table(box=None, pad_edge=False, collapse_padding=collapse_padding, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < left else "right", no_wrap=number < left)
    return table


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Print a line for each row, the first as the header; lines wider than the terminal, such as paths, stay whole."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        line = (" " * _GAP).join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        stdout.print(Text(line, style="" if number else "bold"), soft_wrap=True)
