"""A user's own scenario as an exhibit: no paper beside it, and every table kept."""

from collections.abc import Iterable, Mapping

import polars as pl

from hitless.analysis import percentile, percentile_interval
from hitless.exhibits.model import Context, Exhibit, Point, Row, Runs
from hitless.plot import Plot, Series, tail_series
from hitless.simulation import Run

_PERCENTILES = (50.0, 99.0, 99.9)
_PS_PER_US = 1e6


class CustomScenario(Exhibit):
    """One run of a scenario file."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text

    def points(self, context: Context) -> Iterable[Point]:
        """The scenario itself."""
        yield Point(self._name, self._text)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        """Completion times of messages by group, their goodput, and losses by reason."""
        run = runs[self._name]
        for tag, times in _completion_us(run).items():
            for percent in _PERCENTILES:
                yield Row(
                    tag,
                    f"{len(times):,} messages",
                    f"p{percent:g} FCT",
                    "us",
                    percentile(times, percent),
                    interval=percentile_interval(times, percent),
                )
        yield from _goodput_rows(run)
        for reason, count in run.summary.drops.items():
            yield Row("all", reason, "packets lost", "packets", float(count))

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        """The tail of the completion times, and whatever was sampled."""
        run = runs[self._name]
        times = _completion_us(run)
        if times:
            series = [tail_series(group, values) for group, values in times.items()]
            x, y = "FCT (us)", "share of messages at or above"
            yield Plot("Completion times", x, y, series, x_scale="log", y_scale="log")
        yield from _sample_plot(run, "queues", "port", title="Queue depth", unit="KB", scale=1e3)
        yield from _sample_plot(run, "throughput", "link", title="Carried in each interval", unit="MB", scale=1e6)

    def tables(self, runs: Runs, context: Context) -> Mapping[str, pl.DataFrame]:
        """All of the run's tables."""
        return runs[self._name].tables


def _goodput_rows(run: Run) -> Iterable[Row]:
    """Payload delivered a second, of each group of flows, while the run lasted."""
    simulated_s = float(run.summary.values.get("simulated_s", 0.0))
    if "flows" not in run.tables or simulated_s <= 0.0:
        return
    groups = run.table("flows").group_by("group", maintain_order=True)
    for group, flows, delivered in groups.agg(pl.len(), pl.col("delivered_bytes").sum()).iter_rows():
        gbps = delivered * 8 / simulated_s / 1e9
        yield Row(group, f"{flows:,} flows", "goodput, all together", "Gb/s", gbps)


def _sample_plot(run: Run, table: str, subject: str, *, title: str, unit: str, scale: float) -> Iterable[Plot]:
    """What samplers saw over time, one curve for each place they looked at."""
    if table not in run.tables or run.table(table).is_empty():
        return
    frames = run.table(table).partition_by(subject, as_dict=True, maintain_order=True)
    series = [
        Series(str(name), (frame["time_ps"] / 1e9).to_list(), (frame["value_bytes"] / scale).to_list())
        for (name,), frame in frames.items()
    ]
    yield Plot(title, "time (ms)", f"{title.lower()} ({unit})", series)


def _completion_us(run: Run) -> dict[str, list[float]]:
    """Microseconds from the start of each completed message to its delivery, by group."""
    if "messages" not in run.tables:
        return {}
    completed = run.table("messages").filter(pl.col("delivered_ps") >= pl.col("started_ps"))
    times = completed.select("group", time=(pl.col("delivered_ps") - pl.col("started_ps")) / _PS_PER_US)
    groups = times.partition_by("group", as_dict=True, maintain_order=True)
    return {str(tag): group["time"].to_list() for (tag,), group in groups.items()}
