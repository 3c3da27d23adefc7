"""Rules that compare a measured number with the paper's.

A judge is written before the number is known, and nothing is tuned to satisfy it. Its `Band` is the allowed range
around the paper's value or range, and `Near` compares the measurement's interval with the band:

- ``match``: the number lies in the band of a rule for the paper's value or bound, or a statement holds;
- ``within``: the number lies within a factor of two of the paper's; such a rule shows no more than that;
- ``beyond``: the whole interval lies outside the band, on the side that the paper claims as better. Only rows of the
  paper's scheme name such a side, so a rival is never credited with being better;
- ``differs``: the whole interval lies outside the band;
- ``unjudged``: the paper does not give the number, or the runs cannot tell; the verdict has the reason. The runs cannot
  tell if the number lies outside the band and its interval overlaps it: a wide interval is not evidence for the paper.

A verdict needs several seeds (`decided`), because a single seed can be an accident.

Rules for statements, and predicates on several numbers for them, are in `hitless_papers.statements`.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias

from hitless.analysis import REPLICAS_MIN, Interval
from hitless.analysis.seeds import few_seeds
from hitless.numbers import format_number

Verdict: TypeAlias = Literal["match", "within", "beyond", "differs", "unjudged"]
VERDICTS: tuple[Verdict, ...] = ("match", "within", "beyond", "differs", "unjudged")
"""In display order."""
SEVERITY: tuple[Verdict, ...] = ("differs", "beyond", "within", "match", "unjudged")
"""Order of precedence: the first verdict here that occurs stands for several verdicts."""
VERDICT_WORDS: Mapping[Verdict, str] = {
    "match": "match",
    "within": "within 2x",
    "beyond": "beyond",
    "differs": "differs",
    "unjudged": "not judged",
}
"""Verdicts in pages and tables."""
VERDICT_STYLES: Mapping[Verdict, str] = {
    "match": "green",
    "within": "green",
    "beyond": "blue",
    "differs": "red",
    "unjudged": "dim",
}
"""Terminal colours of verdicts."""
AGREES: frozenset[Verdict] = frozenset({"match", "within"})
"""Verdicts of numbers that a rule allows."""
FACTOR = 2.0
"""Maximum ratio between a number and the paper's that `Factor` and `Gain` allow."""
Direction: TypeAlias = Literal["lower", "higher"]

NO_PAPER_VALUE = "the paper has no number"
NOTHING_MEASURED = "nothing was measured"


@dataclass(frozen=True, slots=True)
class Range:
    """A range in a paper's text: "2 to 4", "over 1,000" (no high), "at most 60" (no low)."""

    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"a range must have low < high, unlike {self.low} to {self.high}")

    def __str__(self) -> str:
        """Format the range: "2 to 4", "over 1,000", "at most 60"."""
        if math.isinf(self.high):
            return f"over {format_number(self.low)}"
        if math.isinf(self.low):
            return f"at most {format_number(self.high)}"
        return f"{format_number(self.low)} to {format_number(self.high)}"

    @property
    def is_bound(self) -> bool:
        """Is one end open? The other end is then a bound, and rules add no slack to it."""
        return math.isinf(self.low) or math.isinf(self.high)


Paper: TypeAlias = float | Range
"""A paper's number or range."""


