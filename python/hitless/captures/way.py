"""The way of one packet through a captured network."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hitless.captures.pcapng import Sighting, read_capture
from hitless.errors import BadInput

_NS_PER_US = 1_000
_INBOUND, _OUTBOUND = 1, 2


@dataclass(frozen=True, slots=True)
class Way:
    """All sightings of the packets with one transport header, by time."""

    number: int
    """Position among the packets of the flow, by first sighting, counted from 0."""
    sightings: Sequence[Sighting]

    @property
    def first(self) -> Sighting:
        return self.sightings[0]


def captures_in(folder: Path) -> list[Path]:
    """Return the captures in a folder of results, or the file itself. Raises `BadInput`."""
    paths = [folder] if folder.is_file() else sorted(folder.glob("**/*.pcapng"))
    if not paths:
        hint = 'add [[measure.capture]] to the scenario, for example with links = ["*"], and run it again'
        raise BadInput("no capture of packets found", where=str(folder), hint=hint)
    return paths


def ways_of_flow(folder: Path, flow: int) -> list[Way]:
    """Return the packets of a flow in both directions, by first sighting. Raises `BadInput`."""
    # Two captures of a run can have the same place.
    sightings = list(dict.fromkeys(one for path in captures_in(folder) for one in read_capture(path)))
    flows = sorted({one.flow for one in sightings if one.flow is not None})
    if flow not in flows:
        known = f"it has packets of {len(flows)} flows, from {flows[0]} to {flows[-1]}" if flows else "it has 0 flows"
        raise BadInput(f"no packet of flow {flow} in the capture", where=str(folder), hint=known)
    of: dict[int, list[Sighting]] = {}
    for one in sorted((one for one in sightings if one.flow == flow), key=lambda one: one.at_ns):
        of.setdefault(one.identity or 0, []).append(one)
    return [Way(number, found) for number, found in enumerate(of.values())]


def told(way: Way) -> list[str]:
    """Return a line for each sighting: the time, the time since the first, the place, and the end of the packet."""
    first = way.first
    width = max(len(one.place) for one in way.sightings)
    lines = [f"flow {first.flow}, packet {way.number}: {first.length} B, {first.summary}"]
    for one in way.sightings:
        since_us = (one.at_ns - first.at_ns) / _NS_PER_US
        lines.append(f"  {one.at_ns / _NS_PER_US:14.3f} us  +{since_us:10.3f} us  {one.place:{width}}  {_event(one)}")
    return lines


def listed(ways: Sequence[Way]) -> list[str]:
    """Return a line for each packet of a flow."""
    at_us = [way.first.at_ns / _NS_PER_US for way in ways]
    return [
        f"{way.number:6}  {at:14.3f} us  {way.first.length:5} B  {way.first.summary}{_end(way)}"
        for at, way in zip(at_us, ways, strict=True)
    ]


def _event(one: Sighting) -> str:
    direction = {_INBOUND: "received", _OUTBOUND: "sent"}.get(one.flags & 3, "")
    return "; ".join(part for part in (direction, one.comment) if part) or "arrived"


def _end(way: Way) -> str:
    lost = [one.comment for one in way.sightings if "dropped" in one.comment or "link" in one.comment]
    return f": {lost[-1]}" if lost else ""
