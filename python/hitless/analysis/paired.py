"""Two sides of a comparison, run with the same seeds: how far apart they are, and how sure that is.

The unit is a run, never a packet or a flow: flows of one run share queues, so their times are not independent, and an
interval over all of them would be far too narrow. A run gives one number, such as its 99th percentile; a seed gives a
pair of them, both from the same arrivals, so what a seed has in common falls out of the difference.

- `paired_ratio` is for positive quantities, such as times: the mean of the logarithms of b / a, and Student's interval
  of it, taken back. The logarithm makes a ratio and its inverse alike, and ratios of percentiles about symmetric;
  Student's t holds for as few as three seeds, for which a bootstrap covers far less than it says.
- `paired_difference` is for counts, which may be zero: Student's interval of the mean of b - a.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hitless.analysis.intervals import Interval, Numbers
from hitless.analysis.seeds import mean_over_seeds

_Z_CONFIDENCE = 1.96
_Z_POWER = 0.84
"""Of the normal distribution: 95 % confidence, and four chances of five that a true difference is found."""
SEEDS_MAX = 1000
"""More than so many nobody runs."""


@dataclass(frozen=True, slots=True)
class Paired:
    """b beside a, over some seeds."""

    estimate: float
    """The ratio b / a (a geometric mean), or the difference b - a (a mean)."""
    interval: Interval | None
    """Of 95 %; None for fewer than three seeds, and where all pairs are as far apart, to the bit."""
    neutral: float
    """What stands for no difference: 1 for a ratio, 0 for a difference."""
    seeds_needed: int | None
    """About how many seeds would show a difference as large as the estimate; None where no number would."""

    @property
    def is_significant(self) -> bool:
        """Does the interval leave out that there is no difference?"""
        return self.interval is not None and self.neutral not in self.interval


def paired_ratio(a: Sequence[float], b: Sequence[float]) -> Paired:
    """The ratio b / a of positive values, pair by pair."""
    if min(*a, *b) <= 0.0:
        raise ValueError("a ratio needs positive values")
    logarithms = np.log(np.asarray(b, dtype=np.float64)) - np.log(np.asarray(a, dtype=np.float64))
    found = _of(logarithms, neutral=0.0)
    interval = found.interval and Interval(math.exp(found.interval.low), math.exp(found.interval.high))
    return Paired(math.exp(found.estimate), interval, 1.0, found.seeds_needed)


def paired_difference(a: Sequence[float], b: Sequence[float]) -> Paired:
    """The difference b - a, pair by pair."""
    return _of(np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64), neutral=0.0)


def _of(differences: Numbers, neutral: float) -> Paired:
    mean = float(differences.mean())
    interval = mean_over_seeds(differences).interval
    if interval is None:
        return Paired(mean, None, neutral, None)
    spread = float(differences.std(ddof=1))
    return Paired(mean, interval, neutral, _seeds_needed(mean, spread, differences.size))


def _seeds_needed(mean: float, spread: float, seeds: int) -> int | None:
    """By the normal approximation; at least one more than there are."""
    if mean == 0.0 or spread == 0.0:
        return None
    needed = ((_Z_CONFIDENCE + _Z_POWER) * spread / mean) ** 2
    return None if needed > SEEDS_MAX else max(seeds + 1, math.ceil(needed))
