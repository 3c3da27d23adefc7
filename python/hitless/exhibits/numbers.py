"""Numbers of rows as people and programs read them."""

import math

from hitless.analysis import Interval
from hitless.exhibits.judge import Paper, Range

NOTHING = "\N{EN DASH}"
"""What stands where there is no number."""


def finite(value: float | None) -> float | None:
    """The number as JSON can have it."""
    return float(value) if value is not None and math.isfinite(value) else None


def format_number(value: float | None) -> str:
    """Four significant digits, without needless zeros; a dash for nothing."""
    if value is None:
        return NOTHING
    if value == 0.0:
        return "0"
    if 1e-3 <= abs(value) < 1e7:
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:.3g}"


def format_range(said: Range) -> str:
    """A paper's range as text: "2 to 4", "over 1,000", "at most 60"."""
    if math.isinf(said.high):
        return f"over {format_number(said.low)}"
    if math.isinf(said.low):
        return f"at most {format_number(said.high)}"
    return f"{format_number(said.low)} to {format_number(said.high)}"


def format_paper(paper: Paper | None) -> str:
    """A paper's number or range."""
    return format_range(paper) if isinstance(paper, Range) else format_number(paper)


def format_interval(interval: Interval | None) -> str:
    """The interval between brackets, or nothing."""
    if interval is None:
        return ""
    return f"[{format_number(finite(interval.low))}, {format_number(finite(interval.high))}]"
