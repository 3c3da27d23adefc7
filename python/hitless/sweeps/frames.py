"""The rows of a sweep, one for each metric of each run, and their statistics over the seeds."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from hitless.analysis import REPLICAS_MIN, Interval, mean_reach
from hitless.analysis.seeds import few_seeds, unmoved
from hitless.drawing.plot import Plot, Scale, Series
from hitless.outcome.run import Run
from hitless.outcome.times import ALL_SIZES
from hitless.setting_paths import words_of
from hitless.sweeps.measured import rows_of
from hitless.sweeps.plan import Axis, Label, SweepPlan

if TYPE_CHECKING:
    from hitless.sweeps.runs import Member

_LEAST_SPREAD_OF_LOG = 30.0
"""Minimum ratio between the ends of an axis for a logarithmic plot."""
_ASKED_FOR_MOST = ("mean FCT", "p99 FCT", "p99.9 FCT", "mean QCT", "p99 QCT", "goodput", "packets lost to hosts")


def schema_of(axes: Sequence[Axis]) -> dict[str, Any]:
    """Return the columns of a sweep's rows."""
    axis_types = {axis.path: _type(axis.column(next(iter(axis.values)))) for axis in axes}
    texts = dict.fromkeys(("of", "metric", "unit"), pl.String)
    return {"point": pl.UInt32, **axis_types, "seed": pl.Int64, **texts, "value": pl.Float64}


def _type(label: Label) -> Any:
    return {bool: pl.Boolean, int: pl.Int64, float: pl.Float64, str: pl.String}[type(label)]


def frame_of(plan: SweepPlan, runs: Iterable[tuple["Member", Run]]) -> pl.DataFrame:
    """Return a row for each metric of each run, in the order of the grid and of the seeds."""
    schema = schema_of(plan.axes)
    columns: list[list[Any]] = [[] for _ in schema]
    for member, run in runs:
        rows = rows_of(run)
        place = (member.point.number, *member.point.labels.values(), member.seed)
        parts = [*([value] * len(rows) for value in place), *zip(*rows, strict=True)] if rows else []
        for column, part in zip(columns, parts, strict=False):
            column.extend(part)
    return in_order(pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema))


def in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Sort the rows of any number of parts into the order of a single part."""
    return frame.sort("point", "seed", maintain_order=True).rechunk()


def axes_of(frame: pl.DataFrame) -> list[str]:
    """Return the names of the axes, the columns between the point and the seed."""
    return frame.columns[1 : frame.columns.index("seed")]


def intervals(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the mean of each metric at each point over the seeds, with its 95 % interval by Student's t.

    Columns: the axes, ``of``, ``metric``, ``unit``, ``seeds`` (runs that have the metric), ``mean``, ``ci_low`` and
    ``ci_high``, which are null without an interval, and ``note``, which says why (`hitless.analysis.seeds`). The
    interval of values that are not negative begins at 0 or above; positive values that reach too far for that have
    none.
    """
    keys = ["point", *axes_of(frame), "of", "metric", "unit"]
    value = pl.col("value")
    is_same = (value.min() == value.max()) & (value.len() > 1)
    grouped = frame.group_by(keys, maintain_order=True).agg(
        seeds=value.len(),
        mean=value.mean(),
        deviation=value.std(),
        first=value.first(),
        is_same=is_same,
        low=value.min(),
        high=value.max(),
    )
    counts = grouped["seeds"].to_list()
    reaches = {count: mean_reach(count) if count >= REPLICAS_MIN else None for count in set(counts)}
    reach = grouped["deviation"] * pl.Series([reaches[count] for count in counts], dtype=pl.Float64)
    # Student's t assumes roughly normal values. Positive values whose interval would reach below 0 are far from it.
    is_far = ((grouped["low"] > 0) & (reach >= grouped["mean"])).fill_null(value=False)
    reach = reach.set(grouped["is_same"] | is_far, None)
    ci_low = grouped["mean"] - reach
    columns: dict[str, pl.Expr | pl.Series] = {
        "mean": pl.when("is_same").then("first").otherwise("mean"),
        "ci_low": ci_low.set((grouped["low"] >= 0) & (ci_low < 0), 0.0),
        "ci_high": grouped["mean"] + reach,
        "note": pl.Series(
            [_note(*row) for row in zip(grouped.iter_rows(named=True), is_far, strict=True)], dtype=pl.String
        ),
    }
    return grouped.with_columns(**columns).drop("deviation", "point", "first", "is_same", "low", "high")


def _note(row: dict[str, Any], is_far: bool) -> str:
    """Return the reason for a missing interval."""
    if row["is_same"]:
        return unmoved([row["first"]])
    if row["seeds"] < REPLICAS_MIN:
        return few_seeds(row["seeds"])
    return f"from {row['low']:.4g} to {row['high']:.4g}: too far apart for an interval" if is_far else ""


def plot_of(table: pl.DataFrame, x: str, metric: str, of: str) -> Plot:
    """Plot a metric along one axis, from the table of `intervals`: one series for each choice on the other axes."""
    others = [name for name in axes_of_intervals(table) if name != x]
    chosen = table.filter((pl.col("metric") == metric) & (pl.col("of") == of))
    parts = chosen.partition_by(others, as_dict=True, maintain_order=True) if others else {(): chosen}
    series = [_series(_name(others, key), part, x) for key, part in parts.items()]
    unit = next(iter(chosen["unit"]), "")
    title = metric if of == "all" else f"{metric}, {of}"
    numeric = table.schema[x].is_numeric()
    x_scale = _scale(table[x].to_list()) if numeric else "linear"
    y_title = f"{metric} ({unit})" if unit else metric
    caption = "Means over the seeds, with 95 % intervals by Student's t."
    return Plot(title, words_of(x), y_title, series, x_scale, _scale(chosen["mean"].to_list()), caption)


def axes_of_intervals(table: pl.DataFrame) -> list[str]:
    """Return the names of the axes, the columns before the metric."""
    return table.columns[: table.columns.index("of")]


def _name(others: Sequence[str], key: Sequence[Any]) -> str:
    words = (
        str(one) if isinstance(one, str) else f"{words_of(path)} = {one:g}"
        for path, one in zip(others, key, strict=True)
    )
    return ", ".join(words) or "all"


def _series(name: str, part: pl.DataFrame, x: str) -> Series:
    bounds = [
        None if low is None else Interval(low, high) for low, high in part.select("ci_low", "ci_high").iter_rows()
    ]
    at = part[x].to_list() if part.schema[x].is_numeric() else [str(one) for one in part[x]]
    return Series(name, at, part["mean"].to_list(), intervals=bounds, style="line" if len(at) > 1 else "points")


def _scale(values: Sequence[float]) -> Scale:
    low, high = min(values, default=0.0), max(values, default=0.0)
    return "log" if low > 0.0 and high / low >= _LEAST_SPREAD_OF_LOG else "linear"


def varying_plots(axes: Sequence[Axis], table: pl.DataFrame) -> Iterator[Plot]:
    """Return a plot of each popular metric that the runs have, for each axis with several values.

    The table comes from `intervals`.
    """
    seen = {(row["metric"], row["of"]) for row in table.iter_rows(named=True)}
    wanted = [
        (metric, of)
        for metric, of in itertools.product(_ASKED_FOR_MOST, dict.fromkeys(table["of"]))
        if (metric, of) in seen and (", " not in of or of.endswith((ALL_SIZES, "queries")))
    ]
    for axis in axes:
        if len(axis.values) > 1:
            yield from (plot_of(table, axis.path, metric, of) for metric, of in wanted)
