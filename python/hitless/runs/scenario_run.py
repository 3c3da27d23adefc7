"""One run of a user's scenario: it keeps every table, and is not compared with anything."""

from collections.abc import Iterable

from hitless.analysis import enough_for, percentile, percentile_in_order
from hitless.outcome.losses import CORRUPTED, LINK_DOWN, Losses, losses_of
from hitless.outcome.pictures import parts, query_parts, samples, tail
from hitless.outcome.slowdowns import with_slowdowns
from hitless.outcome.times import ALL_SIZES, PERCENTILES, Times, goodputs_gbps, times_of
from hitless.runs.point import Point, Runs
from hitless.runs.result import Measurement, Result
from hitless.runs.study import Study
from hitless.simulation import PacketSimulation, Run


def scenario_run(name: str, shown: str, work: PacketSimulation, seed: int | None) -> Study:
    """Return the run ``name`` of a scenario that messages call ``shown``, with ``seed`` or the scenario's own seed."""

    def work_out(runs: Runs, result: Result[Measurement]) -> None:
        run = runs[name]
        result.rows = list(rows_of(run))
        plots = (tail(run), parts(run), query_parts(run), samples(run, "queues"), samples(run, "throughput"))
        result.plots = [plot for plot in plots if plot is not None]
        result.tables = with_slowdowns(run)

    return Study(f"run/{name}", shown, [Point(name, work, has_use_for_part=True)], work_out, seed=seed)


def rows_of(run: Run) -> Iterable[Measurement]:
    """Return completion times of messages and queries, goodput by group, and losses told apart."""
    for times in times_of(run):
        yield from _time_rows(times)
    for group, flows, gbps in goodputs_gbps(run):
        yield Measurement(group, f"{flows:,} flow{'s' * (flows != 1)}", "goodput, all together", "Gb/s", gbps)
    yield from _loss_rows(losses_of(run))


def _time_rows(times: Times) -> Iterable[Measurement]:
    """Yield percentiles of all sizes, then of each class, if there are enough values."""
    sizes = "" if times.sizes == ALL_SIZES else f" {times.sizes}"
    short = "FCT" if times.what == "messages" else "QCT"
    x = f"{times.us.size:,} {times.what}{sizes}"
    for percent in PERCENTILES:
        if enough_for(percent, times.us.size):
            value, sure = percentile(times.us, percent), percentile_in_order(times.us, percent)
            yield Measurement(
                times.group, x, f"p{percent:g} {short}", "us", value, interval=sure.interval, why=sure.why
            )


def _loss_rows(losses: Losses) -> Iterable[Measurement]:
    """Yield the packets lost end to end, and the frames lost on links, which include mechanisms' dummies and copies."""
    for reason, count in losses.dropped.items():
        yield Measurement("all", reason, "packets dropped", "packets", float(count))
    for reason, count in ((CORRUPTED, losses.corrupted), (LINK_DOWN, losses.lost_down)):
        if count:
            yield Measurement("all", reason, "frames lost, those of mechanisms counted", "frames", float(count))
    if losses.lost_to_hosts is not None:
        yield Measurement("all", "hosts", "packets lost to hosts", "packets", float(losses.lost_to_hosts))
