"""Confidence intervals of counts, proportions, means and statistics of samples.

All are two-sided, with equal tails; ``confidence`` is the share of intervals that cover the truth in the long run. The
exact ones cover at least that share.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hitless.analysis.distributions import binomial_limits, poisson_limits, student_t_quantile
from hitless.numbers import finite, format_number

Numbers: TypeAlias = NDArray[np.float64]
Sample: TypeAlias = Numbers | Sequence[float]
Statistic: TypeAlias = Callable[[Numbers], float]

REPLICAS_MIN = 3
"""Fewer runs give no interval: two differ by so little or so much by chance that theirs says nothing."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, in the unit of what it is for."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def scaled(self, factor: float) -> "Interval":
        """The interval of the quantity times ``factor``, which is positive: a change of unit."""
        return Interval(self.low * factor, self.high * factor)


def format_interval(interval: Interval | None) -> str:
    """The interval between brackets, or nothing."""
    if interval is None:
        return ""
    return f"[{format_number(finite(interval.low))}, {format_number(finite(interval.high))}]"


@dataclass(frozen=True, slots=True)
class Certainty:
    """How sure a number is: its interval, or why it has none."""

    interval: Interval | None
    why: str = ""
    """A clause for people; empty where there is an interval, or nothing worth a word."""

    def scaled(self, factor: float) -> "Certainty":
        """That of the number times ``factor``, which is positive: a change of unit."""
        return Certainty(self.interval and self.interval.scaled(factor), self.why)


def poisson_interval(count: int, exposure: float = 1.0, confidence: float = 0.95) -> Interval:
    """Interval of a rate: ``count`` rare events seen in ``exposure`` (seconds, packets, ...). Garwood 1936."""
    _require(count >= 0 and exposure > 0.0, "a count is not negative, and an exposure is positive")
    low, high = poisson_limits(count, _tail(confidence))
    return Interval(low / exposure, high / exposure)


def proportion_interval(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Interval of a probability from independent trials. Clopper and Pearson 1934."""
    _require(
        0 <= successes <= trials and trials > 0,
        "successes lie between 0 and the trials, of which there is one",
    )
    return Interval(*binomial_limits(successes, trials, _tail(confidence)))


def mean_interval(sample: Sample, confidence: float = 0.95) -> Interval:
    """Interval of the mean of a few independent runs, whose results are about normal. Student 1908.

    Raises `ValueError` for fewer than three values, and for values that are all the same: they do not show how far
    chance moves them.
    """
    values = np.asarray(sample, dtype=np.float64)
    _require(values.size >= REPLICAS_MIN, "an interval of a mean needs three values or more")
    _require(values.min() < values.max() or math.isnan(values.sum()), "values that are all the same have no interval")
    reach = mean_reach(values.size, confidence) * float(values.std(ddof=1))
    return Interval(float(values.mean()) - reach, float(values.mean()) + reach)


def mean_reach(size: int, confidence: float = 0.95) -> float:
    """How far `mean_interval` reaches on either side, in standard deviations of a sample of ``size`` values."""
    return student_t_quantile(1.0 - _tail(confidence), size - 1) / math.sqrt(size)


def bootstrap_interval(
    sample: Sample,
    statistic: Statistic,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 1,
) -> Interval:
    """Percentile bootstrap of any statistic of a sample; for a percentile, `percentile_interval` is exact.

    The same seed gives the same interval: PCG64, a generator that numpy promises not to change.
    """
    values = np.asarray(sample, dtype=np.float64)
    _require(values.size > 0 and resamples > 0, "a bootstrap needs a value and a resample")
    random = np.random.Generator(np.random.PCG64(seed))
    results = np.array([statistic(random.choice(values, values.size)) for _ in range(resamples)])
    return central_interval(results, confidence)


def central_interval(values: Numbers, confidence: float) -> Interval:
    """The middle ``confidence`` share of simulated results."""
    tail = _tail(confidence)
    low, high = np.quantile(values, [tail, 1.0 - tail])
    return Interval(float(low), float(high))


def _tail(confidence: float) -> float:
    _require(0.0 < confidence < 1.0, "a confidence lies between 0 and 1")
    return 0.5 * (1.0 - confidence)


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(rule)
