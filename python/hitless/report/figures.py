"""Plotly figures from `Plot` descriptions. Colours of text and grid are the page's: its style sheet knows the theme."""

import itertools
from typing import Any

import plotly.graph_objects as go

from hitless.plot import Plot, Scale, Series

# Okabe and Ito 2008: told apart by people of any colour vision, on white and on black.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7f7f7f")
_DASHES = ("solid", "dash", "dot", "dashdot")
_HATCHES = ("", "/", "x", ".")
"""Of bars, where a report has more schemes than colours."""


class Painter:
    """Draws the plots of one report, each series name in one colour throughout."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def draw(self, plot: Plot) -> go.Figure:
        """The plot as a figure without a theme."""
        for series in plot.series:
            self._number(series.name, plot)
        figure = go.Figure([self._trace(series) for series in plot.series])
        figure.update_layout(
            template="none",
            height=400,
            margin={"l": 64, "r": 16, "t": 40, "b": 52},
            legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
            modebar={"bgcolor": "rgba(0,0,0,0)"},
            hovermode="closest",
            barmode="group",
            bargap=0.25,
        )
        figure.update_xaxes(**(_axis(plot.x_title, plot.x_scale) | _categories(plot)))
        figure.update_yaxes(**_axis(plot.y_title, plot.y_scale))
        return figure

    def _number(self, name: str, plot: Plot) -> None:
        """Give a series a number when it is first drawn: the next whose colour is free in its plot, if one is."""
        if name in self._numbers:
            return
        taken = {self._numbers[series.name] % len(_COLOURS) for series in plot.series if series.name in self._numbers}
        used = set(self._numbers.values())
        unused = (number for number in itertools.count() if number not in used)
        first = next(unused)
        others = itertools.islice(unused, len(_COLOURS) - 1)
        free = (number for number in itertools.chain([first], others) if number % len(_COLOURS) not in taken)
        self._numbers[name] = next(free, first)

    def _trace(self, series: Series) -> go.Bar | go.Scatter:
        number = self._numbers[series.name]
        colour = _COLOURS[number % len(_COLOURS)]
        common: dict[str, Any] = {
            "name": f"{series.name} (paper)" if series.paper else series.name,
            "x": list(series.x),
            "y": list(series.y),
            "error_y": _error_bars(series),
        }
        if series.style == "bars":
            return go.Bar(marker=_bar_marker(colour, number // len(_COLOURS), paper=series.paper), **common)
        dash = "dash" if series.paper else _DASHES[number // len(_COLOURS) % len(_DASHES)]
        return go.Scatter(
            mode="markers" if series.style == "points" else _line_mode(series),
            line={
                "color": colour,
                "dash": dash,
                "width": 2,
                "shape": "hv" if series.style == "step" else "linear",
            },
            marker={"color": colour, "size": 7, "symbol": "circle-open" if series.paper else "circle"},
            **common,
        )


def _line_mode(series: Series) -> str:
    return "lines+markers" if len(series.x) <= 20 and series.style == "line" else "lines"


def _bar_marker(colour: str, round_of_colours: int, *, paper: bool) -> dict[str, Any]:
    fill = "rgba(0,0,0,0)" if paper else colour
    hatch = _HATCHES[round_of_colours % len(_HATCHES)]
    return {"color": fill, "line": {"color": colour, "width": 1.5}, "pattern": {"shape": hatch}}


def _error_bars(series: Series) -> dict[str, Any] | None:
    if not any(interval is not None for interval in series.intervals):
        return None
    pairs = list(zip(series.y, series.intervals, strict=True))
    return {
        "type": "data",
        "symmetric": False,
        "array": [i.high - y if i is not None and y is not None else None for y, i in pairs],
        "arrayminus": [y - i.low if i is not None and y is not None else None for y, i in pairs],
        "thickness": 1.2,
        "width": 4,
    }


def _categories(plot: Plot) -> dict[str, Any]:
    """Texts are categories, even where they read like numbers ("1e-3")."""
    texts = [x for series in plot.series for x in series.x if isinstance(x, str)]
    return {"type": "category"} if texts else {}


def _axis(title: str, scale: Scale) -> dict[str, Any]:
    axis: dict[str, Any] = {
        "title": {"text": title},
        "type": "log" if scale == "log" else None,
        "automargin": True,
    }
    if scale == "log":
        axis |= {"exponentformat": "power", "dtick": 1}
    return axis
