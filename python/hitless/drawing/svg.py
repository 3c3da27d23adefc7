"""Plots as SVG, which every browser shows without a library and every editor opens.

Text and grid have classes, so that the page's style sheet gives them the colours of its theme; the colours of schemes
are part of the picture.
"""

from collections.abc import Iterable, Sequence
from html import escape

from hitless.drawing import legend, marks
from hitless.drawing.canvas import CHARACTER, WIDE, Canvas, Size
from hitless.drawing.palette import HATCHES, Look, Palette
from hitless.drawing.plot import Plot, Series
from hitless.drawing.scales import axis
from hitless.numbers import format_number
from hitless.visible import visible

ALONE_STYLE = (
    "text{fill:#1c1e21;font:13px system-ui,sans-serif}text.heading{font-weight:600}svg{color:#1c1e21}"
    ".grid{stroke:#dfe3e8}.frame{stroke:#5f6670}.sheet{fill:#fff}"
)
"""Style of a picture in a separate file, on white."""
_DARK_STYLE = (
    "@media (prefers-color-scheme:dark){text{fill:#e7e9ec}svg{color:#e7e9ec}"
    ".grid{stroke:#323941}.frame{stroke:#a2a9b3}.sheet{fill:#14171b}}"
)

_AROUND = 84
"""Pixels above and below the axes, with a legend of one line; a longer legend makes the picture taller."""


def draw(plot: Plot, palette: Palette, size: Size = WIDE, *, alone: bool = False) -> str:
    """Return the plot as an SVG element; ``alone`` adds a title, a background and a style sheet."""
    looks = palette.looks(plot)
    rows = legend.rows(plot.series, size.width)
    head = 30 if alone else 8
    canvas = _canvas(plot, size, head + len(rows) * legend.ROW_HEIGHT)
    height = round(canvas.bottom + canvas.labels_height + 24)
    parts = [_patterns(plot.series, looks)]
    if alone:
        parts.append(f'<style>{ALONE_STYLE}{_DARK_STYLE}</style><rect class="sheet" width="100%" height="100%"/>')
        parts.append(f'<text class="heading" x="10" y="20">{escape(plot.title)}</text>')
    parts += [canvas.grid(), marks.draw(plot.series, looks, canvas), _titles(plot, canvas)]
    parts.append(legend.draw(rows, looks, head))
    return visible(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size.width} {height}" width="{size.width}" '
        f'height="{height}" role="img" aria-label="{escape(describe(plot))}">{"".join(parts)}</svg>'
    )


def describe(plot: Plot) -> str:
    """Describe the plot in words, for people who cannot see it."""
    words = [f"{plot.title}: {plot.y_title} against {plot.x_title}."]
    for series in plot.series:
        seen = [value for value in series.y if value is not None]
        if seen:
            low, high = format_number(min(seen)), format_number(max(seen))
            words.append(f"{legend.label(series)}: {low if low == high else f'{low} to {high}'}.")
    return " ".join(words)


def _canvas(plot: Plot, size: Size, top: float) -> Canvas:
    has_bars = any(series.style == "bars" for series in plot.series)
    x = axis((value for series in plot.series for value in series.x), plot.x_scale)
    y = axis(heights(plot.series), plot.y_scale, from_zero=has_bars)
    left = 38 + CHARACTER * max((len(tick.label) for tick in y.ticks), default=1)
    return Canvas(left, top + 8, size.width - left - 16, size.height - _AROUND, x, y)


def heights(series: Sequence[Series]) -> Iterable[float]:
    """Yield the values of all series, and the ends of their intervals."""
    for one in series:
        bases = one.base or [0.0] * len(one.y)
        yield from (base + value for base, value in zip(bases, one.y, strict=True) if value is not None)
    yield from (end for one in series for i in one.intervals if i is not None for end in (i.low, i.high))


def _titles(plot: Plot, canvas: Canvas) -> str:
    middle, low = canvas.left + canvas.width / 2, canvas.bottom + canvas.labels_height + 16
    height = canvas.top + canvas.height / 2
    return (
        f'<text x="{middle:.1f}" y="{low:.1f}" text-anchor="middle">{escape(plot.x_title)}</text>'
        f'<text x="14" y="{height:.1f}" text-anchor="middle" transform="rotate(-90 14 {height:.1f})">'
        f"{escape(plot.y_title)}</text>"
    )


def _patterns(series: Sequence[Series], looks: dict[str, Look]) -> str:
    """Return the hatched fills that the bars of a plot use."""
    used = dict.fromkeys(looks[one.name] for one in series if one.style == "bars" and looks[one.name].hatch)
    made = [
        f'<pattern id="{look.pattern}" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<rect width="6" height="6" fill="{look.colour}" fill-opacity=".25"/>'
        f'<path d="{HATCHES[look.hatch]}" stroke="{look.colour}" stroke-width="1.6"/></pattern>'
        for look in used
    ]
    return f"<defs>{''.join(made)}</defs>" if made else ""
