"""The frames in front of a packet in a queue, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from hitless.numbers import format_number
from hitless.outcome.schema import declared_tables

FRONT_TABLE = "autopsy_front"
"""The frames in front of the packet in the longest queue of each message."""
_KINDS = {
    "acknowledgements": "acknowledgements",
    "trimmed": "trimmed packets",
    "copies": "copies",
    "control": "control frames",
}
_WORTH_NAMING = 0.05
"""Minimum share of the bytes in front of a packet for a place in a sentence (chosen)."""


@dataclass(slots=True)
class _Frames:
    """The frames in a clause."""

    bytes: int = 0
    flows: int = 0
    flow: int = 0


def of_message(fronts: pl.DataFrame | None, flow: int, number: int) -> pl.DataFrame:
    """Return the rows of a message in the table ``autopsy_front``, sorted by bytes, descending."""
    if fronts is None:
        return pl.DataFrame(schema=declared_tables()[FRONT_TABLE].types)
    found = fronts.filter((pl.col("flow") == flow) & (pl.col("number") == number))
    return found.sort("bytes", descending=True, maintain_order=True)


def clauses(flow: int, front: pl.DataFrame) -> list[str]:
    """Return the frames in front of a packet of ``flow``, sorted by bytes: "212 KB of 31 flows (incast)"."""
    found: dict[tuple[str, str], _Frames] = {}
    for row in front.iter_rows(named=True):
        frames = found.setdefault(_who(flow, row), _Frames())
        frames.bytes += int(row["bytes"])
        frames.flows += int(row["front_flows"])
        frames.flow = int(row["front_flow"])
    least = _WORTH_NAMING * sum(frames.bytes for frames in found.values())
    told = sorted(found.items(), key=lambda item: -item[1].bytes)
    return [_clause(who, frames) for who, frames in told if frames.bytes >= least]


def _who(flow: int, row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the sender of frames: their kind, and the group or the mechanism."""
    if row["kind"] != "data":
        return str(row["kind"]), str(row["mechanism"])
    is_own = row["front_flows"] == 1 and row["front_flow"] == flow
    return ("own", "") if is_own else ("data", str(row["front_group"]))


def _clause(who: tuple[str, str], frames: _Frames) -> str:
    kind, name = who
    size = f"{format_number(frames.bytes / 1e3)} KB"
    if kind == "own":
        return f"{size} of its own flow"
    if kind == "data":
        return (
            f"{size} of flow {frames.flow} ({name})"
            if frames.flows == 1
            else f"{size} of {frames.flows} flows ({name})"
        )
    return f"{size} of {_KINDS[kind]}{f' by {name}' if name else ''}"
