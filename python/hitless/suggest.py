"""Suggestions for mistyped names."""

import difflib
from collections.abc import Sequence

_SHOWN = 12


def did_you_mean(typed: str, known: Sequence[str], what: str = "known") -> str:
    """Return a hint: the nearest name, or all valid ones."""
    near = difflib.get_close_matches(typed, known, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]}?"
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return f"{what}: {', '.join(known[:_SHOWN])}{more}"
