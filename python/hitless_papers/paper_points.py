"""The paper's values from rows as points in plots.

A row and a point of a plot show the same measurement if scheme and value are equal; their units can differ by a power
of ten. So an exhibit states its paper's values only once.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hitless.analysis import Interval
from hitless.drawing.plot import Plot, Position, Series
from hitless.numbers import finite
from hitless_papers.judge import Range
from hitless_papers.model import Row

_UNITS = (1.0, 1e-3, 1e3, 1e-6, 1e6, 1e-2, 1e2)
_SAME = 1e-9
"""Maximum relative difference between two numbers of one measurement."""


def with_papers_points(plot: Plot, rows: Sequence[Row]) -> Plot:
    """Return the plot with the paper's values for its points, taken from the rows."""
    has_own = {series.name for series in plot.series if series.source == "paper"}
    added = [_papers(series, rows, plot.x_title) for series in plot.series if series.name not in has_own]
    return replace(plot, series=[*plot.series, *filter(None, added)])


def _papers(series: Series, rows: Sequence[Row], x_title: str) -> Series | None:
    if series.source != "measured":
        return None
    found = {x: point for row in rows if row.series == series.name for x, point in _of(series, row, x_title)}
    if not found:
        return None
    values, intervals = zip(*found.values(), strict=True)
    return Series(series.name, list(found), values, intervals, style="points", source="paper")


def _of(series: Series, row: Row, x_title: str) -> Iterator[tuple[Position, tuple[float, Interval | None]]]:
    """Find the position of the row's paper value; a round number must also match the position's name."""
    if row.paper is None or row.measured is None or not math.isfinite(row.measured):
        return
    is_telling = row.measured != float(f"{row.measured:.4g}")  # digits enough to be unique
    for unit in _UNITS if is_telling else _UNITS[:1]:
        value = row.measured * unit
        points = zip(series.x, series.y, strict=True)
        at = [x for x, y in points if y is not None and math.isclose(y, value, rel_tol=_SAME)]
        here = at if is_telling else [x for x in at if _is_named(x, row.x, x_title)]
        if here:
            yield here[0], _point(row, unit)
            return


def _is_named(x: Position, name: str, x_title: str) -> bool:
    """Does the name of a row mean this position? "760 us" means 760 on an axis "time (us)"."""
    if isinstance(x, str):
        return x == name or name.startswith(f"{x} ")
    number, _, unit = name.partition(" ")
    return number.replace(",", "") == f"{x:g}" and (unit == x_title or f"({unit.replace('Gbps', 'Gb/s')})" in x_title)


def _point(row: Row, unit: float) -> tuple[float, Interval | None]:
    """Return the point of the paper's number: a range's middle with its ends, or its only end."""
    if not isinstance(row.paper, Range):
        return float(row.paper or 0.0) * unit, None
    low, high = finite(row.paper.low), finite(row.paper.high)
    if low is None or high is None:
        return float(high if low is None else low) * unit, None  # type: ignore[arg-type]
    return (low + high) / 2 * unit, Interval(low * unit, high * unit)
