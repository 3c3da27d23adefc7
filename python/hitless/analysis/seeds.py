"""Uncertainty of a number measured by several runs with different seeds.

The unit is a run, and an interval needs three of them (`REPLICAS_MIN`). Runs with exactly equal results get no
interval: the seeds changed nothing, so the runs show no more about chance than one run does. This is normal for counts,
such as zero packets lost, and for values fixed by a protocol; for any other number the result says it.
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
    """Return the reason why fewer seeds than the minimum do not give an interval."""
    return {0: "no seed", 1: "one seed"}.get(count, f"{count} seeds, and an interval takes {REPLICAS_MIN}")


def all_the_same(values: Sequence[float] | Numbers) -> bool:
    """Did several seeds give exactly the same value?"""
    return len(values) > 1 and min(values) == max(values)


def unmoved(values: Sequence[float] | Numbers) -> str:
    """Return the remark about values that are all equal; "" for whole numbers, which are counts."""
    return "" if float(values[0]).is_integer() else SEEDS_CHANGE_NOTHING


def mean_over_seeds(values: Sequence[float] | Numbers) -> Certainty:
    """Return the mean of a few runs with its Student's interval."""
    return _over(np.asarray(values, dtype=np.float64), mean_interval)


def ratio_over_seeds(values: Sequence[float] | Numbers) -> Certainty:
    """Return the geometric mean of positive ratios with Student's interval of their logarithms, converted back."""
    certainty = mean_over_seeds([math.log(value) for value in values])
    if certainty.interval is None:
        return Certainty(None, unmoved(values) if all_the_same(values) else certainty.why)
    return Certainty(Interval(math.exp(certainty.interval.low), math.exp(certainty.interval.high)))


def statistic_over_seeds(values: Sequence[float] | Numbers, statistic: Statistic) -> Certainty:
    """Return any statistic of runs with its bootstrap interval."""
    return _over(np.asarray(values, dtype=np.float64), lambda each: bootstrap_interval(each, statistic))


def _over(values: Numbers, interval: Callable[[Numbers], Interval]) -> Certainty:
    if all_the_same(values):
        return Certainty(None, unmoved(values))
    if values.size < REPLICAS_MIN:
        return Certainty(None, few_seeds(values.size))
    return Certainty(interval(values))
