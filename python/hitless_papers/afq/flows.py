"""Flows that several schemes were given, and how long each took under each.

A completion time runs from the start of a flow to the arrival of its last byte. It is shown divided by what the flow
would take in an idle network without a transport that holds it back: the normalization of figures 7 to 9. A mean over
flows is the mean of the completion times divided by the mean of the idle times.

Schemes meet the same flows. Those that are compared are the flows that finished under every scheme that a number is
about: the paper has those that finished, of each scheme its own, in a run that is much longer. What finished under each
and what remains in the comparison are shares of the begun flows, shown with each number.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.simulation import Run
from hitless_papers import Share
from hitless_papers.afq.sizes import FRAME_BYTES, HEADER_BYTES, MSS_BYTES, OVERHEAD_BYTES, SHORT_BYTES

Times = NDArray[np.float64]

ALL_FLOWS = "all flows"
SHORT_FLOWS = "flows below 100 KB"
EVERY_SCHEME = "every scheme of them"
"""The series of the share that remains when flows are compared between schemes."""


def idle_us(size_bytes: Times, rates_gbps: Sequence[float], fixed_us: float) -> Times:
    """Return the completion times of unhindered flows in an idle network.

    Their frames pass links of these rates in sequence. The time is the sum of all frames on the slowest link, of one
    full frame on each other link, and of ``fixed_us``: propagation, pipelines, stacks.
    """
    frames = np.ceil(size_bytes / MSS_BYTES)
    on_wire = size_bytes + frames * (HEADER_BYTES + OVERHEAD_BYTES)
    largest = np.where(frames > 1, FRAME_BYTES + OVERHEAD_BYTES, on_wire)
    others = sum(8 / (rate * 1e3) for rate in rates_gbps) - 8 / (min(rates_gbps) * 1e3)
    times: Times = on_wire * 8 / (min(rates_gbps) * 1e3) + largest * others + fixed_us
    return times


def delivered(run: Run) -> pl.DataFrame:
    """The flows that finished: ``flow``, ``number``, ``bytes``, ``started_ps``, ``fct_us``.

    On connections that are shared, ``flow`` is the connection, and ``number`` tells its flows apart.
    """
    fct = (pl.col("delivered_ps") - pl.col("started_ps")) / 1e6
    return run.completed_messages().select("flow", "number", "bytes", "started_ps", fct_us=fct)


def begun_bytes(runs: Iterable[Run]) -> pl.Series:
    """The sizes of the flows that began, which must be the same under all schemes."""
    first, *others = (run.table("messages")["bytes"].sort() for run in runs)
    if not all(first.equals(other) for other in others):
        raise ValueError("runs to be compared must have the same flows")
    return first


def with_idle_us(run: Run, rates_gbps: Sequence[float], fixed_us: float) -> pl.DataFrame:
    done = delivered(run)
    size_bytes = done["bytes"].to_numpy().astype(np.float64)
    return done.with_columns(idle_us=pl.Series(idle_us(size_bytes, rates_gbps, fixed_us)))


class Compared:
    """The flows that schemes were given, and those that finished under each.

    ``tables`` has by the schemes' names what `delivered` says of each, with ``idle_us``; ``begun_bytes`` the sizes of
    all flows that began, the same under all of them.
    """

    def __init__(self, tables: Mapping[str, pl.DataFrame], begun_bytes: pl.Series) -> None:
        self.names = list(tables)
        self._tables = dict(tables)
        self._begun_bytes = begun_bytes

    @cached_property
    def table(self) -> pl.DataFrame:
        """The flows that finished under all schemes, in the order of their starts.

        Columns: ``flow``, ``number``, ``bytes``, ``started_ps``, ``idle_us``, and one for each scheme, in microseconds.
        """
        first, *_ = self._tables.values()
        joined = first.select("flow", "number", "bytes", "started_ps", "idle_us")
        for name, table in self._tables.items():
            joined = joined.join(table.select("flow", "number", pl.col("fct_us").alias(name)), on=["flow", "number"])
        return joined.sort("started_ps")

    @property
    def shares(self) -> tuple[Share, ...]:
        """How many of those that began finished under each scheme, and under all of them."""
        begun = len(self._begun_bytes)
        finished = [Share(name, len(table), begun) for name, table in self._tables.items()]
        return (*finished, Share(EVERY_SCHEME, len(self.table), begun)) if len(finished) > 1 else tuple(finished)

    def only(self, *names: str) -> "Compared":
        return Compared({name: self._tables[name] for name in names}, self._begun_bytes)

    def of_sizes(self, low: float, high: float) -> "Compared":
        """Keep the flows above ``low`` bytes, up to ``high``."""
        within = (pl.col("bytes") > low) & (pl.col("bytes") <= high)
        begun = self._begun_bytes.filter((self._begun_bytes > low) & (self._begun_bytes <= high))
        return Compared({name: table.filter(within) for name, table in self._tables.items()}, begun)

    @property
    def short(self) -> "Compared":
        return self.of_sizes(0, SHORT_BYTES - 1)

    @property
    def by_length(self) -> Mapping[str, "Compared"]:
        """All flows, and the short ones, as metrics name them."""
        return {ALL_FLOWS: self, SHORT_FLOWS: self.short}


def compared(runs: Mapping[str, Run], completion: Callable[[Run], pl.DataFrame]) -> Compared:
    """The flows of runs that differ in their scheme only, by its name; ``completion`` is as `with_idle_us`."""
    return Compared({name: completion(run) for name, run in runs.items()}, begun_bytes(runs.values()))


TABLES = ("flows", "messages", "mechanisms")
"""What completion times and counters are read from."""
AFTER_THE_END = "arrived after the end of the flow"
"""Reason of drops at hosts that lose nothing."""


def dropped(run: Run) -> int:
    """Packets that a switch had no room for, or that AFQ found too many rounds ahead."""
    return sum(count for reason, count in run.summary.drops.items() if reason != AFTER_THE_END)


def dropped_per_flow(run: Run) -> float:
    return dropped(run) / float(run.summary["flows.started"])


def dropped_bytes_per_flow(run: Run) -> float:
    """Bytes of frames that switches dropped, for each flow that started."""
    at_switches = run.table("drops").filter(pl.col("switch") != "")
    return int(at_switches["bytes"].sum()) / float(run.summary["flows.started"])


def misestimated(run: Run) -> tuple[int, int]:
    """Packets that the sketch put into a later queue than an exact account of bids would have; and all checked."""
    return run.counter("packets_in_later_queue"), run.counter("bids_checked")
