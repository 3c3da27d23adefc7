"""Ratios of completion times, each with the shares of the flows behind it."""

from collections.abc import Callable

from hitless.analysis import Interval
from hitless.exhibits import Share
from hitless.exhibits.afq import statistics
from hitless.exhibits.afq.flows import Compared
from hitless.exhibits.estimates import Estimate


def mean(compared: Compared, above: str, below: str) -> Estimate:
    """The mean completion time under ``above`` over that under ``below``, of the flows that finished under both."""
    both = compared.only(above, below)
    return _of_flows(both, both.shares, statistics.mean_ratio, above, below)


def tail(compared: Compared, above: str, below: str) -> Estimate:
    """The 99th percentile under ``above`` over that under ``below``, of the flows that finished under both."""
    both = compared.only(above, below)
    return _of_flows(both, both.shares, statistics.tail_ratio, above, below, 99)


def normalized_mean(compared: Compared, scheme: str) -> Estimate:
    """The mean over that in an idle network, of the flows that finished under every scheme of ``compared``."""
    return _of_flows(compared, _of(compared, scheme), statistics.mean_ratio, scheme, "idle_us")


def normalized_percentile(compared: Compared, scheme: str) -> Estimate:
    """The 99th percentile over the mean of an idle network, of the flows that finished under every scheme."""
    return _of_flows(compared, _of(compared, scheme), statistics.slowdown_percentile, scheme, 99)


def _of_flows(
    compared: Compared, shares: tuple[Share, ...], statistic: Callable[..., tuple[float, Interval]], *of: str | float
) -> Estimate:
    """A statistic of the flows that finished under every scheme; of none there is none."""
    if compared.table.is_empty():
        return Estimate(None, None, compared.shares)
    return Estimate(*statistic(compared.table, *of), shares)


def _of(compared: Compared, scheme: str) -> tuple[Share, ...]:
    """The scheme's share, and that of all schemes together."""
    *each, every = compared.shares
    return (*(share for share in each if share.series == scheme), every) if each else (every,)
