"""The legend of a plot: each scheme once, marked if the paper or a theory is the source."""

from collections.abc import Mapping, Sequence
from html import escape

from hitless.drawing.palette import Look
from hitless.drawing.plot import Series

ROW_HEIGHT = 20
_CHARACTER = 7.2
_BESIDE = 46
"""Pixels of a sign, and between two entries."""
_SOURCES = {"measured": "", "paper": " (paper)", "theory": " (theory)"}
OTHER_DASH = "5 4"
"""Dashes of curves that were not measured here."""


def label(series: Series) -> str:
    """Return the label of a series: its scheme, and its source unless it was measured."""
    return f"{series.name}{_SOURCES[series.source]}"


def rows(series: Sequence[Series], width: float) -> list[list[Series]]:
    """Arrange the entries in lines."""
    made: list[list[Series]] = [[]]
    free = width - 10
    entries = {label(one): one for one in reversed(series)}
    for text, one in reversed(entries.items()):
        needed = _BESIDE + len(text) * _CHARACTER
        if needed > free and made[-1]:
            made.append([])
            free = width - 10
        made[-1].append(one)
        free -= needed
    return made


def draw(entries: Sequence[Sequence[Series]], looks: Mapping[str, Look], top: float) -> str:
    """Draw the legend from ``top`` downwards."""
    made = []
    for number, line in enumerate(entries):
        x, y = 10.0, top + number * ROW_HEIGHT + 9
        for series in line:
            made.append(_sign(series, looks[series.name], x, y))
            made.append(f'<text x="{x + 30:.1f}" y="{y + 4:.1f}">{escape(label(series))}</text>')
            x += _BESIDE + len(label(series)) * _CHARACTER
    return "".join(made)


def dash(series: Series, look: Look) -> str:
    """Return the dash pattern of a curve, as attributes."""
    pattern = look.dash if series.source == "measured" else OTHER_DASH
    return f' stroke-dasharray="{pattern}"' if pattern else ""


def _sign(series: Series, look: Look, x: float, y: float) -> str:
    if series.style == "bars":
        fill = look.fill if series.source == "measured" else "none"
        return f'<rect x="{x + 5:.1f}" y="{y - 6:.1f}" width="16" height="12" fill="{fill}" stroke="{look.colour}"/>'
    line = f'<path d="M{x:.1f},{y:.1f}h26" stroke="{look.colour}" stroke-width="2"{dash(series, look)}/>'
    if series.style == "points":
        return dot(x + 13, y, series, look)
    return line + dot(x + 13, y, series, look) if series.has_marks else line


def dot(x: float, y: float, series: Series, look: Look, words: str = "") -> str:
    """Draw the mark of a point, hollow unless measured. ``words`` show when the mouse is over it."""
    radius, fill = (3.4, look.colour) if series.source == "measured" else (5.0, "none")
    title = f"<title>{escape(words)}</title>" if words else ""
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" stroke="{look.colour}" '
        f'stroke-width="1.8" pointer-events="all">{title}</circle>'
    )
