"""Numbers as people and programs read them."""

import math

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