@dataclass(frozen=True, slots=True)
class Band:
    """Range that a rule allows, both ends included."""

    low: float
    high: float

    def has(self, value: float) -> bool:
        """Is the value allowed?"""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, and the reason for "unjudged"."""

    verdict: Verdict
    reason: str = ""


def no_verdict(reason: str) -> Judgement:
    """Return "unjudged" with a reason for people ("the interval has values on both sides of 1")."""
    return Judgement("unjudged", reason)


class Judge(Protocol):
    """Interface of the rules that judge a number."""

    @property
    def name(self) -> str:
        """Name in the tables: exact, factor, gain, shape or none."""

    @property
    def rule(self) -> str:
        """The rule in words, for the report."""

    @property
    def by_interval(self) -> bool:
        """Does the interval of the number decide? Otherwise each run has a separate verdict."""

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Judge one number."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Shown without a verdict, for ``reason``."""

    reason: str = NO_PAPER_VALUE
    name: ClassVar[str] = "none"
    by_interval: ClassVar[bool] = False

    @property
    def rule(self) -> str:
        """Reason for no verdict."""
        return f"not judged: {self.reason}"

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Never judges."""
        return no_verdict(self.reason)


@dataclass(frozen=True, slots=True)
class Finding(Unjudged):
    """A number of our own that nobody has published: shown without a verdict, and kept in the summary."""

    reason: str = "nobody has published this number"
    name: ClassVar[str] = "finding"


class Near(ABC):
    """A rule that allows a band around the paper's value or range. Only this class compares a measurement with a band.

    ``better`` is the direction that the paper claims as good, for rows of the paper's scheme.
    """

    better: Direction | None
    by_interval: ClassVar[bool] = True

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Judge by the band: a number outside it remains unjudged if its interval overlaps the band."""
        if measured is None or math.isnan(measured):
            return no_verdict(NOTHING_MEASURED)
        if paper is None:
            return no_verdict(NO_PAPER_VALUE)
        band = self._around(paper)
        low, high = _seen(measured, interval)
        if low < band.low and band.high < high:
            return no_verdict("the interval is wider than the rule's range: this needs longer runs")
        if band.has(measured):
            return self._allowed(paper, interval)
        if low <= band.high and band.low <= high:
            return no_verdict(self._why_open(measured, interval))
        is_further = (self.better == "lower" and high < band.low) or (self.better == "higher" and low > band.high)
        return Judgement("beyond" if is_further else "differs")

    def _around(self, paper: Paper) -> Band:
        """Return the band around a value or a range; a bound gets no slack."""
        if not isinstance(paper, Range):
            return self._band(float(paper), float(paper))
        return Band(paper.low, paper.high) if paper.is_bound else self._band(paper.low, paper.high)

    @abstractmethod
    def _band(self, low: float, high: float) -> Band:
        """Return the band around a range with two ends; for a value both are equal."""

    def _allowed(self, paper: Paper, interval: Interval | None) -> Judgement:
        return Judgement("match")

    def _why_open(self, measured: float, interval: Interval | None) -> str:
        """Return why a number outside the band gets no verdict if its interval overlaps the band."""
        return _PARTLY


@dataclass(frozen=True, slots=True)
class Exact(Near):
    """Within ``tolerance`` of the paper's number, which follows from the protocol or arithmetic; 0 matches only 0."""

    tolerance: float = 0.02
    better: Direction | None = None
    name: ClassVar[str] = "exact"

    @property
    def rule(self) -> str:
        """The rule in words."""
        return f"within {self.tolerance:.0%} of the paper"

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Match if the number is within the tolerance; if the paper's number is zero, only zero matches."""
        if paper == 0.0 and measured is not None:
            return Judgement("match" if measured == 0.0 else "differs")
        return Near.judge(self, measured, paper, interval)

    def _band(self, low: float, high: float) -> Band:
        return Band(low - self.tolerance * abs(low), high + self.tolerance * abs(high))


@dataclass(frozen=True, slots=True)
class Factor(Near):
    """A quantity within a factor of two of the paper's; a count of 0 is judged only if the rule excludes it.

    For quantities with a unit. Use `Gain` for a ratio between two schemes: for gains below two, a factor of two would
    also allow a win of the other scheme. Use `Exact` for a quantity close to a limit, such as goodput.
    """

    better: Direction | None = None
    name: ClassVar[str] = "factor"

    @property
    def rule(self) -> str:
        """The rule in words."""
        return f"within a factor of {FACTOR:g} of the paper"

    def _allowed(self, paper: Paper, interval: Interval | None) -> Judgement:
        return Judgement(_by_factor(paper))

    def _why_open(self, measured: float, interval: Interval | None) -> str:
        if measured == 0.0:
            return "no event occurred, and the interval still contains the paper's value"
        return _PARTLY

    def _band(self, low: float, high: float) -> Band:
        return Band(_positive(low) / FACTOR, _positive(high) * FACTOR)


