"""Counters of mechanisms over several places: sums, and maxima of maxima."""

import re
from collections.abc import Iterable

import polars as pl

_MAXIMA = frozenset({"highest", "largest", "longest", "max", "maximum", "most", "peak"})
"""Words in the names of counters that are maxima."""


def is_maximum(name: str) -> bool:
    """Is a counter a maximum, such as "most bytes", "longest stall (ns)" or "replay buffer peak (bytes)"?"""
    return not _MAXIMA.isdisjoint(re.split("[ _]", name))


def over_places(name: str, values: Iterable[int]) -> int:
    """Return a counter over several places."""
    return max(values, default=0) if is_maximum(name) else sum(values)


def by_mechanism(table: pl.DataFrame) -> pl.DataFrame:
    """Return each counter of each mechanism over all switches, from a run's table ``mechanisms``."""
    grouped = table.group_by("mechanism", "counter", maintain_order=True).agg(
        sum=pl.col("value").sum(), max=pl.col("value").max()
    )
    maxima = [is_maximum(name) for name in grouped["counter"]]
    value = pl.when(pl.Series(maxima, dtype=pl.Boolean)).then("max").otherwise("sum")
    return grouped.select("mechanism", "counter", value=value)
