"""Writes the timeline of a run."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.errors import BadInput
from hitless.timeline.protobuf import event
from hitless.timeline.tracks import Events, Window, events_of
from hitless.whole_file import whole

EVENTS_MAX = 10_000_000
"""Default limit: the viewer of Perfetto opens such a trace."""
_TABLES = ("flows", "messages", "queues", "throughput", "goodput", "flow_progress", "failures")
_PS_PER_NS = 1_000


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a run that a timeline shows."""

    from_ns: int = 0
    until_ns: int | None = None
    groups: Collection[str] = ()
    """Groups of flows; empty: all."""
    events: int = EVENTS_MAX


@dataclass(frozen=True, slots=True)
class Written:
    """A written timeline."""

    tracks: int
    events: int
    found: int
    """Events of the selection, with those beyond the limit."""
    until_ns: int
    """End of the window that the limit allows."""


def tables_in(folder: Path) -> dict[str, pl.DataFrame]:
    """Return the tables of the only run in a folder of results. Raises `BadInput`."""
    found = sorted(path.parent for path in folder.glob("**/flows.parquet"))
    if len(found) != 1:
        hint = "name one of its folders" if found else "name a folder that hitless run wrote"
        raise BadInput(f"the folder has the tables of {len(found)} runs, and not of one", where=str(folder), hint=hint)
    paths = {name: found[0] / f"{name}.parquet" for name in _TABLES}
    return {name: pl.read_parquet(path) for name, path in paths.items() if path.exists()}


def write_timeline(tables: dict[str, pl.DataFrame], path: Path, selection: Selection) -> Written:
    """Write the timeline of a run as a Perfetto trace, whole or not at all. Raises `OSError`."""
    chosen = {name: _of_groups(table, selection.groups) for name, table in tables.items()}
    ends_ns = _end_of(chosen) + 1
    window = Window(selection.from_ns, ends_ns if selection.until_ns is None else min(selection.until_ns, ends_ns))
    tracks, sorts = events_of(chosen, window)
    found = sum(len(one.at_ns) for one in sorts)
    if found > selection.events:
        window = _shortened(window, sorts, selection.events, len(tracks.packets))
        tracks, sorts = events_of(chosen, window)
    order = _in_order(sorts)
    with whole(path) as beside, beside.open("wb") as out:
        out.writelines(tracks.packets)
        out.writelines(_packets(sorts, order))
    return Written(len(tracks.packets), len(order), found, window.until_ns)


def _of_groups(table: pl.DataFrame, groups: Collection[str]) -> pl.DataFrame:
    return table.filter(pl.col("group").is_in(list(groups))) if groups and "group" in table.columns else table


def _end_of(tables: dict[str, pl.DataFrame]) -> int:
    """Return the last time in any table, at which unfinished slices end."""
    times = (table[name].max() for table in tables.values() for name in table.columns if name.endswith("_ps"))
    return max((int(str(one)) for one in times if one is not None), default=0) // _PS_PER_NS


def _shortened(window: Window, sorts: list[Events], events: int, tracks: int) -> Window:
    """Return a window with at most this number of events: each track can add the end of a slice that is cut."""
    at_ns = np.sort(np.concatenate([one.at_ns for one in sorts]))
    return Window(window.from_ns, int(at_ns[max(events - tracks, 0)]))


def _in_order(sorts: list[Events]) -> NDArray[np.int64]:
    """Return the sort and the position of each event, by time; events of one time keep their order on a track."""
    at_ns = np.concatenate([one.at_ns for one in sorts])
    numbers = np.repeat(np.arange(len(sorts)), [len(one.at_ns) for one in sorts])
    places = np.concatenate([np.arange(len(one.at_ns)) for one in sorts])
    return np.column_stack([numbers, places])[np.argsort(at_ns, kind="stable")]


def _packets(sorts: list[Events], order: NDArray[np.int64]) -> Iterator[bytes]:
    for number, place in order:
        one = sorts[number]
        yield event(int(one.at_ns[place]), one.encode(int(place)))
