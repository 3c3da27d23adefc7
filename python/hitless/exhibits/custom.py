"""A user's own scenario as an exhibit: no paper beside it, and every table kept."""

from collections.abc import Iterable, Mapping

import polars as pl

from hitless.analysis import percentile, percentile_interval
from hitless.exhibits.model import Context, Exhibit, Point, Row, Runs
from hitless.plot import Plot, tail_series
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
        """Completion times of messages by tag, and drops by reason."""
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
        for reason, count in run.summary.drops.items():
            yield Row("all", reason, "packets dropped", "packets", float(count))

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        """The tail of the completion times."""
        times = _completion_us(runs[self._name])
        if times:
            series = [tail_series(tag, values) for tag, values in times.items()]
            yield Plot(
                "Completion times",
                "FCT (us)",
                "share of messages at or above",
                series,
                x_scale="log",
                y_scale="log",
            )

    def tables(self, runs: Runs, context: Context) -> Mapping[str, pl.DataFrame]:
        """All of the run's tables."""
        return runs[self._name].tables


def _completion_us(run: Run) -> dict[str, list[float]]:
    """Microseconds from the start of each completed message to its delivery, by tag."""
    if "messages" not in run.tables:
        return {}
    completed = run.table("messages").filter(pl.col("delivered_ps") >= pl.col("started_ps"))
    times = completed.select("group", time=(pl.col("delivered_ps") - pl.col("started_ps")) / _PS_PER_US)
    groups = times.partition_by("group", as_dict=True, maintain_order=True)
    return {str(tag): group["time"].to_list() for (tag,), group in groups.items()}