@dataclass(frozen=True, slots=True)
class Gain(Near):
    """A ratio between two schemes: the same winner, by a similar ratio.

    The band is a factor of two around the paper's ratio, or around its logarithm if that is narrower: 25.5 to 102 for
    51, 1.21 to 2.13 for 1.46. So a gain must not vanish. If the interval contains 1, the runs do not show which scheme
    wins.
    """

    better: Direction | None = None
    name: ClassVar[str] = "gain"

    @property
    def rule(self) -> str:
        """The rule in words."""
        return (
            f"the same winner: within a factor of {FACTOR:g} of the paper's ratio, "
            f"and its logarithm within that factor of the paper's"
        )

    def _allowed(self, paper: Paper, interval: Interval | None) -> Judgement:
        return no_verdict(_TWO_WINNERS) if _has_one(interval) else Judgement(_by_factor(paper))

    def _why_open(self, measured: float, interval: Interval | None) -> str:
        return _TWO_WINNERS if _has_one(interval) else _PARTLY

    def _band(self, low: float, high: float) -> Band:
        low, high = _positive(low), _positive(high)
        if low <= 1.0 <= high:
            raise ValueError("a ratio of 1 has no winner: judge it by Exact, with a tolerance")
        by_factor = Band(low / FACTOR, high * FACTOR)
        if low > 1.0:
            return Band(max(by_factor.low, low ** (1 / FACTOR)), min(by_factor.high, high**FACTOR))
        return Band(max(by_factor.low, low**FACTOR), min(by_factor.high, high ** (1 / FACTOR)))


@dataclass(frozen=True, slots=True)
class Named:
    """A judge with the name and rule of another judge."""

    of: Judge

    @property
    def name(self) -> str:
        """Name of the other judge."""
        return self.of.name

    @property
    def rule(self) -> str:
        """Rule of the other judge."""
        return self.of.rule


@dataclass(frozen=True, slots=True)
class Decided(Named):
    """A verdict of several seeds, which does not depend on the number."""

    judgement: Judgement
    by_interval: ClassVar[bool] = False

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Return the verdict."""
        return self.judgement


def decided(
    judge: Judge, given: Sequence[Verdict], measured: float | None, paper: Paper | None, interval: Interval | None
) -> Judgement:
    """Return the verdict of several seeds from the verdict ``given`` by each seed.

    A verdict needs `REPLICAS_MIN` seeds, like an interval. The interval over the seeds decides for a number. A
    statement that each run judges separately has a verdict if all runs agree.
    """
    if len(given) < REPLICAS_MIN:
        return no_verdict(few_seeds(len(given)))
    if judge.by_interval:
        return judge.judge(measured, paper, interval)
    if len(set(given)) > 1:
        return no_verdict(agreement(given))
    return judge.judge(measured, paper, interval)


def agreement(given: Sequence[Verdict]) -> str:
    """Describe how many seeds agree: "match with 2 of 3 seeds"; an empty text if all do."""
    counts = Counter(given)
    if len(counts) == 1:
        return ""
    told = sorted(counts, key=lambda verdict: (-counts[verdict], VERDICTS.index(verdict)))
    return f"{VERDICT_WORDS[told[0]]} with {counts[told[0]]} of {len(given)} seeds"


def _seen(measured: float, interval: Interval | None) -> tuple[float, float]:
    """Return the ends of the interval, widened to contain the measurement; an unknown end is infinite."""
    if interval is None:
        return measured, measured
    low = -math.inf if math.isnan(interval.low) else interval.low
    high = math.inf if math.isnan(interval.high) else interval.high
    return min(low, measured), max(high, measured)


_PARTLY = "only a part of the interval is in the rule's range: this needs more seeds"
_TWO_WINNERS = "the interval has values on both sides of 1: the runs do not show which scheme wins"


def _has_one(interval: Interval | None) -> bool:
    return interval is not None and interval.low <= 1.0 <= interval.high


def _by_factor(paper: Paper) -> Verdict:
    """Return the verdict for a number that a rule with a factor allows: "match" only for a bound."""
    return "match" if isinstance(paper, Range) and paper.is_bound else "within"


def _positive(value: float) -> float:
    if value <= 0.0:
        raise ValueError(f"a factor needs a positive number, unlike {value}: judge it by Exact")
    return value
