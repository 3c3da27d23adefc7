"""Values for rows, with their intervals and the share of finished flows or queries."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hitless.analysis import (
    Interval,
    enough_for,
    mean_in_order,
    mean_over_seeds,
    percentile,
    percentile_in_order,
    percentile_ratio_in_order,
    poisson_interval,
    proportion_interval,
)
from hitless.analysis.intervals import Certainty, Sample
from hitless.drawing.plot import Plot, Position, Series, Style, tail_series
from hitless_papers.judge import Judge, Paper, Unjudged
from hitless_papers.model import Row, Share


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval; None without data."""

    value: float | None
    interval: Interval | None = None
    completed: Collection[Share] = ()
    why: str = ""
    """Reason for a missing interval or number."""

    @classmethod
    def of(cls, value: float, certainty: Certainty) -> "Estimate":
        """Return an estimate with the interval of ``certainty``."""
        return cls(value, certainty.interval, why=certainty.why)

    @property
    def number(self) -> float:
        """Value of an estimate that must have one. Raises `ValueError` without a value."""
        if self.value is None:
            raise ValueError("the estimate has no value: there was no data")
        return self.value

    def scaled(self, factor: float) -> "Estimate":
        """Return the number times a positive ``factor``, for a change of unit."""
        value = None if self.value is None else self.value * factor
        return Estimate(value, self.interval and self.interval.scaled(factor), self.completed, self.why)

    def row(
        self,
        series: str,
        x: str,
        metric: str,
        paper: Paper | None = None,
        judge: Judge | None = None,
        *,
        unit: str = "times",
        note: str = "",
        completed: Collection[Share] = (),
    ) -> Row:
        """Return the row of this number."""
        of, judge = completed or self.completed, judge or Unjudged()
        return Row(
            series,
            x,
            metric,
            unit,
            self.value,
            paper,
            interval=self.interval,
            judge=judge,
            note=note,
            completed=of,
            why=self.why,
        )


def curve(name: str, x: Sequence[Position], estimates: Sequence[Estimate], style: Style = "line") -> Series:
    """Return the numbers as a series of a plot."""
    return Series(name, x, [one.value for one in estimates], [one.interval for one in estimates], style)


def fct_tails(title: str, samples: Mapping[str, Sample]) -> Plot:
    """Plot the tails of completion times in microseconds, by series."""
    series = [tail_series(name, sample) for name, sample in samples.items()]
    return Plot(title, "FCT (us)", "share of flows at or above", series, x_scale="log", y_scale="log")


def mean_of(values: Sequence[float]) -> Estimate:
    """Return the mean of independent runs with different seeds. Raises `ValueError` without values."""
    if not values:
        raise ValueError("a mean needs at least one value")
    return Estimate.of(sum(values) / len(values), mean_over_seeds(values))


def mean_if_any(values: Sequence[float]) -> Estimate:
    """Like `mean_of`, but without values return an estimate without a number."""
    return mean_of(values) if values else Estimate(None)


def mean_in_run(sample: Sample) -> Estimate:
    """Return the mean of a run's values in time order; None without values."""
    return Estimate.of(float(np.mean(sample)), mean_in_order(sample)) if len(sample) else Estimate(None)


def percentile_of(sample: Sample, percent: float) -> Estimate:
    """Return a percentile (nearest rank) of a run's values in time order; None if it is the maximum or minimum."""
    if not enough_for(percent, len(sample)):
        return Estimate(None, why=f"p{percent:g} of {len(sample):,} values is merely their extreme value")
    return Estimate.of(percentile(sample, percent), percentile_in_order(sample, percent))


def ratio_of(above: Sample, below: Sample, percent: float, resamples: int = 1_000) -> Estimate:
    """Return the ratio of a percentile between two runs, each with its values in time order."""
    for sample in (above, below):
        if not enough_for(percent, len(sample)):
            return percentile_of(sample, percent)
    value = percentile(above, percent) / percentile(below, percent)
    return Estimate.of(value, percentile_ratio_in_order(above, below, percent, resamples=resamples))


def rate_of(count: int, exposure: float) -> Estimate:
    """Return the rate of rare events, with its exact interval."""
    return Estimate(count / exposure, poisson_interval(count, exposure))


def percent_of(part: int, whole: int) -> Estimate:
    """Return a share in percent, with its exact interval."""
    return Estimate(100 * part / whole, proportion_interval(part, whole).scaled(100)) if whole else Estimate(None)
