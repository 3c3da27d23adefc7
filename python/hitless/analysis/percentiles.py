"""Percentiles by nearest rank, with intervals that assume nothing of the distribution.

A percentile here is always a value that occurred: the smallest that at least ``percent`` % of the values do not exceed.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hitless.analysis.distributions import binomial_cdf
from hitless.analysis.intervals import Interval, Numbers, Sample, central_interval

BEYOND_FOR_VALUE = 1.0
BEYOND_FOR_INTERVAL = 10.0
"""How many values lie beyond a percentile at least. With fewer than one it is only the largest, or the smallest, of
all; with fewer than ten it moves too far by chance for an interval of one run."""


def beyond(count: int, percent: float) -> float:
    """How many of so many values lie beyond a percentile, on the side where fewer do."""
    return round(count * min(percent, 100.0 - percent) / 100.0, 6)


def enough_for(percent: float, count: int) -> bool:
    """Is a percentile more than the largest, or the smallest, of a few values? p50 asks for 2, p99.9 for 1,000."""
    return beyond(count, percent) >= BEYOND_FOR_VALUE


def percentile(sample: Sample, percent: float) -> float:
    """The nearest-rank percentile; ``percent`` is above 0 and at most 100."""
    return percentiles_of(sample, [percent])[0]


def percentiles_of(sample: Sample, percents: Sequence[float]) -> list[float]:
    """Several nearest-rank percentiles, in one pass."""
    values = _values(sample)
    places = [_rank(values.size, percent) - 1 for percent in percents]
    parted = np.partition(values, places)
    return [float(parted[place]) for place in places]


def percentile_interval(sample: Sample, percent: float, confidence: float = 0.95) -> Interval:
    """Exact interval of a percentile of independent values, between two of them (David and Nagaraja, section 7.1).

    Where the sample is too small to bound the percentile on a side, that side is infinite. Values of one run depend on
    each other: `hitless.analysis.serial` has their intervals.
    """
    return interval_of_effective(np.sort(_values(sample)), percent, 1.0, confidence)


def interval_of_effective(ordered: Numbers, percent: float, effect: float, confidence: float = 0.95) -> Interval:
    """The same of values that tell as much as a number of independent ones that is ``effect`` times smaller."""
    share, tail = _share(percent), 0.5 * (1.0 - confidence)
    size = max(1, int(ordered.size / effect))
    low = _largest_rank(size, share, tail)
    high = _largest_rank(size, share, 1.0 - tail) + 1
    # The k-th smallest value is below the percentile exactly when at least k values are.
    return Interval(
        float(ordered[low * ordered.size // size - 1]) if low >= 1 else -math.inf,
        float(ordered[-(-high * ordered.size // size) - 1]) if high <= size else math.inf,
    )


def percentile_ratio(
    numerator: Sample,
    denominator: Sample,
    percent: float,
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 1,
) -> tuple[float, Interval]:
    """A percentile of one sample over that of another, independent one, with its bootstrap interval.

    The values of each are independent too; of those of a run, see `hitless.analysis.serial`.
    """
    ratio = percentile(numerator, percent) / percentile(denominator, percent)
    sides = (numerator, 1.0), (denominator, 1.0)
    return ratio, ratio_of_effective(*sides, percent, confidence=confidence, resamples=resamples, seed=seed)


def ratio_of_effective(
    numerator: tuple[Sample, float],
    denominator: tuple[Sample, float],
    percent: float,
    *,
    confidence: float = 0.95,
    resamples: int,
    seed: int = 1,
) -> Interval:
    """The interval of that ratio, of values that tell as much as a number of independent ones that is smaller.

    Beside each sample stands how many times smaller.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    above, below = (
        _resampled_percentiles(_values(sample), percent, effect, resamples, random)
        for sample, effect in (numerator, denominator)
    )
    return central_interval(above / below, confidence)


def cdf(sample: Sample, points_max: int = 600) -> tuple[list[float], list[float]]:
    """Values and the shares (0 to 1) of the sample up to each, thinned for a plot.

    Half of the points are spread over the sample, half over its upper tail by powers, where the papers look.
    """
    values = np.sort(_values(sample))
    ranks = _plot_ranks(values.size, points_max)
    return values[ranks - 1].tolist(), (ranks / values.size).tolist()


def _plot_ranks(size: int, points_max: int) -> NDArray[np.int64]:
    if size <= points_max:
        return np.arange(1, size + 1)
    half = points_max // 2
    even = np.linspace(1, size, half)
    tail = size + 1 - np.geomspace(size, 1, points_max - half)
    return np.unique(np.concatenate([even, tail]).round().astype(np.int64))


def _resampled_percentiles(
    values: Numbers, percent: float, effect: float, resamples: int, random: np.random.Generator
) -> Numbers:
    """The percentile of each of ``resamples`` bootstrap samples, without drawing them.

    The rank-th smallest of n uniform numbers is a Beta(rank, n + 1 - rank) variable, and a bootstrap sample picks
    values by uniform positions.
    """
    rank = _rank(values.size, percent)
    positions = random.beta(rank / effect, (values.size + 1 - rank) / effect, resamples) * values.size
    return np.sort(values)[np.minimum(positions.astype(np.int64), values.size - 1)]


def _largest_rank(size: int, share: float, probability: float) -> int:
    """The largest k such that at most k - 1 of ``size`` values lie below the percentile with <= ``probability``."""
    low, high = 0, size + 1
    while high - low > 1:
        middle = (low + high) // 2
        if binomial_cdf(middle - 1, size, share) <= probability:
            low = middle
        else:
            high = middle
    return low


def _rank(size: int, percent: float) -> int:
    # 99.9 % of 1000 is 999.0000000000001 in floating point, and means rank 999.
    return max(1, min(size, math.ceil(round(_share(percent) * size, 6))))


def _share(percent: float) -> float:
    if not 0.0 < percent <= 100.0:
        raise ValueError(f"a percentile is above 0 and at most 100, not {percent}")
    return percent / 100.0


def _values(sample: Sample) -> Numbers:
    values = np.asarray(sample, dtype=np.float64)
    if values.size == 0:
        raise ValueError("an empty sample has no percentile")
    return values
