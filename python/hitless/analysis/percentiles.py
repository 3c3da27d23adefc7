"""Percentiles by nearest rank, with distribution-free intervals.

A percentile is always a value of the sample: the smallest value that ``percent`` % or more of the sample do not exceed.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hitless.analysis.distributions import binomial_cdf
from hitless.analysis.intervals import Interval, Numbers, Sample, central_interval

BEYOND_FOR_VALUE = 1.0
BEYOND_FOR_INTERVAL = 10.0
"""Minimum number of values beyond a percentile. With fewer than one, the percentile is just the extreme value of the
sample; with fewer than ten, it varies too much by chance for an interval from one run.
"""


def beyond(count: int, percent: float) -> float:
    """Return the number of values beyond a percentile, on the side with fewer of them."""
    return round(count * min(percent, 100.0 - percent) / 100.0, 6)


def enough_for(percent: float, count: int) -> bool:
    """Is a percentile more than an extreme value of the sample? p50 needs 2 values, p99.9 needs 1,000."""
    return beyond(count, percent) >= BEYOND_FOR_VALUE


def percentile(sample: Sample, percent: float) -> float:
    """Return the nearest-rank percentile; ``percent`` is above 0, maximum 100."""
    return percentiles_of(sample, [percent])[0]


def percentiles_of(sample: Sample, percents: Sequence[float]) -> list[float]:
    """Return several nearest-rank percentiles, in one pass."""
    values = _values(sample)
    places = [_rank(values.size, percent) - 1 for percent in percents]
    parted = np.partition(values, places)
    return [float(parted[place]) for place in places]


def percentile_interval(sample: Sample, percent: float, confidence: float = 0.95) -> Interval:
    """Return the exact interval of a percentile of independent values (David and Nagaraja, section 7.1).

    Both ends are values of the sample; an end is infinite if the sample is too small to bound it. Values within a run
    depend on each other: use `hitless.analysis.serial` for them.
    """
    return interval_of_effective(np.sort(_values(sample)), percent, 1.0, confidence)


def interval_of_effective(ordered: Numbers, percent: float, effect: float, confidence: float = 0.95) -> Interval:
    """Return the interval for dependent values: ``effect`` is their number divided by the effective sample size."""
    share, tail = _share(percent), 0.5 * (1.0 - confidence)
    size = max(1, int(ordered.size / effect))
    low = _largest_rank(size, share, tail)
    high = _largest_rank(size, share, 1.0 - tail) + 1
    # The k-th smallest value is below the percentile exactly when k or more values are.
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
    """Return the ratio of a percentile of two independent samples, with its bootstrap interval.

    The values within each sample must be independent too; for values within a run, use `hitless.analysis.serial`.
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
    """Return the bootstrap interval of the ratio of a percentile of two samples of dependent values.

    Each sample comes with its ``effect``: the number of its values divided by its effective sample size.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    above, below = (
        _resampled_percentiles(_values(sample), percent, effect, resamples, random)
        for sample, effect in (numerator, denominator)
    )
    return central_interval(above / below, confidence)


def cdf(sample: Sample, points_max: int = 600) -> tuple[list[float], list[float]]:
    """Return values and the shares (0 to 1) of the sample at or below each, thinned for a plot.

    Half of the points are spread evenly over the sample; the other half is spaced logarithmically over the upper tail,
    because the papers plot it.
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
    values: Numbers, percent: float, effect: float, resamples: int, random: "np.random.Generator"
) -> Numbers:
    """Return the percentile of each of ``resamples`` bootstrap samples, without drawing them.

    The rank-th smallest of n uniform numbers is a Beta(rank, n + 1 - rank) variable, and a bootstrap sample picks
    values by uniform positions.
    """
    rank = _rank(values.size, percent)
    positions = random.beta(rank / effect, (values.size + 1 - rank) / effect, resamples) * values.size
    return np.sort(values)[np.minimum(positions.astype(np.int64), values.size - 1)]


def _largest_rank(size: int, share: float, probability: float) -> int:
    """Return the maximum k with fewer than k of ``size`` values below the percentile, with <= ``probability``."""
    low, high = 0, size + 1
    while high - low > 1:
        middle = (low + high) // 2
        if binomial_cdf(middle - 1, size, share) <= probability:
            low = middle
        else:
            high = middle
    return low


def _rank(size: int, percent: float) -> int:
    # 99.9 % of 1000 is 999.0000000000001 in floating point, but rank 999 is meant.
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
