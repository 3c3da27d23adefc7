"""Ratios of completion times, how sure they are, and the shares of the flows behind them.

Flows that are under way at the same time wait for each other, so that intervals of independent flows would be too
narrow. Ratios are therefore resampled by slices of time: 40 of equal length, in order of the flows' starts.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.analysis import Certainty, percentile, percentile_in_order
from hitless.analysis.intervals import Numbers, central_interval
from hitless.analysis.serial import BATCHES_MIN, repeats, too_few_beyond
from hitless_papers import Share
from hitless_papers.afq.flows import Compared
from hitless_papers.estimates import Estimate

_SLICES = 40
_RESAMPLES = 2_000
_CONFIDENCE = 0.95
_TAIL = 99


def mean(compared: Compared, above: str, below: str) -> Estimate:
    """The mean completion time under ``above`` over that under ``below``, of the flows that finished under both."""
    both = compared.only(above, below)
    return _of_flows(both, both.shares, mean_ratio, above, below)


def tail(compared: Compared, above: str, below: str) -> Estimate:
    """The 99th percentile under ``above`` over that under ``below``, of the flows that finished under both."""
    both = compared.only(above, below)
    return _of_flows(both, both.shares, _tail_ratio, above, below)


def normalized_mean(compared: Compared, scheme: str) -> Estimate:
    """The mean over that in an idle network, of the flows that finished under every scheme of ``compared``."""
    return _of_flows(compared, _of(compared, scheme), mean_ratio, scheme, "idle_us")


def normalized_percentile(compared: Compared, scheme: str) -> Estimate:
    """The 99th percentile over the mean of an idle network, of the flows that finished under every scheme."""
    return _of_flows(compared, _of(compared, scheme), _tail_slowdown, scheme)


def _of_flows(
    compared: Compared, shares: tuple[Share, ...], statistic: Callable[..., tuple[float, Certainty]], *of: str
) -> Estimate:
    """Return a statistic of the flows that finished under every scheme; None without any."""
    if compared.table.is_empty():
        return Estimate(None, None, compared.shares)
    value, certainty = statistic(compared.table, *of)
    return replace(Estimate.of(value, certainty), completed=shares)


def _of(compared: Compared, scheme: str) -> tuple[Share, ...]:
    *each, every = compared.shares
    return (*(share for share in each if share.series == scheme), every) if each else (every,)


def mean_ratio(flows: pl.DataFrame, above: str, below: str) -> tuple[float, Certainty]:
    """Return the ratio of the means of two columns, over the same flows."""
    sums = np.stack([_by_slice(flows, above), _by_slice(flows, below)])
    value = float(sums[0].sum() / sums[1].sum())
    why = _why_not(flows, above, below)
    if why:
        return value, Certainty(None, why)
    random = np.random.Generator(np.random.PCG64(1))
    chosen = random.integers(0, _SLICES, (_RESAMPLES, _SLICES))
    resampled = sums[:, chosen].sum(axis=2)
    kept = resampled[1] > 0
    ratios = resampled[0][kept] / resampled[1][kept]
    return value, Certainty(central_interval(ratios, _CONFIDENCE))


def _why_not(flows: pl.DataFrame, *columns: str) -> str:
    """Return the reason for no interval: the flows repeat themselves, or began in too few slices."""
    held = np.unique(_slice_numbers(flows)).size
    few = f"flows began in {held} of {_SLICES} slices of time" if held < BATCHES_MIN else ""
    return few or next(filter(None, (repeats(flows[column].to_numpy()) for column in columns)), "")


def _tail_slowdown(flows: pl.DataFrame, scheme: str) -> tuple[float, Certainty]:
    """Return the tail of a scheme's completion times over the mean in an idle network."""
    sample = flows.sort("started_ps")[scheme].to_numpy()
    idle = float(flows["idle_us"].mean())  # type: ignore[arg-type]
    return percentile(sample, _TAIL) / idle, percentile_in_order(sample, _TAIL).scaled(1 / idle)


def _tail_ratio(flows: pl.DataFrame, above: str, below: str) -> tuple[float, Certainty]:
    """Return the ratio of the tails of two columns, resampled by slices of time."""
    value = percentile(flows[above].to_numpy(), _TAIL) / percentile(flows[below].to_numpy(), _TAIL)
    why = too_few_beyond(len(flows), _TAIL) or _why_not(flows, above, below)
    if why:
        return value, Certainty(None, why)
    groups = [group for group in _slices(flows, above, below) if group.size]
    random = np.random.Generator(np.random.PCG64(1))
    picks = random.integers(0, len(groups), (_RESAMPLES // 10, len(groups)))
    resampled = (np.concatenate([groups[i] for i in pick]) for pick in picks)
    ratios = np.array([percentile(pairs[:, 0], _TAIL) / percentile(pairs[:, 1], _TAIL) for pairs in resampled])
    return value, Certainty(central_interval(ratios, _CONFIDENCE))


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
