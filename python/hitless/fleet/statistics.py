"""Statistics of a year: means over time, and the gain of one policy over another.

A state holds until the next event. Figure 16 of LinkGuardian counts every event once, however long its state lasted;
reports show the shares by time next to the shares by event.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Window: TypeAlias = tuple[int, int]
"""Start and end, in seconds."""

_DAY_S = 86_400
YEAR_S = (4 * _DAY_S, 369 * _DAY_S)
"""Window of figure 16: a trace begins at the end of its fourth day."""
WEEK_DAYS = (245.5, 252.5)
"""Window of figure 15, in days."""
EQUAL_BELOW = 1.1
"""Threshold of a gain: sums of 100,000 floors of 1e-18 differ in their last digits."""


def durations_s(states: pl.DataFrame, window: Window) -> Floats:
    """Return the time that each state lasted within the window, in seconds."""
    times = states["time"].to_numpy()
    ends = np.append(times[1:], max(window[1], times[-1]))
    begin, end = window
    clipped: Floats = (np.clip(ends, begin, end) - np.clip(times, begin, end)).astype(np.float64)
    return clipped


def mean_over_time(states: pl.DataFrame, column: str, window: Window) -> float:
    """Return the mean of a column, with each state weighted by its duration."""
    return float(np.average(states[column].to_numpy(), weights=durations_s(states, window)))


def summary(states: pl.DataFrame, window: Window) -> dict[str, Any]:
    """Return the summary of a year: means over the window, minima and maxima over the whole series.

    A mean is None for a window of zero length, such as after a single failure.
    """

    def mean(column: str) -> float | None:
        return mean_over_time(states, column, window) if window[0] < window[1] else None

    return {
        "mean_penalty": mean("total_penalty"),
        "mean_effective_penalty": mean("total_effective_penalty"),
        "mean_disabled_links": mean("curr_disabled_links"),
        "mean_corrupting_links": mean("curr_corrupting_links"),
        "min_tor_paths": states["min_per_tor_paths"].min(),
        "min_pod_capacity_gbps": states["min_per_pod_capacity"].min(),
        "max_lg_ports_per_pipe": states["max_lg_ports_per_pipe"].max(),
    }


@dataclass(frozen=True, slots=True)
class Gain:
    """Gain between two policies in the same year: the factor of the effective penalty, and its price in capacity."""

    times: Floats
    """Effective penalty without over with the policy, at each event of the year that changed anything."""
    lasted_s: Floats
    """Duration of each state, in seconds."""
    capacity_lost_gbps: Floats
    """Capacity of the worst pod without minus with the policy, at each of these events."""

    @property
    def median(self) -> float:
        """Median by events."""
        return float(np.median(self.times))

    @property
    def median_by_time(self) -> float:
        order = np.argsort(self.times, kind="stable")
        reached = np.cumsum(self.lasted_s[order])
        return float(self.times[order][np.searchsorted(reached, reached[-1] / 2)])

    @property
    def share_without(self) -> float:
        return float(np.mean(self.times < EQUAL_BELOW))

    @property
    def share_without_by_time(self) -> float:
        return float(np.average(self.times < EQUAL_BELOW, weights=self.lasted_s))

    @property
    def worst_capacity_loss_gbps(self) -> float:
        return float(self.capacity_lost_gbps.max())

    def quantiles(self, count: int = 200) -> tuple[Floats, Floats, Floats]:
        """Return shares of events from 0 to 1, and at each share the quantiles of the gain and the lost capacity."""
        shares = np.linspace(0.0, 1.0, count + 1)
        found = [np.quantile(column, shares, method="inverted_cdf") for column in (self.times, self.capacity_lost_gbps)]
        return shares, found[0], found[1]


def gain(without: pl.DataFrame, with_it: pl.DataFrame, window: Window) -> Gain:
    """Return the gain between two policies with the same events, because they make the same decisions.

    Events that change nothing, or are outside the window, are excluded, as in the paper's analysis.
    """
    times = without["time"].to_numpy()
    if not np.array_equal(times, with_it["time"].to_numpy()):
        raise ValueError("the two years do not have the same events; compare their means over time instead")
    begin, end = window
    chosen = (_changes(without) | _changes(with_it)) & (times >= begin) & (times <= end)
    kept = np.flatnonzero(chosen)
    ends = np.append(times[kept[1:]], max(end, times[kept[-1]])) if kept.size else times[:0]
    return Gain(
        _column(without, "total_effective_penalty")[kept] / _column(with_it, "total_effective_penalty")[kept],
        (ends - times[kept]).astype(np.float64),
        _column(without, "min_per_pod_capacity")[kept] - _column(with_it, "min_per_pod_capacity")[kept],
    )


def week(states: pl.DataFrame, days: tuple[float, float] = WEEK_DAYS) -> pl.DataFrame:
    """Return the states of some days, including the state at their start."""
    begin, end = (int(day * _DAY_S) for day in days)
    times = states["time"].to_numpy()
    first = max(int(np.searchsorted(times, begin, side="right")) - 1, 0)
    last = int(np.searchsorted(times, end, side="right"))
    return states[first:last]


def _column(states: pl.DataFrame, name: str) -> Floats:
    return states[name].to_numpy().astype(np.float64)


def _changes(states: pl.DataFrame) -> NDArray[np.bool_]:
    """Does a state differ from the previous one? The first always does."""
    metrics = pl.exclude("time")
    differs = states.select(pl.any_horizontal(metrics != metrics.shift(1)).fill_null(value=True))
    return differs.to_series().to_numpy()
