"""Densities fitted to a sample, and how far each is from its histogram (appendix B).

The paper says "sum square error" and no more. Here it is what the usual recipe in Python does: a histogram of `BINS`
equal bins over the whole range, scaled to an area of 1; a density with its parameters fitted to the sample by maximum
likelihood; the sum over bins of the squared difference between the two at the middle of the bin. Its unit is one over
the square of the sample's, so that only quotients of errors mean anything. Where a density falls steeply within a bin,
its value in the middle is not its mean there, and the recipe is unfair to it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hitless.analysis.intervals import Numbers

Density: TypeAlias = Callable[[Numbers], Numbers]

BINS = 200


@dataclass(frozen=True, eq=False)
class Sample:
    """Values, and how often each occurred."""

    values: Numbers
    counts: Numbers

    @property
    def size(self) -> float:
        return float(self.counts.sum())

    @property
    def mean(self) -> float:
        return float(np.average(self.values, weights=self.counts))

    @property
    def least(self) -> float:
        return float(self.values.min())

    def mean_of(self, function: Callable[[Numbers], Numbers]) -> float:
        return float(np.average(function(self.values), weights=self.counts))


def sum_square_error(sample: Sample, density: Density, bins: int = BINS) -> float:
    """How far a density is from the histogram of a sample."""
    heights, edges = np.histogram(sample.values, bins=bins, weights=sample.counts, density=True)
    return float(np.sum((heights - density(0.5 * (edges[:-1] + edges[1:]))) ** 2))


def uniform(sample: Sample) -> Density:
    height = 1.0 / (float(sample.values.max()) - sample.least)
    return lambda x: np.full_like(x, height)


def normal(sample: Sample) -> Density:
    """With the mean and the standard deviation of the sample."""
    mean = sample.mean
    deviation = math.sqrt(sample.mean_of(lambda values: (values - mean) ** 2))
    return lambda x: np.exp(-0.5 * ((x - mean) / deviation) ** 2) / (deviation * math.sqrt(2.0 * math.pi))


def exponential(sample: Sample) -> Density:
    """From the smallest on, with the mean of the sample."""
    least, scale = sample.least, sample.mean - sample.least
    return lambda x: np.exp(-(x - least) / scale) / scale


def pareto(sample: Sample) -> Density:
    """Fit a Pareto density of the first kind, which begins at the minimum, above 0."""
    least = sample.least
    shape = 1.0 / sample.mean_of(lambda values: np.log(values / least))
    return lambda x: (shape / x) * (least / x) ** shape


def shifted_pareto(sample: Sample) -> Density:
    """Fit one of the second kind (Lomax) above the minimum: with a large scale it is an exponential."""
    least = sample.least

    def shape(scale: float) -> float:
        return 1.0 / sample.mean_of(lambda values: np.log1p((values - least) / scale))

    def surprise(log_scale: float) -> float:
        """Minus the mean logarithm of the density, up to a constant, with the best shape for a scale."""
        best = shape(math.exp(log_scale))
        return log_scale - math.log(best) + 1.0 / best

    spread = math.log(sample.mean - least)
    scale = math.exp(_least(surprise, spread - 12.0, spread + 12.0))
    best = shape(scale)
    return lambda x: best / scale * (1.0 + (x - least) / scale) ** (-best - 1.0)


FITS: Mapping[str, Callable[[Sample], Density]] = {
    "uniform": uniform,
    "normal": normal,
    "exponential": exponential,
    "Pareto": pareto,
}
"""Those of table 2."""


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """Find the minimum of a function with one valley by golden section."""
    ratio = 0.5 * (math.sqrt(5.0) - 1.0)
    while high - low > 1e-9:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if function(left) < function(right):
            high = right
        else:
            low = left
    return 0.5 * (low + high)
