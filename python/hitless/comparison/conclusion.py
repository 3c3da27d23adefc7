"""The findings of a comparison in sentences."""

from collections.abc import Iterator, Sequence

from hitless.analysis import REPLICAS_MIN
from hitless.comparison.compared import METHOD, Compared
from hitless.comparison.pairs import Outcome
from hitless.comparison.sides import Side
from hitless.outcome.times import ALL_SIZES

_TOLD = 5
"""Maximum differences in the sentences; the table has all."""


def arrivals(outcome: Outcome) -> str:
    """Return whether the arrivals of both sides are equal."""
    if outcome.different_flows:
        groups = ", ".join(outcome.different_flows)
        return f"flows differ between the sides in {groups}: pairs of runs have less in common"
    if outcome.different_starts:
        groups = ", ".join(outcome.different_starts)
        return f"the same flows on both sides (equal sizes and hosts), with other starts in {groups}"
    return f"the same arrivals on both sides ({outcome.flows:,} flows: equal starts, sizes and hosts)"


def conclusion(sides: tuple[Side, Side], outcome: Outcome) -> Iterator[str]:
    """Return the conclusion in plain sentences."""
    if not outcome.compared:
        return
    found = [one for one in outcome.compared if one.finding in {"higher", "lower"}]
    unsure = [one for one in outcome.compared if one.finding == "not significant"]
    if len(outcome.seeds) < REPLICAS_MIN:
        tell = "One seed tells" if len(outcome.seeds) == 1 else "Two seeds tell"
        yield f"{tell} nothing of chance: run 10 seeds."
        return
    unmoved = sum(one.finding == "same each seed" for one in outcome.compared)
    if unmoved:
        yield f"Seeds change nothing in {unmoved} metrics: they are as far apart with each seed, and have no interval."
    if found:
        yield f"{sides[1].label} vs. {sides[0].label}: {_changes(found)}."
    else:
        yield f"No difference between the two is significant with {len(outcome.seeds)} seeds."
    if outcome.parts:
        yield f"{outcome.parts} (means over all seeds, without an interval)."
    if unsure:
        yield from _unsure(unsure, len(outcome.seeds))
    yield f"{METHOD}. One interval of twenty misses by chance."


def _changes(found: Sequence[Compared]) -> str:
    """Return up to five changes: first metrics of the whole fabric, then of all sizes."""
    ranked = sorted(found, key=_rank)
    more = f"; and {len(found) - _TOLD} more in the table" if len(found) > _TOLD else ""
    return "; ".join(_change(one) for one in ranked[:_TOLD]) + more


def _rank(one: Compared) -> int:
    if one.metric.of == "all":
        return 0
    return 1 if ALL_SIZES in one.metric.of or "goodput" in one.metric.name else 2


def _change(one: Compared) -> str:
    where = "" if one.metric.of == "all" else f" of {one.metric.of}"
    if one.metric.kind == "difference":
        return f"{one.metric.name}{where} {rounded(one.a)} to {rounded(one.b)}"
    estimate = one.paired.estimate
    times = max(estimate, 1.0 / estimate)
    by = f"{times:.1f} times" if times >= 2.0 else f"{abs(estimate - 1.0):.1%}"
    return f"{one.metric.name}{where} {by} {one.finding}"


def _unsure(unsure: Sequence[Compared], seeds: int) -> Iterator[str]:
    yield f'Not significant with {seeds} seeds: for {len(unsure)} metrics the interval includes "no difference".'
    known = [one for one in unsure if one.paired.seeds_needed is not None]
    if known:
        nearest = min(known, key=lambda one: one.paired.seeds_needed or 0)
        where = "" if nearest.metric.of == "all" else f" of {nearest.metric.of}"
        yield (
            f"The nearest is {nearest.metric.name}{where}: about {nearest.paired.seeds_needed} seeds would show it, "
            "if it is as large as it looks."
        )


def rounded(value: float) -> str:
    """Format with about three digits; more would be noise."""
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
