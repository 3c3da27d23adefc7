"""Confidence intervals of counts, proportions, means and statistics of samples.

All are two-sided, with equal tails; ``confidence`` is the share of intervals that cover the true value in the long run.
Exact intervals cover this share or more.
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
"""Minimum runs for an interval. With two, chance alone decides how close they are, so their interval means nothing."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, in the unit of its quantity."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def scaled(self, factor: float) -> "Interval":
        """Return the interval of the quantity times ``factor``, which is positive. Use it to change a unit."""
        return Interval(self.low * factor, self.high * factor)


def format_interval(interval: Interval | None) -> str:
    """Return the interval in brackets, or "" without one."""
    if interval is None:
        return ""
    return f"[{format_number(finite(interval.low))}, {format_number(finite(interval.high))}]"


@dataclass(frozen=True, slots=True)
class Certainty:
    """The uncertainty of a number: its interval, or the reason for a missing interval."""

    interval: Interval | None
    why: str = ""
    """A clause for people; empty if there is an interval, or if the reason is obvious."""

    def scaled(self, factor: float) -> "Certainty":
        """Return the certainty of the number times ``factor``, which is positive. Use it to change a unit."""
        return Certainty(self.interval and self.interval.scaled(factor), self.why)


def poisson_interval(count: int, exposure: float = 1.0, confidence: float = 0.95) -> Interval:
    """Return the interval of a rate: ``count`` rare events in ``exposure`` (seconds, packets, ...). Garwood 1936."""
    _require(count >= 0 and exposure > 0.0, "a count is not negative, and an exposure is positive")
    low, high = poisson_limits(count, _tail(confidence))
    return Interval(low / exposure, high / exposure)


def proportion_interval(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Return the interval of a probability from independent trials. Clopper and Pearson 1934."""
    _require(
        0 <= successes <= trials and trials > 0, "successes must be between 0 and the trials, and there must be a trial"
    )
    return Interval(*binomial_limits(successes, trials, _tail(confidence)))


def mean_interval(sample: Sample, confidence: float = 0.95) -> Interval:
    """Return the interval of the mean of a few independent runs with roughly normal results. Student 1908.

    Raises `ValueError` for fewer than three values, and for values that are all equal: they do not show the effect of
    chance.
    """
    values = np.asarray(sample, dtype=np.float64)
    _require(values.size >= REPLICAS_MIN, "an interval of a mean needs three values or more")
    _require(values.min() < values.max() or math.isnan(values.sum()), "values that are all equal have no interval")
    reach = mean_reach(values.size, confidence) * float(values.std(ddof=1))
    return Interval(float(values.mean()) - reach, float(values.mean()) + reach)


def mean_reach(size: int, confidence: float = 0.95) -> float:
    """Return the half-width of `mean_interval`, in standard deviations of a sample of ``size`` values."""
    return student_t_quantile(1.0 - _tail(confidence), size - 1) / math.sqrt(size)


def bootstrap_interval(
    sample: Sample, statistic: Statistic, *, confidence: float = 0.95, resamples: int = 2000, seed: int = 1
) -> Interval:
    """Return the percentile-bootstrap interval of any statistic; for a percentile, `percentile_interval` is exact.

    The same seed always gives the same interval: numpy promises not to change its generator PCG64.
    """
    values = np.asarray(sample, dtype=np.float64)
    _require(values.size > 0 and resamples > 0, "a bootstrap needs a value and a resample")
    random = np.random.Generator(np.random.PCG64(seed))
    results = np.array([statistic(random.choice(values, values.size)) for _ in range(resamples)])
    return central_interval(results, confidence)


def central_interval(values: Numbers, confidence: float) -> Interval:
    """Return the middle ``confidence`` share of simulated results."""
    tail = _tail(confidence)
    low, high = np.quantile(values, [tail, 1.0 - tail])
    return Interval(float(low), float(high))


def _tail(confidence: float) -> float:
    _require(0.0 < confidence < 1.0, "a confidence lies between 0 and 1")
    return 0.5 * (1.0 - confidence)


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(rule)
