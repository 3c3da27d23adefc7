"""Numbers of completion times as rows have them: value, interval, and the share of the flows behind it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hitless.analysis import Interval
from hitless.exhibits import Row, Share, Unjudged
from hitless.exhibits.afq import statistics
from hitless.exhibits.afq.flows import Compared
from hitless.exhibits.judge import Judge, Paper


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of completion times."""

    value: float | None
    interval: Interval | None
    completed: tuple[Share, ...] = field(default=())

    def row(
        self,
        series: str,
        x: str,
        metric: str,
        paper: Paper | None = None,
        judge: Judge | None = None,
        *,
        note: str = "",
    ) -> Row:
        """The ratio as a row."""
        judge = judge or Unjudged()
        return Row(series, x, metric, "times", self.value, paper, self.interval, judge, note, self.completed)


def mean(compared: Compared, above: str, below: str) -> Ratio:
    """The mean completion time under ``above`` over that under ``below``, of the flows that finished under both."""
    both = compared.only(above, below)
    if both.table.is_empty():
        return Ratio(None, None, both.shares)
    return Ratio(*statistics.mean_ratio(both.table, above, below), both.shares)


def tail(compared: Compared, above: str, below: str, percent: float = 99) -> Ratio:
    """A percentile under ``above`` over that under ``below``, of the flows that finished under both."""
    both = compared.only(above, below)
    if both.table.is_empty():
        return Ratio(None, None, both.shares)
    return Ratio(*statistics.tail_ratio(both.table, above, below, percent), both.shares)


def normalized_mean(compared: Compared, scheme: str) -> Ratio:
    """The mean over that in an idle network, of the flows that finished under every scheme of ``compared``."""
    if compared.table.is_empty():
        return Ratio(None, None, compared.shares)
    return Ratio(*statistics.mean_ratio(compared.table, scheme, "idle_us"), _of(compared, scheme))


def normalized_percentile(compared: Compared, scheme: str, percent: float = 99) -> Ratio:
    """A percentile over the mean of an idle network, of the flows that finished under every scheme."""
    if compared.table.is_empty():
        return Ratio(None, None, compared.shares)
    return Ratio(*statistics.slowdown_percentile(compared.table, scheme, percent), _of(compared, scheme))


def _of(compared: Compared, scheme: str) -> tuple[Share, ...]:
    """The scheme's share, and that of all schemes together."""
    *each, every = compared.shares
    return (*(share for share in each if share.series == scheme), every) if each else (every,)


def as_points(points: Sequence[Ratio]) -> tuple[list[float | None], list[Interval | None]]:
    """The values and intervals, as plots take them."""
    return [point.value for point in points], [point.interval for point in points]
