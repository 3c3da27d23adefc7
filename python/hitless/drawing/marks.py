"""The data between the axes: curves, points, bars, and their intervals."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise, repeat

from hitless.analysis import Interval
from hitless.analysis.intervals import format_interval
from hitless.drawing import curves
from hitless.drawing.canvas import Canvas
from hitless.drawing.legend import dash, dot, label
from hitless.drawing.palette import Look
from hitless.drawing.plot import Position, Series
from hitless.drawing.scales import Categories
from hitless.numbers import format_number

_SHARE_OF_SLOT = 0.78
"""Share of a category's slot that its bars fill."""


def draw(series: Sequence[Series], looks: Mapping[str, Look], canvas: Canvas) -> str:
    """Draw all series: bars first, the paper's last and thus on top."""
    bars = [one for one in series if one.style == "bars"]
    lanes = _Lanes(bars, canvas)
    made = [_bars(one, number, looks[one.name], lanes, canvas) for number, one in enumerate(bars)]
    others = sorted((one for one in series if one.style != "bars"), key=lambda one: one.source != "measured")
    return "".join([*made, _totals(bars, canvas), *(_curve(one, looks[one.name], lanes, canvas) for one in others)])


class _Lanes:
    """Positions of each series' bars in the slots of the categories."""

    def __init__(self, bars: Sequence[Series], canvas: Canvas) -> None:
        places = sorted({place for one in bars for x in one.x if (place := canvas.x.at(x)) is not None})
        gaps = [later - before for before, later in pairwise(places)]
        slot = 1 / len(canvas.x.names) if isinstance(canvas.x, Categories) else min(gaps, default=0.2)
        # Stacked bars share a lane.
        self._count = 1 if any(one.base for one in bars) else len(bars)
        self.width = slot * canvas.width * _SHARE_OF_SLOT / max(1, self._count)
        self._of = {one.name: number for number, one in reversed(list(enumerate(bars)))}

    def middle(self, number: int) -> float:
        """Return the pixels from the middle of the slot to the middle of a bar."""
        return 0.0 if self._count == 1 else (number - (self._count - 1) / 2) * self.width

    def beside(self, series: Series) -> float:
        """Return the same for a point that belongs to a bar of the same scheme."""
        return self.middle(self._of[series.name]) if series.name in self._of else 0.0


def _bars(series: Series, number: int, look: Look, lanes: _Lanes, canvas: Canvas) -> str:
    bases = iter(series.base) if series.base else repeat(0.0)
    fill = look.fill if series.source == "measured" else "none"
    made = []
    for x, y, words, interval in _seen(series):
        low = next(bases)
        base = min(1.0, max(0.0, canvas.y.at(low) or 0.0))
        place, height = canvas.x.at(x), canvas.y.at(low + y)
        if place is None or height is None:
            continue
        left = canvas.across(place) + lanes.middle(number) - lanes.width / 2 + 0.5
        top, bottom = canvas.down(max(base, height)), canvas.down(min(base, height))
        made.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(1.0, lanes.width - 1):.1f}" '
            f'height="{max(0.5, bottom - top):.1f}" fill="{fill}" stroke="{look.colour}" pointer-events="all">'
            f"<title>{escape(words)}</title></rect>"
        )
        made.append(_whisker(left + lanes.width / 2, interval, canvas, "currentColor"))
    return "".join(made)


def _totals(bars: Sequence[Series], canvas: Canvas) -> str:
    """Write the height of each stack above it, because low stacks next to a high one are hardly visible."""
    if not any(one.base for one in bars):
        return ""
    totals: dict[Position, float] = {}
    for one in bars:
        for x, y in zip(one.x, one.y, strict=True):
            totals[x] = totals.get(x, 0.0) + (y or 0.0)
    made = []
    for x, total in totals.items():
        place, height = canvas.x.at(x), canvas.y.at(total)
        if place is not None and height is not None:
            at = f'x="{canvas.across(place):.1f}" y="{canvas.down(height) - 4:.1f}"'
            made.append(f'<text {at} text-anchor="middle">{format_number(float(f"{total:.3g}"))}</text>')
    return "".join(made)


def _curve(series: Series, look: Look, lanes: _Lanes, canvas: Canvas) -> str:
    shift = lanes.beside(series)
    made = []
    if series.style != "points":
        pieces = _pieces(series, canvas, shift)
        held = [curves.steps(piece) for piece in pieces] if series.style == "step" else pieces
        width = f'stroke="{look.colour}" stroke-width="2" stroke-linejoin="round"'
        made.append(f'<path fill="none" d="{curves.path(held)}" {width}{dash(series, look)}/>')
    if not (series.has_marks or series.intervals):
        return "".join(made)
    for x, y, words, interval in _seen(series):
        place, height = canvas.x.at(x), canvas.y.at(y)
        if place is None or height is None:
            continue
        made.append(_whisker(canvas.across(place) + shift, interval, canvas, look.colour))
        if series.has_marks:
            made.append(dot(canvas.across(place) + shift, canvas.down(height), series, look, words))
    return "".join(made)


def _seen(series: Series) -> Iterator[tuple[Position, float, str, Interval | None]]:
    """Yield the points that have a value, with the text for each."""
    intervals = series.intervals or [None] * len(series.x)
    for x, y, interval in zip(series.x, series.y, intervals, strict=True):
        if y is not None:
            at = x if isinstance(x, str) else format_number(x)
            yield x, y, f"{label(series)}, {at}: {format_number(y)} {format_interval(interval)}".strip(), interval


def _pieces(series: Series, canvas: Canvas, shift: float) -> list[list[curves.Place]]:
    """Return the curve, broken at missing values."""
    pieces: list[list[curves.Place]] = [[]]
    for x, y in zip(series.x, series.y, strict=True):
        place, height = canvas.x.at(x), None if y is None else canvas.y.at(y)
        if place is None or height is None:
            pieces.append([])
        else:
            pieces[-1].append((canvas.across(place) + shift, canvas.down(height)))
    return pieces


def _whisker(x: float, interval: Interval | None, canvas: Canvas, colour: str) -> str:
    if interval is None:
        return ""
    low, high = canvas.y.at(interval.low), canvas.y.at(interval.high)
    bottom, top = canvas.down(min(1.0, max(0.0, low or 0.0))), canvas.down(1.0 if high is None else min(1.0, high))
    return (
        f'<path class="whisker" d="M{x - 4:.1f},{top:.1f}h8m-4,0V{bottom:.1f}m-4,0h8" stroke="{colour}" '
        f'stroke-width="1.2" fill="none"/>'
    )
