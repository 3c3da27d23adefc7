"""Means and tails of completion times over idle ones, of one scheme over another's, and how sure they are.

Flows that are under way at the same time wait for each other, so that intervals of independent flows would be too
narrow. Means are therefore resampled by slices of time: 40 of equal length, in order of the flows' starts.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.analysis import Interval, percentile, percentile_interval
from hitless.analysis.intervals import Numbers, central_interval

_SLICES = 40
_RESAMPLES = 2_000
_CONFIDENCE = 0.95


def mean_ratio(flows: pl.DataFrame, above: str, below: str) -> tuple[float, Interval]:
    """The mean of column ``above`` over that of ``below``, of the same flows."""
    sums = np.stack([_by_slice(flows, above), _by_slice(flows, below)])
    random = np.random.Generator(np.random.PCG64(1))
    chosen = random.integers(0, _SLICES, (_RESAMPLES, _SLICES))
    resampled = sums[:, chosen].sum(axis=2)
    kept = resampled[1] > 0
    ratios = resampled[0][kept] / resampled[1][kept]
    totals = sums.sum(axis=1)
    return float(totals[0] / totals[1]), central_interval(ratios, _CONFIDENCE)


def slowdown_percentile(flows: pl.DataFrame, scheme: str, percent: float) -> tuple[float, Interval]:
    """A percentile of a scheme's completion times over the mean of those of an idle network."""
    sample = flows[scheme].to_numpy()
    idle = float(flows["idle_us"].mean())  # type: ignore[arg-type]
    return percentile(sample, percent) / idle, percentile_interval(sample, percent).scaled(1 / idle)


def tail_ratio(flows: pl.DataFrame, above: str, below: str, percent: float) -> tuple[float, Interval]:
    """A percentile of column ``above`` over that of ``below``, resampled by slices of time."""
    groups = [group for group in _slices(flows, above, below) if group.size]
    random = np.random.Generator(np.random.PCG64(1))
    picks = random.integers(0, len(groups), (_RESAMPLES // 10, len(groups)))
    ratios = np.array([_percentile_ratio(np.concatenate([groups[i] for i in pick]), percent) for pick in picks])
    value = percentile(flows[above].to_numpy(), percent) / percentile(flows[below].to_numpy(), percent)
    return value, central_interval(ratios, _CONFIDENCE)


def _percentile_ratio(pairs: Numbers, percent: float) -> float:
    return percentile(pairs[:, 0], percent) / percentile(pairs[:, 1], percent)


def _slices(flows: pl.DataFrame, *columns: str) -> list[Numbers]:
    """The columns' values, of the flows that started in each slice."""
    number = _slice_numbers(flows)
    values = flows.select(columns).to_numpy()
    order = np.argsort(number, kind="stable")
    edges = np.searchsorted(number[order], np.arange(1, _SLICES))
    return np.split(values[order], edges)


def _by_slice(flows: pl.DataFrame, column: str) -> Numbers:
    return np.bincount(_slice_numbers(flows), weights=flows[column].to_numpy(), minlength=_SLICES).astype(np.float64)


def _slice_numbers(flows: pl.DataFrame) -> NDArray[np.int64]:
    started = flows["started_ps"].to_numpy().astype(np.float64)
    length = (started.max() - started.min() + 1) / _SLICES
    numbers: NDArray[np.int64] = ((started - started.min()) / length).astype(np.int64)
    return numbers
