"""Uncertainty of numbers from one run. Its values form a time series, and depend on each other.

Flows that are active together share queues, so a thousand flows carry less information than a thousand independent
ones. The values, ordered by start time, are therefore cut into consecutive batches (batch means: Conway 1963):

- There are `BATCHES` batches; Schmeiser (1982) advises 10 to 30 for any length. There are fewer if a batch would have
  fewer than `BATCH_VALUES_MIN` values, and no interval below `BATCHES_MIN`.
- A mean has Student's interval of the means of the batches.
- A percentile has the exact interval for independent values, at the effective sample size. This is the number of values
  divided by the effect of their order: the variance over batches of the share above the percentile, divided by the
  variance that independent values would give (Heidelberger and Lewis 1984), minimum 1.
- Any other statistic is resampled batch by batch.

An interval is missing if neighbouring batches correlate, because they are then too short; if values repeat, as in a run
without randomness; or if too few values lie beyond a percentile.
"""

import math
from collections.abc import Callable

import numpy as np

from hitless.analysis.distributions import student_t_quantile
from hitless.analysis.intervals import Certainty, Interval, Numbers, Sample, Statistic, central_interval, mean_interval
from hitless.analysis.percentiles import (
    BEYOND_FOR_INTERVAL,
    beyond,
    interval_of_effective,
    percentile,
    ratio_of_effective,
)

BATCHES = 20
BATCHES_MIN = 10
BATCH_VALUES_MIN = 10
DISTINCT_MIN = 0.05
"""Minimum share of distinct values. Values of a run that repeats itself fall below it: 3,200 answers of an incast had
63.
"""
_ALIKE = 0.5
"""Correlation of neighbouring batches above which they are too short. Chance exceeds it in 1 case of 100."""
_NORMAL = 1.96


def repeats(sample: Sample) -> str:
    """Return why repeating values lack an interval: their number of distinct values; "" if enough are distinct."""
    values = np.asarray(sample, dtype=np.float64)
    distinct = np.unique(values).size
    if distinct >= DISTINCT_MIN * values.size and (distinct > 1 or values.size < 2):
        return ""
    return f"{distinct:,} distinct value{'s' * (distinct != 1)} among {values.size:,}: the run repeats itself"


def mean_in_order(sample: Sample) -> Certainty:
    """Return the certainty of the mean of a run's values, ordered by time."""
    return _certainty(sample, lambda batches: mean_interval([float(batch.mean()) for batch in batches]))


def statistic_in_order(sample: Sample, statistic: Statistic, *, resamples: int = 2_000) -> Certainty:
    """Return the certainty of any statistic of a run's values, ordered by time (bootstrap of batches)."""

    def interval(batches: list[Numbers]) -> Interval:
        random = np.random.Generator(np.random.PCG64(1))
        picks = random.integers(0, len(batches), (resamples, len(batches)))
        drawn = (np.concatenate([batches[number] for number in pick]) for pick in picks)
        return central_interval(np.array([statistic(each) for each in drawn]), 0.95)

    return _certainty(sample, interval)


def percentile_in_order(sample: Sample, percent: float) -> Certainty:
    """Return the certainty of a percentile of a run's values, ordered by time."""
    values = np.asarray(sample, dtype=np.float64)
    why, effect = _effect(values, percent)
    if why:
        return Certainty(None, why)
    interval = interval_of_effective(np.sort(values), percent, effect)
    if math.isfinite(interval.low) and math.isfinite(interval.high):
        return Certainty(interval)
    worth = f"{values.size:,} values in a row tell no more than {values.size / effect:,.0f} independent ones"
    return Certainty(None, f"{worth}: too few for p{percent:g}")


def percentile_ratio_in_order(
    numerator: Sample, denominator: Sample, percent: float, *, resamples: int = 10_000
) -> Certainty:
    """Return the certainty of the ratio of a percentile of two runs; the values of each are ordered by time."""
    samples = [np.asarray(sample, dtype=np.float64) for sample in (numerator, denominator)]
    (why, above), (other, below) = (_effect(values, percent) for values in samples)
    if why or other:
        return Certainty(None, why or other)
    return Certainty(ratio_of_effective((samples[0], above), (samples[1], below), percent, resamples=resamples))


def too_few_beyond(count: int, percent: float) -> str:
    """Return why ``count`` values are too few for the interval of a percentile; "" if they are enough."""
    if beyond(count, percent) >= BEYOND_FOR_INTERVAL:
        return ""
    few = f"{beyond(count, percent):.3g} of {count:,} values lie beyond p{percent:g}"
    return f"{few}: an interval takes {BEYOND_FOR_INTERVAL:.0f}"


def _certainty(sample: Sample, interval: Callable[[list[Numbers]], Interval]) -> Certainty:
    values = np.asarray(sample, dtype=np.float64)
    batches = _batches(values)
    why = repeats(values) or _too_few(batches, values.size) or _too_short(batches)
    return Certainty(None, why) if why else Certainty(interval(batches))


def _effect(values: Numbers, percent: float) -> tuple[str, float]:
    """Return why a percentile lacks an interval, or else the number of values divided by the effective sample size."""
    above = (values > percentile(values, percent)).astype(np.float64)
    batches = _batches(above)
    why = too_few_beyond(values.size, percent) or repeats(values) or _too_few(batches, values.size)
    why = why or _too_short(batches)
    share = float(above.mean())
    if why or share == 0.0:
        return why or f"no value lies above p{percent:g}", 1.0
    means = np.array([batch.mean() for batch in batches])
    effect = float(means.var(ddof=1)) * values.size / len(batches) / (share * (1.0 - share))
    wider = student_t_quantile(0.975, len(batches) - 1) / _NORMAL  # the variance is itself of a few batches
    return "", max(1.0, effect) * wider**2


def _batches(values: Numbers) -> list[Numbers]:
    return np.array_split(values, max(1, min(BATCHES, values.size // BATCH_VALUES_MIN)))


def _too_few(batches: list[Numbers], count: int) -> str:
    if len(batches) >= BATCHES_MIN:
        return ""
    return f"{count:,} values of one run: an interval takes {BATCHES_MIN * BATCH_VALUES_MIN}"


def _too_short(batches: list[Numbers]) -> str:
    means = np.array([batch.mean() for batch in batches])
    apart = means - means.mean()
    alike = float((apart[1:] * apart[:-1]).sum())
    return (
        "values correlate from batch to batch: the run is too short" if alike > _ALIKE * float((apart**2).sum()) else ""
    )
