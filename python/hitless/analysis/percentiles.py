"""Percentiles by nearest rank, with intervals that assume nothing of the distribution.

A percentile here is always a value that occurred: the smallest that at least ``percent`` % of the values do not exceed.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hitless.analysis.distributions import binomial_cdf
from hitless.analysis.intervals import Interval, Numbers, Sample, central_interval


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
    """Exact interval of a percentile between two order statistics (David and Nagaraja, section 7.1).

    Where the sample is too small to bound the percentile on a side, that side is infinite.
    """
    values = np.sort(_values(sample))
    share = _share(percent)
    tail = 0.5 * (1.0 - confidence)
    low = _largest_rank(values.size, share, tail)
    high = _largest_rank(values.size, share, 1.0 - tail) + 1
    # The k-th smallest value is below the percentile exactly when at least k values are.
    return Interval(
        float(values[low - 1]) if low >= 1 else -math.inf,
        float(values[high - 1]) if high <= values.size else math.inf,
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
    """A percentile of one sample over that of another, independent one, with its bootstrap interval."""
    random = np.random.Generator(np.random.PCG64(seed))
    above = _resampled_percentiles(_values(numerator), percent, resamples, random)
    below = _resampled_percentiles(_values(denominator), percent, resamples, random)
    ratio = percentile(numerator, percent) / percentile(denominator, percent)
    return ratio, central_interval(above / below, confidence)


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


def _resampled_percentiles(values: Numbers, percent: float, resamples: int, random: np.random.Generator) -> Numbers:
    """The percentile of each of ``resamples`` bootstrap samples, without drawing them.

    The rank-th smallest of n uniform numbers is a Beta(rank, n + 1 - rank) variable, and a bootstrap sample picks
    values by uniform positions.
    """
    rank = _rank(values.size, percent)
    positions = random.beta(rank, values.size + 1 - rank, resamples) * values.size
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
