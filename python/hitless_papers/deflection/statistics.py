"""Completion times of queries and flows, as the authors compute them, and with unfinished ones.

**As the authors compute them** (their simulator's scripts): from the first request to the last byte of the last answer,
without handshakes, over queries with all answers delivered before the run ended; percentiles interpolate. This favours
a scheme that leaves its slowest queries unfinished.

**With unfinished queries**: an unfinished query is censored at the end of the run. The method of Kaplan and Meier
(1958) estimates the share of queries that last longer than a time. Percentiles come from this estimate; the mean is the
area below it, up to the longest time seen. If the estimate ends above 0, both are lower bounds.

Intervals come from resampling slices of time, because concurrent queries delay each other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hitless.analysis import Interval
from hitless.analysis.intervals import Numbers, central_interval
from hitless.analysis.serial import repeats, too_few_beyond

_SLICES = 20
_RESAMPLES = 400
_CONFIDENCE = 0.95
_TAIL = 99


@dataclass(frozen=True, eq=False)
class Durations:
    """How long queries or flows took, and how long those have lasted that were under way at the end."""

    started_s: Numbers
    lasted_s: Numbers
    is_complete: NDArray[np.bool_]

    @property
    def complete_s(self) -> Numbers:
        return self.lasted_s[self.is_complete]

    @property
    def unfinished_share(self) -> float:
        """Estimate the share that lasts longer than anything seen."""
        return float(_survival(self.lasted_s, self.is_complete)[1][-1]) if self.lasted_s.size else 0.0

    def percentile_s(self, percent: float) -> float | None:
        """Interpolate between complete ones, as the authors do."""
        return float(np.percentile(self.complete_s, percent)) if self.complete_s.size else None

    def whole_percentile_s(self, percent: float) -> float | None:
        """With unfinished ones; the longest time seen where they leave more above it."""
        return _survival_percentile(self.lasted_s, self.is_complete, percent) if self.lasted_s.size else None

    def interval(self, statistic: "Statistic") -> Interval | None:
        """Of any of these, by slices of time; None where there is too little for one."""
        if not self.gives_interval(statistic):
            return None
        values = self.resampled(statistic, np.random.Generator(np.random.PCG64(1)))
        found = np.array([value for value in values if value is not None])
        return central_interval(found, _CONFIDENCE) if found.size else None

    def gives_interval(self, statistic: "Statistic") -> bool:
        """Are there enough values beyond a percentile, and do they not only repeat themselves?"""
        values = self.lasted_s if statistic is whole_p99 else self.complete_s
        is_tail = statistic in (p99, whole_p99)
        return not (is_tail and too_few_beyond(values.size, _TAIL)) and not repeats(values)

    def resampled(self, statistic: "Statistic", random: np.random.Generator) -> "list[float | None]":
        """A statistic of resampled slices of time; none where too few slices hold anything."""
        slices = self._slices
        if len(slices) < _SLICES // 2:
            return []
        picks = random.integers(0, len(slices), (_RESAMPLES, len(slices)))
        return [statistic(self.picked([slices[number] for number in pick])) for pick in picks]

    @cached_property
    def _slices(self) -> list[NDArray[np.int64]]:
        """Indices of those that began in each slice; slices without any are left out."""
        if self.started_s.size == 0:
            return []
        length = (self.started_s.max() - self.started_s.min()) / _SLICES or 1.0
        return [indices for indices in _numbered(self, self.started_s.min(), length) if indices.size]

    def picked(self, slices: list[NDArray[np.int64]]) -> "Durations":
        """Those with these indices, each as often as it is named."""
        chosen = np.concatenate(slices)
        return Durations(self.started_s[chosen], self.lasted_s[chosen], self.is_complete[chosen])


Statistic: TypeAlias = Callable[[Durations], float | None]
"""A number of a sample, or None."""


def mean(of: Durations) -> float | None:
    """Return the mean of complete ones, as the authors compute it."""
    return float(of.complete_s.mean()) if of.complete_s.size else None


def p99(of: Durations) -> float | None:
    return of.percentile_s(_TAIL)


def complete_share(of: Durations) -> float | None:
    return float(of.is_complete.mean()) if of.is_complete.size else None


def whole_mean(of: Durations) -> float | None:
    """Return the mean with unfinished ones, up to the longest time seen."""
    return _restricted_mean(of.lasted_s, of.is_complete) if of.lasted_s.size else None


def whole_p99(of: Durations) -> float | None:
    return of.whole_percentile_s(_TAIL)


def ratio_interval(above: Durations, below: Durations, statistic: Statistic) -> Interval | None:
    """Return the interval of the ratio of a statistic between two independent runs."""
    if not (above.gives_interval(statistic) and below.gives_interval(statistic)):
        return None
    random = np.random.Generator(np.random.PCG64(1))
    pairs = zip(above.resampled(statistic, random), below.resampled(statistic, random), strict=False)
    found = np.array([value for value in (ratio(*pair) for pair in pairs) if value is not None])
    return central_interval(found, _CONFIDENCE) if found.size else None


def ratio_interval_within(above: Durations, below: Durations, statistic: Statistic) -> Interval | None:
    """Return the interval of a statistic's ratio between two samples from the same run.

    Both samples share the network, so each slice of time is drawn for both together.
    """
    started = np.concatenate([above.started_s, below.started_s])
    if started.size == 0 or not (above.gives_interval(statistic) and below.gives_interval(statistic)):
        return None
    begin, length = started.min(), np.ptp(started) / _SLICES or 1.0
    pairs = [
        pair
        for pair in zip(*(_numbered(of, begin, length) for of in (above, below)), strict=True)
        if any(map(len, pair))
    ]
    if len(pairs) < _SLICES // 2:
        return None
    random = np.random.Generator(np.random.PCG64(1))
    picks = random.integers(0, len(pairs), (_RESAMPLES, len(pairs)))
    ratios = [
        ratio(*(statistic(of.picked([pairs[n][side] for n in pick])) for side, of in enumerate((above, below))))
        for pick in picks
    ]
    found = np.array([value for value in ratios if value is not None])
    return central_interval(found, _CONFIDENCE) if found.size else None


def _numbered(of: Durations, begin: float, length: float) -> list[NDArray[np.int64]]:
    """Indices of those that began in each slice of this length."""
    number = np.minimum((of.started_s - begin) / length, _SLICES - 1).astype(np.int64)
    return [np.flatnonzero(number == index) for index in range(_SLICES)]


def ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def _survival(lasted: Numbers, is_complete: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """Times at which something was completed, and the estimated share that lasts longer than each."""
    times, index = np.unique(lasted, return_inverse=True)
    ended = np.bincount(index, weights=is_complete.astype(np.float64), minlength=times.size)
    left = np.bincount(index, minlength=times.size)
    at_risk = lasted.size - np.concatenate([[0], np.cumsum(left)[:-1]])
    return times, np.cumprod(1.0 - ended / at_risk)


def _restricted_mean(lasted: Numbers, is_complete: NDArray[np.bool_]) -> float:
    times, share = _survival(lasted, is_complete)
    widths = np.diff(np.concatenate([[0.0], times]))
    return float(np.sum(widths * np.concatenate([[1.0], share[:-1]])))


def _survival_percentile(lasted: Numbers, is_complete: NDArray[np.bool_], percent: float) -> float:
    times, share = _survival(lasted, is_complete)
    below = np.flatnonzero(share <= 1.0 - percent / 100 + 1e-12)
    return float(times[below[0]] if below.size else times[-1])
