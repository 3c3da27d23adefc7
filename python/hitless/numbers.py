"""Numbers for people and programs."""

import math

NOTHING = "\N{EN DASH}"
"""Placeholder for a missing number."""


def finite(value: float | None) -> float | None:
    """Return the number if JSON can represent it, otherwise None."""
    return float(value) if value is not None and math.isfinite(value) else None


def format_number(value: float | None) -> str:
    """Format with four significant digits, without needless zeros; a dash for None."""
    if value is None:
        return NOTHING
    if value == 0.0:
        return "0"
    if 1e-3 <= abs(value) < 1e7:
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:.3g}"
