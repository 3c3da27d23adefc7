"""How a measured number is judged beside the paper's.

A judge looks at one number and its interval and answers match, differs or unjudged. It is written before the number is
known, and nothing is tuned to please it. Predicates on several numbers, for `Shape`, stand at the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal, Protocol, TypeAlias

from hitless.analysis import Interval

Verdict: TypeAlias = Literal["match", "differs", "unjudged"]


class Judge(Protocol):
    """Anything that answers a `Verdict`; ``name`` is what the table calls it, ``rule`` says it in words."""

    @property
    def name(self) -> str:
        """One word: exact, factor, shape or none."""

    @property
    def rule(self) -> str:
        """The rule in words, for the report."""

    def verdict(self, measured: float | None, paper: float | None, interval: Interval | None) -> Verdict:
        """Judge one number."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Shown without a verdict: the paper has no number, or this goes beyond it."""

    name: ClassVar[str] = "none"
    rule: ClassVar[str] = "not judged"

    def verdict(self, measured: float | None, paper: float | None, interval: Interval | None) -> Verdict:
        """Never judges."""
        return "unjudged"


@dataclass(frozen=True, slots=True)
class Exact:
    """Follows from the protocol or from arithmetic: within ``tolerance`` of the paper's; zero means zero."""

    tolerance: float = 0.02
    name: ClassVar[str] = "exact"

    @property
    def rule(self) -> str:
        """The rule in words."""
        return f"within {self.tolerance:.0%} of the paper"

    def verdict(self, measured: float | None, paper: float | None, interval: Interval | None) -> Verdict:
        """Match when the measured value lies within the tolerance."""
        if measured is None or paper is None:
            return "unjudged"
        return _match(abs(measured - paper) <= self.tolerance * abs(paper))


@dataclass(frozen=True, slots=True)
class Factor:
    """Within a factor ``limit`` of the paper's.

    ``better`` says which direction counts as better than the paper, and so as a match however far it goes;
    ``winner_above`` asks that both lie on the same side of that value (1 for a ratio: the same scheme wins). There is
    no match where the interval has values on both sides: who wins was not seen.
    """

    limit: float = 2.0
    better: Literal["lower", "higher"] | None = None
    winner_above: float | None = None
    name: ClassVar[str] = "factor"

    @property
    def rule(self) -> str:
        """The rule in words."""
        parts = [f"within a factor of {self.limit:g} of the paper"]
        if self.better:
            parts.append(f"or {self.better}")
        if self.winner_above is not None:
            parts.append(f"on the same side of {self.winner_above:g}, with all of the interval")
        return ", ".join(parts)

    def verdict(self, measured: float | None, paper: float | None, interval: Interval | None) -> Verdict:
        """Judge by the measured value; nothing seen of a rare event is judged by what its interval still allows."""
        if measured is None or paper is None:
            return "unjudged"
        if not self._same_winner(measured, paper):
            return "differs"
        if self._is_better(measured, paper) or paper / self.limit <= measured <= paper * self.limit:
            return "match" if self._winner_is_seen(interval) else "unjudged"
        if measured == 0.0 and interval is not None and interval.high >= paper / self.limit:
            return "unjudged"
        return "differs"

    def _same_winner(self, measured: float, paper: float) -> bool:
        edge = self.winner_above
        return edge is None or (measured > edge) == (paper > edge)

    def _winner_is_seen(self, interval: Interval | None) -> bool:
        edge = self.winner_above
        return edge is None or interval is None or not interval.low <= edge <= interval.high

    def _is_better(self, measured: float, paper: float) -> bool:
        return (self.better == "lower" and measured <= paper) or (self.better == "higher" and measured >= paper)


@dataclass(frozen=True, slots=True)
class Shape:
    """An ordering or a trend that the paper shows: ``holds`` is its truth here, ``statement`` its words."""

    holds: bool
    statement: str
    name: ClassVar[str] = "shape"

    @property
    def rule(self) -> str:
        """What the paper shows."""
        return self.statement

    def verdict(self, measured: float | None, paper: float | None, interval: Interval | None) -> Verdict:
        """Match when the statement holds, whatever the number beside it."""
        return _match(self.holds)


def above_one(ratio: Interval, statement: str, apart: float = 0.1) -> Judge:
    """Does the interval of a ratio show the first to be larger?

    The statement holds where the whole interval is above 1. It fails where the interval leaves no room for a first that
    is larger by a share of ``apart``; between the two the runs have no power, and there is no verdict.
    """
    if ratio.low > 1.0:
        return Shape(holds=True, statement=statement)
    return Shape(holds=False, statement=statement) if ratio.high < 1.0 + apart else Unjudged()


def at_most(interval: Interval, limit: float, statement: str) -> Judge:
    """Is a quantity at most ``limit``? No verdict where its interval holds values on both sides."""
    if interval.high <= limit:
        return Shape(holds=True, statement=statement)
    return Shape(holds=False, statement=statement) if interval.low > limit else Unjudged()


def rising(values: Sequence[float], slack: float = 0.0) -> bool:
    """Is no value below the one before it by more than ``slack`` (a share of it)?"""
    return all(after >= before - slack * abs(before) for before, after in pairwise(values))


def falling(values: Sequence[float], slack: float = 0.0) -> bool:
    """Is no value above the one before it by more than ``slack`` (a share of it)?"""
    return all(after <= before + slack * abs(before) for before, after in pairwise(values))


def flat(values: Sequence[float], slack: float) -> bool:
    """Do all values lie within ``slack`` (a share) of their mean?"""
    mean = sum(values) / len(values)
    return all(abs(value - mean) <= slack * abs(mean) for value in values)


def close(first: float, second: float, slack: float) -> bool:
    """Is the first value within ``slack`` (a share) of the second?"""
    return abs(first - second) <= slack * abs(second)


def _match(holds: bool) -> Verdict:
    return "match" if holds else "differs"
