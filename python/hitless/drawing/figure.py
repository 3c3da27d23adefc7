"""Figures for papers, drawn by matplotlib: exact width, distinct markers, embedded fonts, the same bytes every time."""

import importlib
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from hitless.drawing.legend import label
from hitless.drawing.palette import Look, Palette
from hitless.drawing.plot import Plot, Position, Series
from hitless.drawing.scales import Categories, Numbers, axis
from hitless.drawing.svg import heights
from hitless.errors import BadInput
from hitless.numbers import format_number
from hitless.suggest import did_you_mean
from hitless.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS = {"one-column": 3.33, "two-column": 7.0}
"""Inches of a column and of a page in the styles of ACM and IEEE."""
FORMATS = (".pdf", ".png", ".svg")
IntervalStyle: TypeAlias = Literal["bars", "band", "none"]

_BARS_SHARE = 0.8
"""Share of a category's slot that its bars fill."""
_MARK_EVERY = 0.25
"""Distance between the markers of a curve of many points, in diagonals of the axes."""
_DECADES = 100.0
"""Ratio between the ends of a logarithmic axis; below it, ticks are at 1, 2 and 5 with plain numbers."""
_RAW = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "hitless", "axes.linewidth": 0.6}
"""Text stays text: TrueType fonts in PDF, as conferences demand, and text elements in SVG."""


@dataclass(frozen=True, slots=True)
class FigureStyle:
    width: float | str = "one-column"
    """Inches, or a name in `WIDTHS`."""
    height: float | None = None
    """Inches; the default keeps the shape of a figure in one column."""
    font: str | None = None
    font_size: float = 8.0
    x_label: str | None = None
    y_label: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    """Other names of series in the legend."""
    legend: str = "above"
    """"above" the axes, "none", or a place of matplotlib such as "upper left"."""
    intervals: IntervalStyle = "bars"

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "FigureStyle":
        """Return a style with these options. Raises `BadInput` for an unknown one, and for bad values."""
        known = [one.name for one in fields(cls)]
        for name in options:
            if name not in known:
                raise BadInput(f"figures have no option {name!r}", hint=did_you_mean(name, known))
        return cls(**options)

    def __post_init__(self) -> None:
        if isinstance(self.width, str) and self.width not in WIDTHS:
            raise BadInput(f"width = {self.width!r}", rule=f"inches, or one of {', '.join(WIDTHS)}")
        if not (0.5 <= self.inches[0] <= 40 and 0.5 <= self.inches[1] <= 40):
            raise BadInput("the figure's width or height is out of range", rule="0.5 to 40 inches")
        if self.intervals not in {"bars", "band", "none"}:
            raise BadInput(f"intervals = {self.intervals!r}", rule="bars, band or none")

    @property
    def inches(self) -> tuple[float, float]:
        width = WIDTHS[self.width] if isinstance(self.width, str) else self.width
        return width, self.height or min(0.7 * width, 2.6)


def axes_of(plot: Plot, palette: Palette, style: FigureStyle, ax: "Axes | None" = None) -> "Axes":
    """Draw the plot on ``ax``, or on a new figure of the style's size. Raises `BadInput`."""
    with _settings(style):
        if ax is None:
            figure = _matplotlib("figure").Figure(figsize=style.inches, layout="constrained")
            ax = figure.add_subplot()
        _Drawing(plot, palette, style, ax).draw()
    return ax


def save(plot: Plot, palette: Palette, style: FigureStyle, path: Path) -> None:
    """Write the plot as PDF, PNG or SVG, by the suffix of the file. Raises `BadInput`."""
    date = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(path.suffix, {})
    figure: Any = axes_of(plot, palette, style).figure
    with _settings(style):
        figure.savefig(path, dpi=300, metadata=date)


def _matplotlib(module: str) -> Any:
    try:
        return importlib.import_module(f"matplotlib.{module}")
    except ImportError as missing:
        raise BadInput("figures need matplotlib", hint=f"{sys.executable} -m pip install matplotlib") from missing


