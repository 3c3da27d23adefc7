"""How a measured number is judged beside the paper's.

A judge is written before the number is known, and nothing is tuned to please it. It says what the rule allows around
the paper's value or range, a `Band`, and `Near` compares the measurement's interval with it:

- ``match``: the interval overlaps the band;
- ``beyond``: all of the interval lies outside the band, further than the paper in the direction that the paper claims
  as good. Only rows of a paper's own scheme name such a direction: being better is never granted to a rival;
- ``differs``: all of the interval lies outside the band;
- ``unjudged``: the paper has no number, or the runs cannot tell; the reason stands with it.

A verdict rests on several seeds (`decided`): one seed's number may be an accident, and one that no seed moves is none.

Rules for statements, and predicates on several numbers for them, are in `hitless.exhibits.statements`.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias

from hitless.analysis import REPLICAS_MIN, Interval
from hitless.analysis.seeds import few_seeds

Verdict: TypeAlias = Literal["match", "beyond", "differs", "unjudged"]
VERDICTS: tuple[Verdict, ...] = ("match", "beyond", "differs", "unjudged")
"""In the order in which they are counted and shown."""
SEVERITY: tuple[Verdict, ...] = ("differs", "beyond", "match", "unjudged")
"""Where several verdicts become one, the first of these that is among them."""
VERDICT_WORDS: Mapping[Verdict, str] = {
    "match": "match",
    "beyond": "beyond",
    "differs": "differs",
    "unjudged": "not judged",
}
"""As people read them."""
Direction: TypeAlias = Literal["lower", "higher"]

NO_PAPER_VALUE = "the paper has no number"
NOTHING_MEASURED = "nothing was measured"


@dataclass(frozen=True, slots=True)
class Range:
    """What a paper says as a range, as its text has it: "2 to 4", "over 1,000" (no high), "at most 60" (no low)."""

    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"a range goes up, unlike {self.low} to {self.high}")


Paper: TypeAlias = float | Range
"""A paper's number or range."""


@dataclass(frozen=True, slots=True)
class Band:
    """What a rule allows, both ends included."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, and why there is none where it is "unjudged"."""

    verdict: Verdict
    reason: str = ""


def no_verdict(reason: str) -> Judgement:
    """There is no verdict, for ``reason``: a clause for people ("the interval has values on both sides of 1")."""
    return Judgement("unjudged", reason)


class Judge(Protocol):
    """Anything that judges a number; ``name`` is what the table calls it, ``rule`` says it in words."""

    @property
    def name(self) -> str:
        """One word: exact, factor, gain, shape or none."""

    @property
    def rule(self) -> str:
        """The rule in words, for the report."""

    @property
    def by_interval(self) -> bool:
        """Does the interval of the number decide? Else a verdict is that of each run for itself."""

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
        """Why there is no verdict."""
        return f"not judged: {self.reason}"

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Never judges."""
        return no_verdict(self.reason)


class Near(ABC):
    """A rule that allows a band around the paper's value or range: the one place that compares a measurement with it.

    ``better`` is the direction that the paper claims as good, for rows of its own scheme.
    """

    better: Direction | None
    by_interval: ClassVar[bool] = True

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Match where the interval has allowed values."""
        if measured is None or math.isnan(measured):
            return no_verdict(NOTHING_MEASURED)
        if paper is None:
            return no_verdict(NO_PAPER_VALUE)
        band = self._band(paper.low, paper.high) if isinstance(paper, Range) else self._band(float(paper), float(paper))
        low, high = _seen(measured, interval)
        if low < band.low and band.high < high:
            return no_verdict("the interval is wider than what the rule allows: it takes longer runs")
        if low <= band.high and band.low <= high:
            return self._matched(measured, interval)
        is_further = (self.better == "lower" and high < band.low) or (self.better == "higher" and low > band.high)
        return Judgement("beyond" if is_further else "differs")

    @abstractmethod
    def _band(self, low: float, high: float) -> Band:
        """What is allowed around a range, or around a value that is both its ends."""

    def _matched(self, measured: float, interval: Interval | None) -> Judgement:
        """What is said of an interval that overlaps the band."""
        return Judgement("match")


