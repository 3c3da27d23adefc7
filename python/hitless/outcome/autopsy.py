"""Autopsies: the completion time of each message, divided along its critical path, in numbers and in a sentence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from hitless.errors import BadInput
from hitless.numbers import format_number
from hitless.outcome.front import clauses, of_message
from hitless.suggest import did_you_mean

Fronts: TypeAlias = pl.DataFrame | pl.LazyFrame
"""The table ``autopsy_front``; of a lazy one, only the rows of explained messages are read."""
TABLE = "autopsy"
PS_PER_US = 1e6


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a completion time."""

    name: str
    """The column without its unit."""
    label: str
    phrase: str
    """What the message did, after its time: "in queues"."""


PARTS = (
    Part("application", "application", "for the application"),
    Part("earlier_messages", "earlier messages", "behind earlier messages of its connection"),
    Part("stack", "host stack", "in the stacks of hosts"),
    Part("card", "network card", "waiting for the network card"),
    Part("pacing", "pacing", "between packets that the sender paced"),
    Part("credit", "credit", "waiting for credit"),
    Part("delayed_acknowledgement", "delayed acknowledgement", "waiting for delayed acknowledgements"),
    Part("serialisation", "serialisation", "in serialisation"),
    Part("propagation", "propagation", "in propagation"),
    Part("pipeline", "switch pipelines", "in the pipelines of switches"),
    Part("queue", "queues", "in queues"),
    Part("paused", "paused queues", "in paused queues"),
    Part("mechanism", "mechanisms", "held by mechanisms"),
    Part("link_recovery", "recovery by the link", "waiting until a mechanism repeated a lost packet"),
    Part("fast_recovery", "fast recovery", "waiting until acknowledgements made the sender repeat a lost packet"),
    Part("reordering_timer", "reordering timer", "waiting for the reordering timer"),
    Part("probe", "tail loss probe", "waiting for the tail loss probe"),
    Part("timeout", "retransmission timeout", "waiting for the retransmission timer"),
    Part("reorder_buffer", "reorder buffer", "in the reorder buffer of its host"),
)
"""All parts, in the order of the columns; together they are the completion time."""
RECOVERIES = {
    "link": "link_recovery",
    "acknowledgement": "fast_recovery",
    "reordering timer": "reordering_timer",
    "probe": "probe",
    "timeout": "timeout",
}
COLUMNS = [f"{part.name}_ps" for part in PARTS]
LABELS = {part.name: part.label for part in PARTS}
TOTAL_PS = pl.sum_horizontal(COLUMNS)
"""Sum of all parts."""
WHOLE = "completion time"
"""Name of the sum of all parts."""
WORTH_TELLING = 0.2
"""Minimum share of the completion time for the second part of a sentence (chosen)."""


@dataclass(frozen=True, slots=True)
class Why:
    """Why a message took its time."""

    flow: int
    group: str
    number: int
    """The message of the flow, from 0."""
    bytes: int
    """Payload."""
    total_us: float
    parts_us: Mapping[str, float]
    """The time of each part by its label, the longest first, without zeros; the sum is the whole time."""
    round_trips: int
    """Number of times that the sender had to wait for a packet from the receiver."""
    sentence: str
    front: pl.DataFrame
    """The frames in front of the packet in its longest queue: rows of the table ``autopsy_front``."""
    query: int | None = None
    """The query, if this is the last answer to it and the time is the query's."""

    def __str__(self) -> str:
        return self.sentence

    @property
    def table(self) -> pl.DataFrame:
        """The parts with their times and shares, the longest first."""
        times = list(self.parts_us.values())
        shares = [time / self.total_us if self.total_us else 0.0 for time in times]
        return pl.DataFrame({"part": list(self.parts_us), "time_us": times, "share": shares})

    def _repr_html_(self) -> str:
        from hitless.outcome.pictures import html_table  # noqa: PLC0415 - drawing is not needed to explain

        return html_table(
            [("", self.sentence), *((name, f"{format_number(time)} us") for name, time in self.parts_us.items())]
        )


