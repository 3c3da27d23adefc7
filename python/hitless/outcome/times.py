"""How long messages and queries took, in one run.

A message lasts from its start to the delivery of its last byte. Those that had not ended when the run did are counted
and belong to no percentile: no number is made up for them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.analysis import percentile
from hitless.outcome.ideal import ideal_of
from hitless.outcome.run import Run

PERCENTILES = (50.0, 99.0, 99.9)
_PS_PER_US = 1e6
_SHORT_BYTES = 100_000
_LONG_BYTES = 1_000_000
"""Where the papers' figures of web-search flows are cut most often."""
ALL_SIZES = "all sizes"
_CLASSES = (
    ("below 100 KB", 0, _SHORT_BYTES),
    ("100 KB to 1 MB", _SHORT_BYTES, _LONG_BYTES),
    ("from 1 MB on", _LONG_BYTES, None),
)

Numbers = NDArray[np.float64]


def enough_for(percent: float, count: int) -> bool:
    """Is a percentile more than the largest of a few values? p50 asks for 2 of them, p99.9 for 1,000."""
    return round(count * (100.0 - percent), 6) >= 100.0


@dataclass(frozen=True, slots=True)
class Times:
    """Messages, or queries, of one group and one class of sizes."""

    group: str
    sizes: str
    """`ALL_SIZES`, or a class such as "below 100 KB"."""
    what: str
    """What is counted: "messages" or "queries"."""
    us: Numbers
    """Microseconds of those that were completed."""
    slowdowns: Numbers
    """The same over their times in the empty fabric; empty where that is not known."""
    unfinished: int
    """How many had begun, and had not ended when the run did."""

    def percentile_us(self, percent: float) -> float | None:
        """A percentile; None where there are too few for it."""
        return percentile(self.us, percent) if enough_for(percent, self.us.size) else None

    def slowdown(self, percent: float) -> float | None:
        """A percentile of slowdowns; None where there are too few for it."""
        return percentile(self.slowdowns, percent) if enough_for(percent, self.slowdowns.size) else None

    @property
    def mean_us(self) -> float | None:
        """Their mean; None where none was completed."""
        return float(self.us.mean()) if self.us.size else None


def times_of(run: Run) -> list[Times]:
    """Every group: all sizes together first, then by class where there are several, and its queries last."""
    if "messages" not in run.tables or run.table("messages").is_empty():
        return []
    messages = _with_slowdown(run)
    found: list[Times] = []
    for (group,), of_group in messages.partition_by("group", as_dict=True, maintain_order=True).items():
        found += _of_group(str(group), of_group)
        if "query" in of_group.columns and int(of_group["query"].max() or 0) > 0:  # type: ignore[arg-type]
            found.append(_queries(str(group), of_group))
    return found


def _with_slowdown(run: Run) -> pl.DataFrame:
    messages = run.table("messages")
    started, delivered = messages["started_ps"].to_numpy(), messages["delivered_ps"].to_numpy()
    taken_ps = (delivered - started).astype(np.float64)
    ideal = ideal_of(run.effective) if "flows" in run.tables else None
    ideal_ps = np.full(taken_ps.size, np.nan) if ideal is None else ideal.of(messages, run.table("flows"))
    columns = {"is_done": delivered >= started, "taken_ps": taken_ps, "ideal_ps": ideal_ps}
    return messages.hstack([pl.Series(name, values) for name, values in columns.items()])


def _of_group(group: str, messages: pl.DataFrame) -> Iterator[Times]:
    sizes, is_done = messages["bytes"].to_numpy(), messages["is_done"].to_numpy()
    taken_us, slowdowns = _us(messages), (messages["taken_ps"] / messages["ideal_ps"]).to_numpy()

    def times(name: str, chosen: NDArray[np.bool_]) -> Times:
        done = chosen & is_done
        known = slowdowns[done]
        return Times(group, name, "messages", taken_us[done], known[~np.isnan(known)], int(chosen.sum() - done.sum()))

    yield times(ALL_SIZES, np.ones(sizes.size, dtype=np.bool_))
    classes = [(name, (sizes >= least) & (below is None or sizes < below)) for name, least, below in _CLASSES]
    filled = [(name, chosen) for name, chosen in classes if chosen.any()]
    if len(filled) > 1:
        yield from (times(name, chosen) for name, chosen in filled)


def _queries(group: str, messages: pl.DataFrame) -> Times:
    """A query lasts from its start until the last of its answers is there."""
    queries = messages.group_by("query", maintain_order=True).agg(
        is_done=pl.col("is_done").all(),
        taken_ps=(pl.col("delivered_ps").max() - pl.col("started_ps").min()).cast(pl.Float64),
    )
    done = queries.filter("is_done")
    return Times(group, ALL_SIZES, "queries", _us(done), np.empty(0), len(queries) - len(done))


def _us(done: pl.DataFrame) -> Numbers:
    return (done["taken_ps"] / _PS_PER_US).to_numpy()


def goodputs_gbps(run: Run) -> Sequence[tuple[str, int, float]]:
    """Of each group of flows its name, its flows, and payload delivered a second while the run lasted."""
    simulated_s = float(run.summary.values.get("simulated_s", 0.0))
    if "flows" not in run.tables or simulated_s <= 0.0:
        return []
    groups = run.table("flows").group_by("group", maintain_order=True).agg(pl.len(), pl.col("delivered_bytes").sum())
    return [(group, flows, delivered * 8 / simulated_s / 1e9) for group, flows, delivered in groups.iter_rows()]
