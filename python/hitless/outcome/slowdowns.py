"""Slowdowns: the completion times of messages over those in an idle fabric."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.outcome.ideal import Numbers, ideal_of
from hitless.outcome.run import SLOWDOWN, Run
from hitless.outcome.tables import Columns, columns_of, rows_of


def slowdowns_of(effective: str, messages: Columns, flows: Columns) -> Numbers:
    """Return the slowdown of each message; NaN if it was not delivered, or if its ideal time is unknown."""
    if SLOWDOWN in messages:
        stored: Numbers = messages[SLOWDOWN]
        return stored
    ideal = ideal_of(effective) if flows and rows_of(messages) else None
    if ideal is None:
        return np.full(rows_of(messages), np.nan)
    taken_ps = (messages["delivered_ps"] - messages["started_ps"]).astype(np.float64)
    return np.where(taken_ps >= 0.0, taken_ps / ideal.of(messages, flows), np.nan)


def slowdowns_of_run(run: Run) -> Numbers:
    """Return the slowdown of each message of a run, computed once."""
    messages, known = columns_of(run, "messages"), run._known  # noqa: SLF001 - for values such as this
    if SLOWDOWN in messages or not rows_of(messages):
        return slowdowns_of(run.effective, messages, {})
    if "slowdowns" not in known:
        known["slowdowns"] = slowdowns_of(run.effective, messages, columns_of(run, "flows"))
    slowdowns: Numbers = known["slowdowns"]
    return slowdowns


def columns_of_slowdowns(
    effective: str, tables: Mapping[str, Columns], known: Numbers | None = None
) -> dict[str, pl.Series]:
    """Return the column `SLOWDOWN` of the tables ``messages`` and ``flows``, for those that exist.

    ``known`` are the messages' slowdowns, if they are known.
    """
    if "messages" not in tables:
        return {name: _column(np.full(rows_of(tables[name]), np.nan)) for name in ("flows",) if name in tables}
    messages, flows = tables["messages"], tables.get("flows", {})
    found = slowdowns_of(effective, messages, flows) if known is None else known
    made = {"messages": _column(found)}
    if "flows" in tables:
        made["flows"] = _column(_of_only_messages(flows["flow"], messages["flow"], found))
    return made


def with_slowdowns(run: Run) -> Mapping[str, pl.DataFrame]:
    """Return the tables of a run for its folder of results: flows and messages have a column `SLOWDOWN`."""
    made = slowdown_columns(run)
    frames = {name: run.table(name).with_columns(column) for name, column in made.items()}
    return {**run.tables, **frames} if frames else run.tables


def slowdown_columns(run: Run) -> Mapping[str, pl.Series]:
    """Return the column `SLOWDOWN` of those tables of a run that lack it, computed once; tables in files have it."""
    known = run._known  # noqa: SLF001 - as above
    if "columns" not in known:
        tables = {name: columns_of(run, name) for name in ("messages", "flows") if name in run.tables}
        has_columns = any(SLOWDOWN in columns for columns in tables.values())
        known["columns"] = {} if has_columns else columns_of_slowdowns(run.effective, tables, slowdowns_of_run(run))
    columns: Mapping[str, pl.Series] = known["columns"]
    return columns


def _of_only_messages(flows: NDArray[Any], of_messages: NDArray[Any], slowdowns: Numbers) -> Numbers:
    """Return for each flow the slowdown of its message; NaN for a flow with several or without any."""
    found, first, counts = np.unique(of_messages, return_index=True, return_counts=True)
    if not found.size:
        return np.full(flows.size, np.nan)
    at = np.minimum(np.searchsorted(found, flows), found.size - 1)
    return np.where((found[at] == flows) & (counts[at] == 1), slowdowns[first[at]], np.nan)


def _column(values: Numbers) -> pl.Series:
    return pl.Series(SLOWDOWN, values, dtype=pl.Float64).fill_nan(None)
