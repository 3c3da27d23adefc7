"""Completion times of messages and queries in one run.

A message lasts from its start to the delivery of its last byte. Messages still in flight at the end of the run are
counted, but excluded from percentiles: no time is made up for them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.analysis import enough_for, percentiles_of
from hitless.outcome.run import Run
from hitless.outcome.slowdowns import slowdowns_of_run
from hitless.outcome.tables import Columns, columns_of, groups_of, rows_of

PERCENTILES = (50.0, 99.0, 99.9)
_PS_PER_US = 1e6
_SHORT_BYTES = 100_000
_LONG_BYTES = 1_000_000
"""Size boundary that the papers' figures of web-search flows use most often."""
ALL_SIZES = "all sizes"
_CLASSES = (
    ("below 100 KB", 0, _SHORT_BYTES),
    ("100 KB to 1 MB", _SHORT_BYTES, _LONG_BYTES),
    ("from 1 MB on", _LONG_BYTES, None),
)

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Times:
    """Messages, or queries, of a group and a size class."""

    group: str
    sizes: str
    """`ALL_SIZES`, or a class such as "below 100 KB"."""
    what: str
    """Kind of items: "messages" or "queries"."""
    us: Numbers
    """Completion times in microseconds."""
    slowdowns: Numbers
    """Completion times divided by the ideal times in the empty fabric; empty if those are unknown."""
    unfinished: int
    """Number of items that started but had not ended when the run did."""

    def percentiles_us(self) -> list[float | None]:
        """Return all of `PERCENTILES`, in one pass; None for a percentile with too few values."""
        return _percentiles(self.us, PERCENTILES)

    def slowdowns_at(self, percents: Sequence[float]) -> list[float | None]:
        """Return percentiles of slowdowns, in one pass; None for a percentile with too few values."""
        return _percentiles(self.slowdowns, percents)

    @property
    def mean_us(self) -> float | None:
        """The mean; None if nothing was completed."""
        return float(self.us.mean()) if self.us.size else None


def _percentiles(values: Numbers, percents: Sequence[float]) -> list[float | None]:
    enough = [percent for percent in percents if enough_for(percent, values.size)]
    found = dict(zip(enough, percentiles_of(values, enough), strict=True)) if enough else {}
    return [found.get(percent) for percent in percents]


def times_of(run: Run) -> list[Times]:
    """Return every group: all sizes together first, then each class if there are several, and queries last."""
    columns = columns_of(run, "messages")
    found: list[Times] = run._known.setdefault("times", [])  # noqa: SLF001 - written only here
    if found or not rows_of(columns):
        return found
    messages = _Messages.of(run, columns)
    for name, chosen in groups_of(columns["group"]):
        of_group = messages.only(chosen)
        found += _of_group(name, of_group)
        if of_group.query is not None and of_group.query.max() > 0:
            found.append(_queries(name, of_group, of_group.query))
    return found


@dataclass(frozen=True, slots=True)
class _Messages:
    """Columns of a table of messages."""

    started_ps: NDArray[np.int64]
    delivered_ps: NDArray[np.int64]
    sizes: NDArray[np.uint64]
    slowdowns: Numbers
    query: NDArray[np.uint64] | None

    @classmethod
    def of(cls, run: Run, columns: Columns) -> "_Messages":
        """Read the messages of a run."""
        return cls(
            columns["started_ps"],
            columns["delivered_ps"],
            columns["bytes"],
            slowdowns_of_run(run),
            columns.get("query"),
        )

    def only(self, chosen: NDArray[np.bool_] | None) -> "_Messages":
        """Select some messages; None selects all."""
        if chosen is None:
            return self
        return _Messages(
            self.started_ps[chosen],
            self.delivered_ps[chosen],
            self.sizes[chosen],
            self.slowdowns[chosen],
            None if self.query is None else self.query[chosen],
        )

    @property
    def is_done(self) -> NDArray[np.bool_]:
        return self.delivered_ps >= self.started_ps

    @property
    def taken_ps(self) -> Numbers:
        """The completion times; meaningless for incomplete messages."""
        return (self.delivered_ps - self.started_ps).astype(np.float64)


def _of_group(group: str, messages: _Messages) -> Iterator[Times]:
    sizes, is_done = messages.sizes, messages.is_done
    taken_us, slowdowns = messages.taken_ps / _PS_PER_US, messages.slowdowns

    def times(name: str, chosen: NDArray[np.bool_]) -> Times:
        done = chosen & is_done
        known = slowdowns[done]
        return Times(group, name, "messages", taken_us[done], known[~np.isnan(known)], int(chosen.sum() - done.sum()))

    yield times(ALL_SIZES, np.ones(sizes.size, dtype=np.bool_))
    classes = [(name, (sizes >= least) & (below is None or sizes < below)) for name, least, below in _CLASSES]
    filled = [(name, chosen) for name, chosen in classes if chosen.any()]
    if len(filled) > 1:
        yield from (times(name, chosen) for name, chosen in filled)


def _queries(group: str, messages: _Messages, query: NDArray[np.uint64]) -> Times:
    """Return the times of queries; a query lasts from its start until its last answer arrives."""
    columns = {
        "query": query,
        "is_done": messages.is_done,
        "started_ps": messages.started_ps,
        "delivered_ps": messages.delivered_ps,
    }
    queries = (
        pl.DataFrame(columns)
        .group_by("query", maintain_order=True)
        .agg(pl.col("is_done").all(), taken_ps=pl.col("delivered_ps").max() - pl.col("started_ps").min())
    )
    done = queries.filter("is_done")
    taken_us = done["taken_ps"].cast(pl.Float64).to_numpy() / _PS_PER_US
    return Times(group, ALL_SIZES, "queries", taken_us, np.empty(0), len(queries) - len(done))


def goodputs_gbps(run: Run) -> Sequence[tuple[str, int, float]]:
    """Yield the name, the number of flows, and the payload delivered per second of the run, for each group of flows."""
    simulated_s = float(run.summary.values.get("simulated_s", 0.0))
    flows = columns_of(run, "flows")
    if not rows_of(flows) or simulated_s <= 0.0:
        return []
    delivered = flows["delivered_bytes"]
    found = []
    for name, chosen in groups_of(flows["group"]):
        of_group = delivered if chosen is None else delivered[chosen]
        found.append((name, of_group.size, int(of_group.sum()) * 8 / simulated_s / 1e9))
    return found
