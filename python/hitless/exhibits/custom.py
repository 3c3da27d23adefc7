"""A user's own scenario as an exhibit: no paper beside it, and every table kept."""

from collections.abc import Iterable, Mapping

import polars as pl

from hitless.analysis import enough_for
from hitless.checkpoints import Checkpoints
from hitless.exhibits.estimates import percentile_of
from hitless.exhibits.model import Context, Exhibit, Point, Row, Runs
from hitless.outcome.losses import CORRUPTED, LINK_DOWN, Losses, losses_of
from hitless.outcome.pictures import samples, tail
from hitless.outcome.times import ALL_SIZES, PERCENTILES, Times, goodputs_gbps, times_of
from hitless.plot import Plot
from hitless.simulation import PacketSimulation, RowsFolder


class CustomScenario(Exhibit):
    """One run of a scenario file."""

    def __init__(
        self,
        name: str,
        text: str,
        file_name: str | None = None,
        rows: RowsFolder | None = None,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        """``rows`` says where flows and messages are written while it runs, ``checkpoints`` what it can go on from."""
        self._name = name
        self._work = PacketSimulation(text, file_name, rows, checkpoints)

    def points(self, context: Context) -> Iterable[Point]:
        """The scenario itself."""
        yield Point(self._name, self._work, has_use_for_part=True)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        """Completion times of messages and queries, goodput by group, and losses told apart."""
        run = runs[self._name]
        for times in times_of(run):
            yield from _time_rows(times)
        for group, flows, gbps in goodputs_gbps(run):
            yield Row(group, f"{flows:,} flow{'s' * (flows != 1)}", "goodput, all together", "Gb/s", gbps)
        yield from _loss_rows(losses_of(run))

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        """The tail of the completion times, and whatever was sampled."""
        run = runs[self._name]
        found = (tail(run), samples(run, "queues"), samples(run, "throughput"))
        yield from (plot for plot in found if plot is not None)

    def tables(self, runs: Runs, context: Context) -> Mapping[str, pl.DataFrame]:
        """All of the run's tables."""
        return runs[self._name].tables


def _time_rows(times: Times) -> Iterable[Row]:
    """Percentiles of all sizes, then those of each class, as far as there are enough values for them."""
    sizes = "" if times.sizes == ALL_SIZES else f" {times.sizes}"
    short = "FCT" if times.what == "messages" else "QCT"
    for percent in PERCENTILES:
        if enough_for(percent, times.us.size):
            x = f"{times.us.size:,} {times.what}{sizes}"
            yield percentile_of(times.us, percent).row(times.group, x, f"p{percent:g} {short}", unit="us")


def _loss_rows(losses: Losses) -> Iterable[Row]:
    """What hosts lost, and what was lost on links whoever's it was: dummies and copies of mechanisms are frames too."""
    for reason, count in losses.dropped.items():
        yield Row("all", reason, "packets dropped", "packets", float(count))
    for reason, count in ((CORRUPTED, losses.corrupted), (LINK_DOWN, losses.lost_down)):
        if count:
            yield Row("all", reason, "frames lost, those of mechanisms counted", "frames", float(count))
    if losses.lost_to_hosts is not None:
        yield Row("all", "hosts", "packets lost to hosts", "packets", float(losses.lost_to_hosts))
