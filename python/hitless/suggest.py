"""Suggestions for mistyped names."""

import difflib
from collections.abc import Iterable, Sequence

_SHOWN = 12


def similar(typed: str, known: Iterable[str]) -> str:
    """Return the names nearest to a mistyped one: "similar: packets_lost, packets_sent"."""
    near = difflib.get_close_matches(typed, sorted(known), n=5, cutoff=0.5)
    return f"similar: {', '.join(near)}" if near else "no known name is similar"


def did_you_mean(typed: str, known: Sequence[str], what: str = "known") -> str:
    """Return a hint: the nearest name, or all valid ones."""
    near = difflib.get_close_matches(typed, known, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]}?"
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return f"{what}: {', '.join(known[:_SHOWN])}{more}"
