"""A finished run: its summary, and tables as data frames. A column's name ends with its unit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from hitless.errors import HitlessError
from hitless.outcome.counters import over_places, require_key, require_quantity, require_switch

if TYPE_CHECKING:
    from hitless.outcome.autopsy import Why
    from hitless.outcome.pictures import RunPictures

_PS_PER_US = 1e6
SLOWDOWN = "slowdown"
"""Column of flows and messages in files; `Run.flows` and `Run.messages` compute it for tables in memory."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a run.

    ``values`` is the complete object as the simulator wrote it; the properties name the values that every run has.
    """

    values: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"Summary(seed={self.values.get('seed')}, trace_hash={self.values.get('trace_hash')!r})"

    @property
    def drops(self) -> dict[str, int]:
        """Packets dropped, by reason."""
        return dict(self.values.get("drops", {}))

    @property
    def warnings(self) -> list[str]:
        """Things to check before trusting the results, such as a mechanism that never acted."""
        return list(self.values.get("warnings", []))

    @property
    def unfinished(self) -> str:
        """Flows that did not finish, gave up or did not start, with the causes; "" if every flow ended."""
        return str(self.values.get("unfinished", ""))

    @property
    def incomplete(self) -> str:
        """Why the run is incomplete, in words; "" for a complete run."""
        return str(self.values.get("incomplete", ""))

    def __getitem__(self, path: str) -> Any:
        """Return the value at a dotted path: ``summary["flows.completed"]``."""
        value: Any = self.values
        for name in path.split("."):
            value = value[name]
        return value


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run. A column's name ends with its unit; times with ``_ps`` are integer picoseconds.

    `flows`, `messages`, `queues` and `mechanisms` are the common tables; `table` returns any. ``to_pandas()`` and
    ``to_arrow()`` of polars convert a frame, with ``hitless[pandas]`` installed.
    """

    effective: str
    """The scenario that ran, as TOML with every default spelled out."""
    summary: Summary
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    wall_s: float = 0.0
    captures: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """Captures of ``[[measure.capture]]``: pcapng files by name."""
    _known: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Values computed once, because rows, plots and answers need the same: `hitless.outcome.times`, `slowdowns`."""

    def table(self, name: str) -> pl.DataFrame:
        """Return the table ``name``. Raises `KeyError` if the run did not keep it."""
        if name not in self.tables:
            known = ", ".join(sorted(self.tables)) or "none"
            raise KeyError(f"the run has no table {name!r}; it has: {known}")
        return self.tables[name]

    def scan(self, name: str) -> pl.LazyFrame:
        """Return the table ``name`` as a lazy frame of polars: a query reads only the data that it needs from disk."""
        scan = getattr(self.tables, "scan", None)
        table: pl.LazyFrame = self.table(name).lazy() if scan is None or name not in self.tables else scan(name)
        return table

    @property
    def flows(self) -> pl.DataFrame:
        """A row for each flow: hosts, bytes, packets, losses, and how it ended.

        ``flow`` is its number in this run, in the order of starts. ``group`` and ``position`` identify the flow in
        every run of the scenario, whenever other flows start: use them to compare runs.

        ``fct_us`` is its completion time in microseconds, from its start to its end; null for an incomplete flow.
        ``slowdown`` is its message's; null for a flow of several messages, or without the table ``messages``.
        """
        return _with_completion_time(self._with_slowdown("flows"), "finished_ps", pl.col("outcome") == "completed")

    @property
    def messages(self) -> pl.DataFrame:
        """A row for each message of a flow: bytes and times.

        ``fct_us`` is its completion time in microseconds, from its start to the delivery of its last byte; null for a
        message still in flight at the end. ``slowdown`` is this time over the time in an idle fabric; null without
        the table ``flows``.
        """
        return _with_completion_time(self._with_slowdown("messages"), "delivered_ps", pl.col("delivered_ps") >= 0)

    def _with_slowdown(self, name: str) -> pl.DataFrame:
        from hitless.outcome.slowdowns import slowdown_columns  # noqa: PLC0415 - it needs the topology, runs do not

        table, columns = self.table(name), slowdown_columns(self)
        return table.with_columns(columns[name]) if name in columns else table

    @property
    def queues(self) -> pl.DataFrame:
        """Samples of ``[[measure.queue]]`` in the scenario: port, ``time_ps``, ``value_bytes``."""
        return self.table("queues")

    @property
    def mechanisms(self) -> pl.DataFrame:
        """Counters of each mechanism at each switch: switch, mechanism, scope, counter, label, value."""
        return self.table("mechanisms")

    def counter(self, key: str, switch: str | None = None, *, default: int | None = None) -> int:
        """Return the counter with this key over all ports, and over all switches unless one is named.

        docs/reference/counters.md lists the keys. The result is the sum, but the maximum for a counter named as one
        (``longest_stall_ns``, ``replay_buffer_peak_bytes``). Without a ``default``, raises `KeyError` if no mechanism
        there has this counter. An unknown key always raises `KeyError`.
        """
        found = self.mechanisms.filter(self.mechanisms["counter"].cast(pl.String) == key)
        if switch is not None:
            found = found.filter(pl.col("switch") == switch)
        if not found.is_empty():
            return over_places(key, found["value"].to_list())
        require_key(key, self.mechanisms["counter"].unique())
        if default is None:
            raise KeyError(f"no mechanism {f'at {switch} ' if switch else ''}has a counter {key!r}")
        return default

    def histogram(self, key: str, switch: str | None = None) -> pl.DataFrame:
        """Return a histogram of a mechanism: switch, scope, value, count.

        docs/reference/counters.md lists the keys. Raises `KeyError` for an unknown key, and for a switch without
        mechanisms.
        """
        return self._quantity("histograms", key, switch)

    def series(self, key: str, switch: str | None = None) -> pl.DataFrame:
        """Return a series of a mechanism: switch, scope, time, value. Each value holds from its time onwards.

        Takes and raises the same as `histogram`.
        """
        return self._quantity("series", key, switch)

    def _quantity(self, table: str, key: str, switch: str | None) -> pl.DataFrame:
        rows = self.table(table)
        found = rows.filter(pl.col("quantity").cast(pl.String) == key)
        if found.is_empty():
            require_quantity(key, rows["quantity"].unique())
        if switch is not None:
            found = found.filter(pl.col("switch") == switch)
            if found.is_empty() and "mechanisms" in self.tables:
                require_switch(switch, {*rows["switch"].unique(), *self.mechanisms["switch"].unique()})
        return found.drop("quantity", "label", strict=False)

    def why(self, flow: int, number: int | None = None) -> "Why":
        """Explain the completion time of a flow's slowest message, or of message ``number``, by its parts.

        The scenario needs ``[measure] autopsy = true``; the table ``autopsy`` has all messages. Raises `BadInput`.
        """
        from hitless.outcome.autopsy import autopsy_of, why  # noqa: PLC0415 - it needs no explanation to run

        return why(autopsy_of(self.tables), flow, number, fronts=self._fronts)

    def why_percentiles(self, group: str | None = None) -> dict[str, str]:
        """Explain the messages around p50, p99 and p99.9 in a sentence each: the longest parts, with their usual cause.

        ``group`` is None for all groups. A percentile of too few messages is absent. Raises `BadInput`.
        """
        from hitless.outcome.around import sentences_at  # noqa: PLC0415 - as above
        from hitless.outcome.autopsy import autopsy_of, of_group  # noqa: PLC0415 - as above

        return sentences_at(of_group(autopsy_of(self.tables), group))

    def why_query(self, query: int, group: str | None = None) -> "Why":
        """Explain the completion time of a query by the critical path of its last answer; ``group`` is its incast.

        The scenario needs ``[measure] autopsy = true``. Raises `BadInput`.
        """
        from hitless.outcome.queries import why_query  # noqa: PLC0415 - as above

        return why_query(self.tables, query, group, fronts=self._fronts)

    @property
    def _fronts(self) -> pl.LazyFrame | None:
        from hitless.outcome.front import FRONT_TABLE  # noqa: PLC0415 - as above

        return self.scan(FRONT_TABLE) if FRONT_TABLE in self.tables else None

    @property
    def plot(self) -> "RunPictures":
        """Pictures of the run: ``run.plot.fct_tail()``."""
        from hitless.outcome.pictures import RunPictures  # noqa: PLC0415 - drawing is not needed to run

        return RunPictures(self)

    def completed_messages(self) -> pl.DataFrame:
        """Return the rows of ``messages`` that were delivered and acknowledged, without those in flight at the end."""
        return self.table("messages").filter((pl.col("delivered_ps") >= 0) & (pl.col("acknowledged_ps") >= 0))

    def __repr__(self) -> str:
        return f"Run(seed={self.summary.values.get('seed')}, tables=[{', '.join(sorted(self.tables))}])"

    def _repr_html_(self) -> str:
        """Return a small table and a picture for a notebook."""
        from hitless.outcome.pictures import run_as_html  # noqa: PLC0415 - as above

        return run_as_html(self)


class RunStopped(HitlessError):
    """A run that stopped early. Its results are the same as those from a shorter run."""

    def __init__(self, run: Run, *, where: str = "", hint: str = "") -> None:
        super().__init__(run.summary.incomplete, where=where, hint=hint)
        self.run = run
        """The partial run; its summary says why it is incomplete."""

    def __reduce__(self) -> tuple[type["RunStopped"], tuple[Run], dict[str, object]]:
        return RunStopped, (self.run,), self.__dict__

    @property
    def was_interrupted(self) -> bool:
        """Did somebody interrupt it? Otherwise it ran out of memory."""
        return self.run.summary.values.get("ended_by") == "interrupted"


def _with_completion_time(table: pl.DataFrame, end: str, is_done: pl.Expr) -> pl.DataFrame:
    taken = pl.when(is_done).then(pl.col(end) - pl.col("started_ps"))
    return table.with_columns(fct_us=taken / _PS_PER_US)
