"""The difference between two sides that ran with the same seeds, and its uncertainty.

The unit is a run, never a packet or a flow: flows share the queues of their run, so their times are not independent,
and an interval over all of them would be far too narrow. A run gives one number, such as its 99th percentile. A seed
gives a pair of numbers from the same arrivals, so effects of the seed cancel in the difference.

- `paired_ratio` is for positive quantities, such as times. It takes the mean of log(b / a) and its Student's interval,
  and converts both back. The logarithm treats a ratio and its inverse alike, and makes ratios of percentiles roughly
  symmetric. Student's t works with as few as three seeds; a bootstrap covers far less than it claims there.
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
"""Normal quantiles for 95 % confidence and 80 % power."""
SEEDS_MAX = 1000
"""Maximum number of seeds to suggest; nobody runs more."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Comparison of b with a, over some seeds."""

    estimate: float
    """Ratio b / a (a geometric mean), or difference b - a (a mean)."""
    interval: Interval | None
    """95 % interval; None for fewer than three seeds, and if all pairs differ by exactly the same amount."""
    neutral: float
    """Value that means no difference: 1 for a ratio, 0 for a difference."""
    seeds_needed: int | None
    """Approximate number of seeds that would show a difference as large as the estimate; None if no number would."""

    @property
    def is_significant(self) -> bool:
        """Does the interval exclude the neutral value?"""
        return self.interval is not None and self.neutral not in self.interval


def paired_ratio(a: Sequence[float], b: Sequence[float]) -> Paired:
    """Return the ratio b / a of positive values, pair by pair."""
    if min(*a, *b) <= 0.0:
        raise ValueError("a ratio needs positive values")
    logarithms = np.log(np.asarray(b, dtype=np.float64)) - np.log(np.asarray(a, dtype=np.float64))
    found = _of(logarithms, neutral=0.0)
    interval = found.interval and Interval(math.exp(found.interval.low), math.exp(found.interval.high))
    return Paired(math.exp(found.estimate), interval, 1.0, found.seeds_needed)


def paired_difference(a: Sequence[float], b: Sequence[float]) -> Paired:
    """Return the difference b - a, pair by pair."""
    return _of(np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64), neutral=0.0)


def _of(differences: Numbers, neutral: float) -> Paired:
    mean = float(differences.mean())
    interval = mean_over_seeds(differences).interval
    if interval is None:
        return Paired(mean, None, neutral, None)
    spread = float(differences.std(ddof=1))
    return Paired(mean, interval, neutral, _seeds_needed(mean, spread, differences.size))


def _seeds_needed(mean: float, spread: float, seeds: int) -> int | None:
    """Estimate by the normal approximation; the result exceeds the number of seeds that ran."""
    if mean == 0.0 or spread == 0.0:
        return None
    needed = ((_Z_CONFIDENCE + _Z_POWER) * spread / mean) ** 2
    return None if needed > SEEDS_MAX else max(seeds + 1, math.ceil(needed))
