"""How sure a number is that several runs have measured, each with a seed of its own.

The unit is a run. Three are the least for an interval (`REPLICAS_MIN`). Runs that all give the same number, to the bit,
have none: their seeds moved nothing, so that they say as much of chance as one run does. That is as it should be for a
count, such as no packet lost, and for what a protocol fixes; of anything else it is said.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from hitless.analysis.intervals import (
    REPLICAS_MIN,
    Certainty,
    Interval,
    Numbers,
    Statistic,
    bootstrap_interval,
    mean_interval,
)

SEEDS_CHANGE_NOTHING = "seeds change nothing here"


def few_seeds(count: int) -> str:
    """Why so many seeds, fewer than the least, give no interval."""
    return {0: "no seed", 1: "one seed"}.get(count, f"{count} seeds, and an interval takes {REPLICAS_MIN}")


def all_the_same(values: Sequence[float] | Numbers) -> bool:
    """Have several seeds given one value, to the bit?"""
    return len(values) > 1 and min(values) == max(values)


def unmoved(values: Sequence[float] | Numbers) -> str:
    """What to say of values that are all the same: nothing of whole numbers, which are counts."""
    return "" if float(values[0]).is_integer() else SEEDS_CHANGE_NOTHING


def mean_over_seeds(values: Sequence[float] | Numbers) -> Certainty:
    """How sure the mean of a few runs is (Student)."""
    return _over(np.asarray(values, dtype=np.float64), mean_interval)


def ratio_over_seeds(values: Sequence[float] | Numbers) -> Certainty:
    """How sure the geometric mean of positive ratios is: Student's interval of their logarithms, taken back."""
    certainty = mean_over_seeds([math.log(value) for value in values])
    if certainty.interval is None:
        return Certainty(None, unmoved(values) if all_the_same(values) else certainty.why)
    return Certainty(Interval(math.exp(certainty.interval.low), math.exp(certainty.interval.high)))


def statistic_over_seeds(values: Sequence[float] | Numbers, statistic: Statistic) -> Certainty:
    """How sure any statistic of runs is (bootstrap)."""
    return _over(np.asarray(values, dtype=np.float64), lambda each: bootstrap_interval(each, statistic))


def _over(values: Numbers, interval: Callable[[Numbers], Interval]) -> Certainty:
    if all_the_same(values):
        return Certainty(None, unmoved(values))
    if values.size < REPLICAS_MIN:
        return Certainty(None, few_seeds(values.size))
    return Certainty(interval(values))