@dataclass(frozen=True, slots=True)
class Exact(Near):
    """Follows from the protocol or from arithmetic: within ``tolerance`` of the paper's; zero means zero."""

    tolerance: float = 0.02
    better: Direction | None = None
    name: ClassVar[str] = "exact"

    @property
    def rule(self) -> str:
        """The rule in words."""
        return f"within {self.tolerance:.0%} of the paper"

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Match where the interval has values within the tolerance; where the paper has none of a thing, only none."""
        if paper == 0.0 and measured is not None:
            return Judgement("match" if measured == 0.0 else "differs")
        return Near.judge(self, measured, paper, interval)

    def _band(self, low: float, high: float) -> Band:
        def slack(end: float) -> float:
            return self.tolerance * abs(end) if math.isfinite(end) else 0.0

        return Band(low - slack(low), high + slack(high))


@dataclass(frozen=True, slots=True)
class Factor(Near):
    """A quantity within a factor ``limit`` of the paper's; what was never seen is judged only if excluded.

    For quantities with a unit. A ratio between two schemes is judged by `Gain`: below a gain of two, a factor of two
    would allow that the other scheme wins.
    """

    limit: float = 2.0
    better: Direction | None = None
    name: ClassVar[str] = "factor"

    @property
    def rule(self) -> str:
        """The rule in words."""
        return f"within a factor of {self.limit:g} of the paper"

    def _matched(self, measured: float, interval: Interval | None) -> Judgement:
        if measured == 0.0:
            return no_verdict("no event was seen, and the interval still allows the paper's value")
        return Judgement("match")

    def _band(self, low: float, high: float) -> Band:
        return Band(_positive(low) / self.limit, _positive(high) * self.limit)


@dataclass(frozen=True, slots=True)
class Gain(Near):
    """A ratio between two schemes: the same winner, by about as much.

    Allowed is what is within a factor ``limit`` of the paper's ratio and whose logarithm is within that factor of the
    ratio's logarithm, whichever is closer to the paper: of 51, 25.5 to 102; of 1.46, 1.21 to 2.13. So a gain that has
    vanished is never a match. Where the interval has values on both sides of 1, who wins was not seen.
    """

    limit: float = 2.0
    better: Direction | None = None
    name: ClassVar[str] = "gain"

    @property
    def rule(self) -> str:
        """The rule in words."""
        return (
            f"the same winner: within a factor of {self.limit:g} of the paper's ratio, "
            f"and its logarithm within that factor of the paper's"
        )

    def _matched(self, measured: float, interval: Interval | None) -> Judgement:
        if interval is not None and interval.low <= 1.0 <= interval.high:
            return no_verdict("the interval has values on both sides of 1: which scheme wins was not seen")
        return Judgement("match")

    def _band(self, low: float, high: float) -> Band:
        low, high = _positive(low), _positive(high)
        if low <= 1.0 <= high:
            raise ValueError("a ratio of 1 has no winner: judge it by Exact, with a tolerance")
        by_factor = Band(low / self.limit, high * self.limit)
        if low > 1.0:
            return Band(max(by_factor.low, low ** (1 / self.limit)), min(by_factor.high, high**self.limit))
        return Band(max(by_factor.low, low**self.limit), min(by_factor.high, high ** (1 / self.limit)))


@dataclass(frozen=True, slots=True)
class Decided:
    """A judge that has spoken already, over several seeds, whatever the number of one."""

    of: Judge
    judgement: Judgement
    by_interval: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """As of the judge."""
        return self.of.name

    @property
    def rule(self) -> str:
        """As of the judge."""
        return self.of.rule

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """What was said."""
        return self.judgement


def decided(
    judge: Judge, given: Sequence[Verdict], measured: float | None, paper: Paper | None, interval: Interval | None
) -> Judgement:
    """The verdict of several seeds, of which each alone has ``given`` one: the one rule for all verdicts.

    It takes as many seeds as an interval does. Where a number is judged, the interval over the seeds decides; a
    statement that each run judges for itself has a verdict where all runs agree.
    """
    if len(given) < REPLICAS_MIN:
        return no_verdict(few_seeds(len(given)))
    if judge.by_interval:
        return judge.judge(measured, paper, interval)
    if len(set(given)) > 1:
        return no_verdict(agreement(given))
    return judge.judge(measured, paper, interval)


def agreement(given: Sequence[Verdict]) -> str:
    """How far seeds agree: "match with 2 of 3 seeds"; nothing where all do."""
    counts = Counter(given)
    if len(counts) == 1:
        return ""
    told = sorted(counts, key=lambda verdict: (-counts[verdict], VERDICTS.index(verdict)))
    return f"{VERDICT_WORDS[told[0]]} with {counts[told[0]]} of {len(given)} seeds"


def _seen(measured: float, interval: Interval | None) -> tuple[float, float]:
    """From where to where the measurement lies; an end that is not known is open."""
    if interval is None:
        return measured, measured
    low = -math.inf if math.isnan(interval.low) else interval.low
    high = math.inf if math.isnan(interval.high) else interval.high
    return min(low, measured), max(high, measured)


def _positive(value: float) -> float:
    """The value, which a rule of factors can take; an open end of a range stays open."""
    if value == -math.inf:
        return 0.0
    if value <= 0.0:
        raise ValueError(f"a factor is asked of a positive number, unlike {value}: judge it by Exact")
    return value
