"""The summary of a fleet's year, in sentences and as a report."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from hitless.drawing.plot import Plot, Series
from hitless.report.page import render_report
from hitless.runs.result import Measurement, Result

PENALTY = (
    "Penalty: the sum of the loss rates of all links that corrupt frames and are up. "
    "Effective: a protected link counts with its residual loss rate. "
    "1e-3 is one unprotected link that loses every thousandth frame."
)
_DAY_S = 86_400
_DRAWN = (
    ("Effective penalty", "total_effective_penalty", "sum of loss rates", "log"),
    ("Links that corrupt and are up", "curr_corrupting_links", "links", "linear"),
    ("Links taken down", "curr_disabled_links", "links", "linear"),
    ("Fewest paths of a ToR to the spines", "min_per_tor_paths", "paths", "linear"),
)
_UNITS = {"mean_penalty": "sum of loss rates", "mean_effective_penalty": "sum of loss rates", "days": "days"}


def report(facts: Mapping[str, Any], states: pl.DataFrame, manifest: Mapping[str, Any]) -> str:
    """Return the page about a year: its numbers, and their development from day to day."""
    result: Result[Measurement] = Result(f"fleet/{facts['policy']}", PENALTY, int(facts["seed"]), complete=True)
    result.rows = list(_rows(facts))
    result.plots = list(_plots(str(facts["policy"]), states))
    return render_report([result], manifest)


def _rows(facts: Mapping[str, Any]) -> Iterator[Measurement]:
    left_out = {"capacity", "deployment", "seed", "wall_s"}
    for name, value in facts.items():
        if isinstance(value, int | float) and name not in left_out:
            x = f"capacity {facts['capacity']:.0%}"
            yield Measurement(str(facts["policy"]), x, name.replace("_", " "), _UNITS.get(name, ""), float(value))


def _plots(policy: str, states: pl.DataFrame) -> Iterator[Plot]:
    """Plot the state at the end of each day: a year has far more states than a plot has pixels."""
    times = states["time"].to_numpy()
    ends = np.arange(int(times[0]) + _DAY_S, int(times[-1]) + _DAY_S, _DAY_S)
    at = np.searchsorted(times, ends, side="right") - 1
    days = [float(day) for day in (ends - int(times[0])) / _DAY_S]
    for title, column, unit, scale in _DRAWN:
        values = [float(value) for value in states[column].to_numpy()[at]]
        series = [Series(policy, days, values)]
        yield Plot(title, "day", unit, series, y_scale="log" if scale == "log" else "linear")
