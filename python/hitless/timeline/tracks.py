"""The tracks of a run, and the events on them, from its tables."""

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.timeline.protobuf import begin, counter, end, instant, track

_PS_PER_NS = 1_000
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Events:
    """Events of a kind, by position."""

    at_ns: NDArray[np.int64]
    encode: Callable[[int], bytes]
    """Returns the event at a position."""


@dataclass(frozen=True, slots=True)
class Window:
    """The time that a timeline shows; slices are cut at both ends."""

    from_ns: int
    until_ns: int

    def clipped(self, begins_ns: int, ends_ns: int) -> tuple[int, int] | None:
        """Return the part of a slice inside; None without one."""
        if ends_ns < self.from_ns or begins_ns >= self.until_ns:
            return None
        return max(begins_ns, self.from_ns), min(ends_ns, self.until_ns)

    def has(self, at_ns: int) -> bool:
        return self.from_ns <= at_ns < self.until_ns


class Tracks:
    """Descriptions of tracks, numbered from 1."""

    def __init__(self) -> None:
        self.packets: list[bytes] = []

    def add(self, name: str, parent: int | None = None, unit: str | None = None) -> int:
        number = len(self.packets) + 1
        self.packets.append(track(number, name, parent, unit))
        return number


class Lanes:
    """Tracks below a host: slices that overlap use different lanes, because slices of a track must nest."""

    def __init__(self, tracks: Tracks, parent: int, name: str) -> None:
        self._tracks, self._parent, self._name = tracks, parent, name
        self._free: list[tuple[int, int]] = []

    def take(self, begins_ns: int, ends_ns: int) -> int:
        """Return a track that is free from now on; calls are ordered by the begin."""
        if self._free and self._free[0][0] <= begins_ns:
            number = heapq.heappop(self._free)[1]
        else:
            number = self._tracks.add(self._name, self._parent)
        heapq.heappush(self._free, (ends_ns, number))
        return number


def events_of(tables: Mapping[str, pl.DataFrame], window: Window) -> tuple[Tracks, list[Events]]:
    """Return the tracks and events of a run inside a window."""
    tracks = Tracks()
    found = list(_sent(tracks, tables, window))
    if "failures" in tables:
        found.append(_failures(tracks, tables["failures"], window))
    found.extend(_counters(tracks, tables, window))
    return tracks, found


def _ns(frame: pl.DataFrame, column: str) -> list[int]:
    return list((frame[column] // _PS_PER_NS).to_list())


def _sent(tracks: Tracks, tables: Mapping[str, pl.DataFrame], window: Window) -> Iterator[Events]:
    """Yield flows on their sources, and messages of flows with several, with arrows to the destination."""
    names = sorted({*tables["flows"]["source"], *tables["flows"]["destination"]})
    hosts = {name: tracks.add(name) for name in names}
    yield _slices(tracks, hosts, tables["flows"], ("flows", "finished_ps"), window)
    messages = tables.get("messages")
    if messages is not None:
        several = messages.filter(pl.len().over("flow") > 1)
        several = several.join(tables["flows"].select("flow", "source", "destination"), on="flow")
        yield _slices(tracks, hosts, several, ("messages", "delivered_ps"), window)


def _slices(
    tracks: Tracks, hosts: Mapping[str, int], frame: pl.DataFrame, ends: tuple[str, str], window: Window
) -> Events:
    """Return a slice for each row on its source, and an instant on its destination."""
    sort, end_column = ends
    rows = frame.sort("started_ps")
    started, ended = _ns(rows, "started_ps"), _ns(rows, end_column)
    lanes = {name: Lanes(tracks, number, sort) for name, number in hosts.items()}
    arrivals = {name: tracks.add(f"{sort} received", number) for name, number in hosts.items()}
    about = rows.select("group", "flow", "source", "destination").rows()
    times: list[int] = []
    encoded: list[bytes] = []
    for begins, finished, (group, flow, source, destination) in zip(started, ended, about, strict=True):
        inside = window.clipped(begins, finished if finished >= 0 else window.until_ns)
        if inside is None:
            continue
        lane, arrow = lanes[source].take(*inside), len(encoded) * 2 + (sort == "messages") + 1
        name = f"{group} {flow} to {destination}"
        state = "done" if finished >= 0 else "unfinished"
        encoded.append(begin(lane, name, {"flow": flow, "destination": destination, "state": state}, arrow))
        encoded.append(end(lane))
        times += inside
        if window.has(finished):
            encoded.append(instant(arrivals[destination], f"{group} {flow} from {source}", arrow))
            times.append(finished)
    return Events(np.array(times, dtype=np.int64), encoded.__getitem__)


def _failures(tracks: Tracks, frame: pl.DataFrame, window: Window) -> Events:
    """Return a slice for each failure on its link, with detection and recovery at its ends."""
    links = {name: tracks.add(f"link {name}") for name in frame["link"].unique(maintain_order=True)}
    times: list[int] = []
    encoded: list[bytes] = []
    for row in frame.sort("down_ps").iter_rows(named=True):
        number = links[row["link"]]
        up_ns = row["up_ps"] // _PS_PER_NS if row["up_ps"] >= 0 else window.until_ns
        inside = window.clipped(row["down_ps"] // _PS_PER_NS, up_ns)
        if inside is None:
            continue
        encoded += [begin(number, "down", {"frames lost": row["frames_lost"]}), end(number)]
        times += inside
        for side, what in itertools.product(("from", "to"), ("detected", "recovered")):
            at_ps = row[f"{side}_{what}_ps"]
            if at_ps >= 0 and window.has(at_ps // _PS_PER_NS):
                encoded.append(instant(number, f"{what} at {row[side]}"))
                times.append(at_ps // _PS_PER_NS)
    return Events(np.array(times, dtype=np.int64), encoded.__getitem__)


def _counters(tracks: Tracks, tables: Mapping[str, pl.DataFrame], window: Window) -> Iterator[Events]:
    for name, by, value, title, unit in (
        ("queues", ["port"], "value_bytes", "queue of {}", "B"),
        ("throughput", ["link"], "value_bytes", "throughput of {}", "bit/s"),
        ("goodput", ["group"], "delivered_bytes", "goodput of {}", "bit/s"),
        ("flow_progress", ["group", "flow"], "cwnd_bytes", "window of {} {}", "B"),
        ("flow_progress", ["group", "flow"], "packets_retransmitted", "retransmissions of {} {}", "packets"),
    ):
        frame = tables.get(name)
        if frame is None or frame.is_empty():
            continue
        for key, rows in frame.group_by(by, maintain_order=True):
            yield _counter(tracks.add(title.format(*key), None, unit), rows.sort("time_ps"), value, unit, window)


def _counter(number: int, rows: pl.DataFrame, column: str, unit: str, window: Window) -> Events:
    """Return the values of a counter; bytes of intervals become a rate at the start of each."""
    at_ns = (rows["time_ps"] // _PS_PER_NS).to_numpy().astype(np.int64)
    values = rows[column].to_numpy()
    if unit == "bit/s":
        starts = np.concatenate([[0], at_ns[:-1]])
        lengths = np.maximum(at_ns - starts, 1)
        at_ns, values = starts, (values * 8.0 * _NS_PER_S / lengths).round()
    is_inside = (at_ns >= window.from_ns) & (at_ns < window.until_ns)
    at_ns, values = at_ns[is_inside], values[is_inside]
    return Events(at_ns, lambda place: counter(number, int(values[place])))