def autopsy_of(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the table of autopsies of a run. Raises `BadInput` without one."""
    if TABLE not in tables:
        raise BadInput(
            "the run has no autopsy", hint="autopsy = true in [measure] of the scenario divides completion times"
        )
    return tables[TABLE]


def why(autopsies: pl.DataFrame, flow: int, number: int | None = None, *, fronts: Fronts | None = None) -> Why:
    """Explain a message of a flow: the slowest one, or the one with this number. Raises `BadInput`.

    ``fronts`` is the table ``autopsy_front``; without it, no frames in queues are named.
    """
    found = autopsies.filter(pl.col("flow") == flow)
    if number is not None:
        found = found.filter(pl.col("number") == number)
    if found.is_empty():
        message = "" if number is None else f" message {number} of"
        hint = "messages that were not delivered, or that started before the warm-up ended, have no autopsy"
        raise BadInput(f"there is no autopsy of{message} flow {flow}", hint=hint)
    return slowest(found, 1, fronts=fronts)[0]


def slowest(autopsies: pl.DataFrame, count: int, *, fronts: Fronts | None = None) -> list[Why]:
    """Explain the slowest messages, the slowest first."""
    rows = autopsies.with_columns(total_ps=TOTAL_PS).sort(
        ["total_ps", "flow", "number"], descending=[True, False, False]
    )
    return explained(rows.head(count), fronts)


def explained(autopsies: pl.DataFrame, fronts: Fronts | None = None) -> list[Why]:
    """Explain all these messages, in their order."""
    is_chosen = pl.col("flow").is_in(autopsies["flow"].to_list())
    chosen = None if fronts is None else fronts.lazy().filter(is_chosen).collect()
    rows = autopsies.iter_rows(named=True)
    return [_explained(row, of_message(chosen, row["flow"], row["number"])) for row in rows]


def of_group(autopsies: pl.DataFrame, group: str | None, what: str = "delivered message") -> pl.DataFrame:
    """Return the rows of a group; None for all. Raises `BadInput` for an unknown group, with the known ones."""
    if group is None or autopsies.is_empty():
        return autopsies
    groups = autopsies["group"].unique(maintain_order=True).to_list()
    if group not in groups:
        raise BadInput(f"no {what} is of a group {group!r}", hint=did_you_mean(group, groups))
    return autopsies.filter(pl.col("group") == group)


def _explained(row: Mapping[str, Any], front: pl.DataFrame) -> Why:
    times = {part.name: int(row[f"{part.name}_ps"]) for part in PARTS}
    total_ps = sum(times.values())
    longest = sorted((name for name in times if times[name]), key=lambda name: -times[name])
    return Why(
        int(row["flow"]),
        str(row["group"]),
        int(row["number"]),
        int(row["bytes"]),
        total_ps / PS_PER_US,
        {LABELS[name]: times[name] / PS_PER_US for name in longest},
        int(row["round_trips"]),
        _sentence(row, times, longest, total_ps, clauses(int(row["flow"]), front)),
        front,
        row.get("query"),
    )


def _sentence(
    row: Mapping[str, Any], times: Mapping[str, int], longest: Sequence[str], total_ps: int, front: Sequence[str]
) -> str:
    told = [name for place, name in enumerate(longest) if place == 0 or times[name] >= WORTH_TELLING * total_ps]
    phrases = {part.name: part.phrase for part in PARTS}
    clauses = [f"{in_us(times[name])} {phrases[name]}{_because(row, name, front)}" for name in told]
    rounds = int(row["round_trips"])
    # Several round trips repeat propagation, serialisation and pipelines.
    is_of_rounds = rounds > 1 and int(row["earlier_rounds_ps"]) > total_ps / 2 and not row["recoveries"]
    more = f"; it took {rounds} more round trips" if is_of_rounds else ""
    return f"{in_us(total_ps)}: {joined(clauses)}{more}" if clauses else f"{in_us(total_ps)}"


def _because(row: Mapping[str, Any], name: str, front: Sequence[str]) -> str:
    """Return the reason for the time of a part: the longest queue, or the loss."""
    if name == "queue" and row["longest_queue"]:
        behind = f", behind {joined(front)}" if front else ""
        return f" ({in_us(int(row['longest_queue_ps']))} at {row['longest_queue']}{behind})"
    if RECOVERIES.get(row["longest_recovery"]) != name:
        return ""
    others = f", the longest of {row['recoveries']} recoveries" if int(row["recoveries"]) > 1 else ""
    return f", because {loss(row['lost_at'], row['lost_because'])}{others}"


def loss(at: str, because: str) -> str:
    """Return the loss of a packet in words: "a packet was corrupted on a->b"."""
    if not at:
        return "acknowledgements were late or lost (no packet was)"
    if because == "corrupted":
        return f"a packet was corrupted on {at}"
    if because == "link down":
        return f"a packet was lost on {at}, which was down"
    if because == "trimmed":
        return f"a packet was trimmed at {at}"
    return f"a packet was dropped at {at} ({because})"


def in_us(time_ps: float) -> str:
    """Return a time in picoseconds as text, in microseconds with 4 significant digits."""
    return f"{format_number(time_ps / PS_PER_US)} us"


def joined(clauses: Iterable[str]) -> str:
    """Join clauses by commas and an "and"."""
    *others, last = clauses
    return f"{', '.join(others)} and {last}" if others else last
