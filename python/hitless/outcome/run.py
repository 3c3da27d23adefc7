"""What a run leaves: its summary, and tables as data frames. A column's unit ends its name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from hitless.errors import HitlessError

if TYPE_CHECKING:
    from hitless.outcome.pictures import RunPictures

_PS_PER_US = 1e6


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run says of itself as a whole.

    ``values`` is the complete object as the simulator wrote it; the properties name what every run has.
    """

    values: Mapping[str, Any]

    @property
    def drops(self) -> dict[str, int]:
        """Packets dropped, by reason."""
        return dict(self.values.get("drops", {}))

    @property
    def warnings(self) -> list[str]:
        """What to check before trusting the results, such as a mechanism that never acted."""
        return list(self.values.get("warnings", []))

    @property
    def incomplete(self) -> str:
        """Why the run is not complete, in words; "" for one that came to its end."""
        return str(self.values.get("incomplete", ""))

    def __getitem__(self, path: str) -> Any:
        """The value at a dotted path: ``summary["flows.completed"]``."""
        value: Any = self.values
        for name in path.split("."):
            value = value[name]
        return value


@dataclass(frozen=True, slots=True)
class Run:
    """Finished work. A column's unit ends its name; times that end with ``_ps`` are integer picoseconds.

    `flows`, `messages`, `queues` and `mechanisms` are the tables asked for most; `table` has every one. A frame of
    polars becomes another library's by its own ``to_pandas()`` or ``to_arrow()``, with ``hitless[pandas]`` installed.
    """

    effective: str
    """What was run as TOML, with every default spelled out."""
    summary: Summary
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    wall_s: float = 0.0

    def table(self, name: str) -> pl.DataFrame:
        """The table ``name``, which the run must have been asked to keep. Raises `KeyError`."""
        if name not in self.tables:
            known = ", ".join(sorted(self.tables)) or "none"
            raise KeyError(f"the run has no table {name!r}; it has: {known}")
        return self.tables[name]

    def scan(self, name: str) -> pl.LazyFrame:
        """The table ``name`` for a query of polars: of one on disk no more is read than the query needs."""
        scan = getattr(self.tables, "scan", None)
        table: pl.LazyFrame = self.table(name).lazy() if scan is None or name not in self.tables else scan(name)
        return table

    @property
    def flows(self) -> pl.DataFrame:
        """A row for each flow: hosts, bytes, packets, what was lost, how it ended.

        ``flow`` is its number in this run, in the order of starts. ``group`` and ``position`` name it in every run of
        the scenario, whatever else starts when: compare runs by them.

        ``fct_us`` is its completion time in microseconds, from its start to its end; null for one that was not
        completed.
        """
        return _with_completion_time(self.table("flows"), "finished_ps", pl.col("outcome") == "completed")

    @property
    def messages(self) -> pl.DataFrame:
        """A row for each message of a flow: bytes and moments.

        ``fct_us`` is its completion time in microseconds, from its start to the delivery of its last byte; null for one
        that was under way at the end.
        """
        return _with_completion_time(self.table("messages"), "delivered_ps", pl.col("delivered_ps") >= 0)

    @property
    def queues(self) -> pl.DataFrame:
        """The samples that ``[[measure.queue]]`` of the scenario asked for: port, ``time_ps``, ``value_bytes``."""
        return self.table("queues")

    @property
    def mechanisms(self) -> pl.DataFrame:
        """What each mechanism counted, at each switch: switch, mechanism, scope, counter, value."""
        return self.table("mechanisms")

    def counter(self, name: str, switch: str | None = None, *, default: int | None = None) -> int:
        """Return a counter of the mechanisms, summed over ports, and over all switches unless one is named.

        Without a ``default``, raises `KeyError` if no mechanism there has this counter.
        """
        found = self.mechanisms.filter(pl.col("counter") == name)
        if switch is not None:
            found = found.filter(pl.col("switch") == switch)
        if not found.is_empty():
            return int(found["value"].sum())
        if default is None:
            raise KeyError(f"no mechanism {f'at {switch} ' if switch else ''}has a counter {name!r}")
        return default

    @property
    def plot(self) -> "RunPictures":
        """Pictures of the run: ``run.plot.fct_tail()``."""
        from hitless.outcome.pictures import RunPictures  # noqa: PLC0415 - drawing is not needed to run

        return RunPictures(self)

    def completed_messages(self) -> pl.DataFrame:
        """The rows of ``messages`` that were delivered and acknowledged: not those that were under way at the end."""
        return self.table("messages").filter((pl.col("delivered_ps") >= 0) & (pl.col("acknowledged_ps") >= 0))

    def _repr_html_(self) -> str:
        """A small table and a picture, as a notebook shows it."""
        from hitless.outcome.pictures import run_as_html  # noqa: PLC0415 - as above

        return run_as_html(self)


class RunStopped(HitlessError):
    """A run that ended before its end, and has results all the same: those of a shorter run."""

    def __init__(self, run: Run, *, where: str = "", hint: str = "") -> None:
        super().__init__(run.summary.incomplete, where=where, hint=hint)
        self.run = run
        """What there is: its summary says why it is incomplete."""

    def __reduce__(self) -> tuple[type["RunStopped"], tuple[Run], dict[str, object]]:
        return RunStopped, (self.run,), self.__dict__

    @property
    def was_interrupted(self) -> bool:
        """Did somebody ask for it? Otherwise it took too much memory."""
        return self.run.summary.values.get("ended_by") == "interrupted"


def _with_completion_time(table: pl.DataFrame, end: str, is_done: pl.Expr) -> pl.DataFrame:
    taken = pl.when(is_done).then(pl.col(end) - pl.col("started_ps"))
    return table.with_columns(fct_us=taken / _PS_PER_US)
