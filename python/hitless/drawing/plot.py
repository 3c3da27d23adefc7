"""Descriptions of plots, independent of any drawing library: `hitless.drawing.svg` draws them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from hitless.analysis import Interval, cdf
from hitless.analysis.intervals import Sample

Position: TypeAlias = float | str
Scale: TypeAlias = Literal["linear", "log"]
Style: TypeAlias = Literal["line", "step", "points", "bars"]
Source: TypeAlias = Literal["measured", "paper", "theory"]

_FEW_POINTS = 20


@dataclass(frozen=True, slots=True)
class Series:
    """One curve or one set of bars. Series with the same name have the same colour throughout a report."""

    name: str
    """The scheme alone; `source` tells where the numbers come from."""
    x: Sequence[Position]
    y: Sequence[float | None]
    intervals: Sequence[Interval | None] = ()
    style: Style = "line"
    source: Source = "measured"
    """Origin of the numbers. Anything not measured is hollow or dashed, in the colour of its scheme."""
    base: Sequence[float] = ()
    """Lower ends of stacked bars; bars without them stand next to each other."""

    @property
    def has_marks(self) -> bool:
        """Is each of its points drawn, and not only the curve?"""
        return self.style == "points" or (self.style == "line" and len(self.x) <= _FEW_POINTS)


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot with its axes. Titles of axes name the quantity and its unit."""

    title: str
    x_title: str
    y_title: str
    series: Sequence[Series]
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    caption: str = ""


def stacked(plot_x: Sequence[Position], parts: Mapping[str, Sequence[float]]) -> list[Series]:
    """Return bars on top of each other, one series for each part, the first part at the bottom."""
    base, series = [0.0] * len(plot_x), []
    for name, values in parts.items():
        series.append(Series(name, plot_x, values, style="bars", base=tuple(base)))
        base = [low + value for low, value in zip(base, values, strict=True)]
    return series


def plot_of(fields: Mapping[str, Any]) -> Plot:
    """Return a plot from its fields as nested mappings, the output of `dataclasses.asdict`."""
    series = []
    for one in fields["series"]:
        intervals = [None if ends is None else Interval(**ends) for ends in one["intervals"]]
        series.append(Series(**{**one, "intervals": intervals, "base": tuple(one.get("base", ()))}))
    return Plot(**{**fields, "series": series})


def cdf_series(name: str, sample: Sample) -> Series:
    """Return the share of a sample up to each value, thinned."""
    values, shares = cdf(sample)
    return Series(name, values, shares, style="step")


def tail_series(name: str, sample: Sample) -> Series:
    """Return the share of a sample at or above each value, for a logarithmic axis that shows the tail."""
    values, shares = cdf(sample)
    above = [1.0, *(1.0 - share for share in shares[:-1])]
    return Series(name, values, above, style="step")