@contextmanager
def _settings(style: FigureStyle) -> Iterator[None]:
    known = _matplotlib("font_manager").get_font_names()
    if style.font is not None and style.font not in {*known, "serif", "sans-serif", "monospace"}:
        raise BadInput(f"there is no font {style.font!r}", hint=did_you_mean(style.font, sorted(known)))
    font = {"font.family": style.font} if style.font else {}
    small = dict.fromkeys(("legend.fontsize", "xtick.labelsize", "ytick.labelsize"), style.font_size * 0.9)
    with importlib.import_module("matplotlib").rc_context({**_RAW, **font, **small, "font.size": style.font_size}):
        yield


class _Drawing:
    """A plot while it is drawn on axes of matplotlib."""

    def __init__(self, plot: Plot, palette: Palette, style: FigureStyle, ax: Any) -> None:
        self.plot, self.style, self.ax = plot, style, ax
        self.looks = palette.looks(plot)
        self.bars = list(dict.fromkeys(one.name for one in plot.series if one.style == "bars"))
        self.x = axis((x for one in plot.series for x in one.x), plot.x_scale)
        self.y = axis(heights(plot.series), plot.y_scale, from_zero=bool(self.bars))

    def draw(self) -> None:
        self._draw_axes()
        for one in sorted(self.plot.series, key=lambda one: (one.style != "bars", one.source != "measured")):
            self._draw_series(one, self.looks[one.name])
        self._draw_legend()

    def _draw_axes(self) -> None:
        for which, scale in (("x", self.x), ("y", self.y)):
            if isinstance(scale, Categories):
                self._draw_categories(scale)
                continue
            getattr(self.ax, f"set_{which}scale")("log" if scale.is_log else "linear")
            if scale.is_log:
                _set_log_ticks(getattr(self.ax, f"{which}axis"), scale)
            elif which == "x":
                self.ax.locator_params(axis="x", nbins=max(3, round(1.8 * self.style.inches[0])))
            room = self._bar_width if which == "x" and self.bars else 0.0
            getattr(self.ax, f"set_{which}lim")(scale.low - room, scale.high + room)
        self.ax.set_xlabel(_plain(self.plot.x_title) if self.style.x_label is None else self.style.x_label)
        self.ax.set_ylabel(_plain(self.plot.y_title) if self.style.y_label is None else self.style.y_label)
        self.ax.grid(visible=True, which="major", axis="y", linewidth=0.4, color="0.85")
        self.ax.set_axisbelow(True)
        self.ax.tick_params(which="both", direction="in", width=0.5)

    def _draw_categories(self, x: Categories) -> None:
        self.ax.set_xticks(range(len(x.names)), [_plain(name) for name in x.names])
        self.ax.set_xlim(-0.5, len(x.names) - 0.5)
        fits = max(map(len, x.names)) * len(x.names) * self._character <= self.style.inches[0] - 0.6
        if not fits:
            self.ax.tick_params(axis="x", labelrotation=30)
            for text in self.ax.get_xticklabels():
                text.set(horizontalalignment="right", rotation_mode="anchor")

    @property
    def _character(self) -> float:
        """Inches of an average character of the small font."""
        return 0.55 * 0.9 * self.style.font_size / 72

    def _draw_series(self, one: Series, look: Look) -> None:
        x, y = [self._across(value) + self._shift(one) for value in one.x], [_number(value) for value in one.y]
        line: dict[str, Any] = {"color": look.colour, "linewidth": 1.1, "label": self._label(one)}
        fill = look.colour if one.source == "measured" else "none"
        if one.style == "bars":
            hatch = {"hatch": "/\\x"[look.hatch - 1] * 4} if look.hatch else {}
            self.ax.bar(
                x,
                y,
                self._bar_width,
                bottom=one.base or 0.0,
                facecolor=fill,
                edgecolor=look.colour,
                linewidth=0.6,
                label=line["label"],
                **hatch,
            )
        else:
            dashes = "none" if one.style == "points" else _dashes(one, look)
            held = {"drawstyle": "steps-post"} if one.style == "step" else {}
            self.ax.plot(x, y, **line, **self._marks(one, look, fill), **held, linestyle=dashes)
        self._draw_intervals(one, x, y, "0.2" if one.style == "bars" else look.colour)

    def _marks(self, one: Series, look: Look, fill: str) -> dict[str, Any]:
        """Return the markers of a curve: at its points, or a few along a curve of many points."""
        marker, size = ("x" if one.source == "theory" else look.marker), (3.8 if one.source == "measured" else 5.6)
        made: dict[str, Any] = {"marker": marker, "markersize": size, "markerfacecolor": fill}
        if not one.has_marks:
            made["markevery"] = (0.04 * (list(self.looks).index(one.name) + 1), _MARK_EVERY)
        return made

    def _draw_intervals(self, one: Series, x: Sequence[float], y: Sequence[float], colour: str) -> None:
        if self.style.intervals == "none" or not any(one.intervals):
            return
        low = [math.nan if found is None else found.low for found in one.intervals]
        high = [math.nan if found is None else found.high for found in one.intervals]
        if self.style.intervals == "band" and one.style in {"line", "step"}:
            held = "post" if one.style == "step" else None
            self.ax.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0.0, step=held)
            return
        reach = [[max(0.0, a - b) for a, b in zip(*pair, strict=True)] for pair in ((y, low), (high, y))]
        self.ax.errorbar(x, y, yerr=reach, fmt="none", ecolor=colour, elinewidth=0.8, capsize=2.0, capthick=0.8)

    def _across(self, x: Position) -> float:
        return float(self.x.names.index(str(x))) if isinstance(self.x, Categories) else float(x)

    @property
    def _lanes(self) -> int:
        """Number of bars next to each other; stacked bars share a place."""
        return 1 if any(one.base for one in self.plot.series) else len(self.bars)

    @property
    def _bar_width(self) -> float:
        places = sorted({self._across(x) for one in self.plot.series for x in one.x})
        slot = min((b - a for a, b in pairwise(places)), default=1.0)
        return slot * _BARS_SHARE / max(1, self._lanes)

    def _shift(self, one: Series) -> float:
        """Return the distance from the middle of a slot to the bar of a scheme; its points are there, too."""
        if one.name not in self.bars or self._lanes == 1:
            return 0.0
        return (self.bars.index(one.name) - (len(self.bars) - 1) / 2) * self._bar_width

    def _label(self, one: Series) -> str:
        return self.style.labels.get(label(one), self.style.labels.get(one.name, _plain(label(one))))

    def _draw_legend(self) -> None:
        handles, names = self.ax.get_legend_handles_labels()
        # The axes may already have curves of their user.
        order = [*map(self._label, self.plot.series), *names]
        known = dict(sorted(zip(names, handles, strict=True), key=lambda entry: order.index(entry[0])))
        if self.style.legend == "none" or len(known) < 2:
            return
        places = [*_matplotlib("legend").Legend.codes, "above", "none"]
        if self.style.legend not in places:
            raise BadInput(f"legend = {self.style.legend!r}", rule=f"one of {', '.join(places)}")
        place: dict[str, Any] = {"loc": self.style.legend}
        if self.style.legend == "above":
            entry = (max(map(len, known)) + 7) * self._character
            columns = max(1, min(len(known), int((self.style.inches[0] - 0.5) / entry)))
            place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": columns}
        self.ax.legend(known.values(), known, **place, frameon=False, handlelength=2.2, columnspacing=1.2)


def _set_log_ticks(lines: Any, scale: Numbers) -> None:
    """Put minor ticks on a logarithmic axis, at 2 to 9 times each power of ten."""
    ticker = _matplotlib("ticker")
    lines.set_minor_locator(ticker.LogLocator(subs=range(2, 10), numticks=100))
    lines.set_minor_formatter(ticker.NullFormatter())
    if scale.high / scale.low < _DECADES:
        places = [scale.low * (scale.high / scale.low) ** tick.at for tick in scale.ticks]
        lines.set_major_locator(ticker.FixedLocator(places))
        lines.set_major_formatter(ticker.FuncFormatter(lambda value, _: format_number(value)))


def _dashes(one: Series, look: Look) -> str | tuple[int, tuple[float, ...]]:
    if one.source != "measured":
        return "--"
    return (0, tuple(map(float, look.dash.split()))) if look.dash else "-"


def _plain(text: str) -> str:
    """Return a text that is not a formula, and that fits in any file."""
    return visible(text).replace("$", r"\$")


def _number(value: float | None) -> float:
    return math.nan if value is None else value
