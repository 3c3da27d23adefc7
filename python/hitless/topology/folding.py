"""Equal nodes drawn as one box, until a network fits on a page.

Two nodes are only equal if the same mechanisms and faults are at their links.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeAlias, TypeVar

from hitless.topology.network import Network, Wire

_WIDEST, _WIDEST_OF_PARTS = 12, 18
"""Maximum boxes in a row before equal switches are folded; parts have rows of small boxes without hosts."""
_HOSTS_ALONE, _HOSTS_ALONE_AT_SWITCH = 16, 4
"""Maximum hosts, in the network and at a switch, that have a box each."""
_PARTS_DRAWN = 2
"""Equal parts of the network to draw; the others are one box."""

_NAMES_LONGEST = 30
"""Maximum length of the names in a box."""
_NUMBER = re.compile(r"(.*?)(\d+)")
_TWINS = "Switches with equal hosts that are linked to the same switches are one box."

Key: TypeAlias = Any
"""A hashable value that is equal for equal nodes."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """One or several equal nodes. A box only equals itself."""

    members: tuple[str, ...]
    is_host: bool = False
    title: str = ""
    """Name of a box with parts of the network; otherwise its members are its name."""

    @property
    def lines(self) -> tuple[str, ...]:
        """Text inside the box."""
        if self.title:
            return (self.title, names_of(self.members))
        if len(self.members) == 1:
            return self.members
        return (names_of(self.members), f"{len(self.members)} {'hosts' if self.is_host else 'switches'}")


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    ends: tuple[Box, Box]
    wires: tuple[Wire, ...]


@dataclass(slots=True)
class Folded:
    """The boxes and lines of a drawing."""

    network: Network
    rows: list[list[Box]]
    """Switches, the row next to the hosts first."""
    hosts: dict[Box, list[Box]]
    """Hosts of each box of switches."""
    lines: list[Line]
    notes: list[str] = field(default_factory=list)
    """Sentences about boxes with several nodes."""


@dataclass(frozen=True, slots=True)
class _More:
    """A box for parts that are not drawn, and all their switches."""

    box: Box
    switches: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Folding:
    """A choice of boxes, before the drawing."""

    classes: Sequence[Sequence[str]]
    """Switches that share a box."""
    notes: Sequence[str] = ()
    more: _More | None = None


def folded(network: Network) -> Folded:
    """Fold a network as little as fits."""
    graph = _Graph(network)
    ways = ((graph.whole, _WIDEST), (graph.twins, _WIDEST), (graph.parts, _WIDEST_OF_PARTS))
    for way, widest in ways:
        made = way()
        if graph.width(made) <= widest:
            return graph.drawn(made)
    return graph.drawn(graph.alike())


class _Graph:
    """The switches, and their hosts."""

    def __init__(self, network: Network) -> None:
        self._network = network
        switches = set(network.switches)
        self._at: dict[str, list[Wire]] = {name: [] for name in network.switches}
        self._hosts: dict[str, list[Wire]] = {name: [] for name in network.switches}
        # A host with several links has its box at the switch of the first.
        self._first: dict[str, Wire] = {}
        for wire in network.wires:
            for end in wire.ends:
                self._first.setdefault(end, wire)
                if end in switches:
                    (self._at if wire.other(end) in switches else self._hosts)[end].append(wire)

    def whole(self) -> _Folding:
        return _Folding([(name,) for name in self._network.switches])

    def twins(self) -> _Folding:
        """Fold switches with equal hosts that are linked to the same switches."""
        made = _classes(self._network.switches, lambda name: (self._own[name], self._links(name, lambda peer: peer)))
        return _Folding(made, [_TWINS])

    def parts(self) -> _Folding:
        """Fold twins, and draw two of each kind of equal parts below the top row."""
        top = max(self._tier.values(), default=0)
        parts = self._parts_below(top) if top else []
        kinds = _classes(parts, lambda part: tuple(sorted(self._colours[name] for name in part)))
        more = [part for kind in kinds if len(kind) > _PARTS_DRAWN + 1 for part in kind[_PARTS_DRAWN:]]
        if not more:
            return self.twins()
        left_out = frozenset(name for part in more for name in part)
        kept = [name for name in self._network.switches if name not in left_out]
        made = _classes(kept, lambda name: (self._own[name], self._links(name, lambda peer: peer)))
        title = f"{len(more)} more parts like these"
        box = Box(tuple(name for part in more for name in part if self._tier[name] == 0), title=title)
        notes = [_TWINS, f"{len(more)} of {len(parts)} parts of the network equal the drawn ones and are one box."]
        return _Folding(made, notes, _More(box, left_out))

    def alike(self) -> _Folding:
        """Fold all switches with equal surroundings."""
        classes = _classes(self._network.switches, self._colours.__getitem__)
        return _Folding(classes, ["Switches with equal links and equal neighbours are one box."])

    @cached_property
    def _tier(self) -> dict[str, int]:
        """Distance of each switch from a switch with hosts; switches in a row are all at 0."""
        if self._path:
            return dict.fromkeys(self._path, 0)
        found = {name: 0 for name, hosts in self._hosts.items() if hosts}
        waiting = deque(found)
        while waiting:
            name = waiting.popleft()
            for wire in self._at[name]:
                peer = wire.other(name)
                if peer not in found:
                    found[peer] = found[name] + 1
                    waiting.append(peer)
        return {name: found.get(name, 0) for name in self._network.switches}

    @cached_property
    def _path(self) -> list[str]:
        """The switches in order, if their links form a path; otherwise empty."""
        peers = {name: list(dict.fromkeys(wire.other(name) for wire in wires)) for name, wires in self._at.items()}
        ends = [name for name, others in peers.items() if len(others) == 1]
        if len(ends) != 2 or any(len(others) > 2 for others in peers.values()):
            return []
        found = [ends[0]]
        while len(found) < len(peers):
            following = [name for name in peers[found[-1]] if name not in found]
            if not following:
                return []
            found.append(following[0])
        return found

    @cached_property
    def _own(self) -> dict[str, Key]:
        """The tier, the marks and the hosts of each switch, without names."""
        network = self._network
        return {
            name: (self._tier[name], network.signs(name), tuple(sorted(self._wire_key(name, wire) for wire in wires)))
            for name, wires in self._hosts.items()
        }

    def _wire_key(self, switch: str, wire: Wire) -> Key:
        """Return the rate of a link and the marks of its two directions, without names."""
        signs = self._network.signs
        if not self._network.at:
            return wire.speed, "", ""
        return wire.speed, signs(wire.outward(switch)), signs(wire.outward(wire.other(switch)))

    def _links(self, name: str, of_peer: Callable[[str], Key]) -> Key:
        """Return the links of a switch to others, which ``of_peer`` describes."""
        return tuple(sorted((of_peer(peer), *key) for peer, key in self._peers[name]))

    @cached_property
    def _colours(self) -> dict[str, int]:
        """Numbers of the switches: equal for equal surroundings, at any distance (colour refinement)."""
        colours = _numbered(self._own)
        while True:
            finer = _numbered({name: (colours[name], self._links(name, colours.__getitem__)) for name in colours})
            # A step never joins two colours, so as many as before means the same ones.
            if len(set(finer.values())) == len(set(colours.values())):
                return colours
            colours = finer

    @cached_property
    def _peers(self) -> dict[str, list[tuple[str, Key]]]:
        """The switches next to each switch, with the keys of the links."""
        return {
            name: [(wire.other(name), self._wire_key(name, wire)) for wire in wires] for name, wires in self._at.items()
        }

    def _parts_below(self, top: int) -> list[tuple[str, ...]]:
        """Return the connected parts without the switches of the top row."""
        found: dict[str, int] = {}
        parts: list[list[str]] = []
        for first in self._network.switches:
            if first in found or self._tier[first] == top:
                continue
            found[first] = len(parts)
            part = [first]
            for name in part:
                for wire in self._at[name]:
                    peer = wire.other(name)
                    if peer not in found and self._tier[peer] != top:
                        found[peer] = len(parts)
                        part.append(peer)
            parts.append(part)
        return [tuple(part) for part in parts]

    def width(self, folding: _Folding) -> int:
        """Return the boxes in the longest row."""
        rows = Counter(self._tier[members[0]] for members in folding.classes)
        if folding.more is not None:
            rows[max(self._tier.values()) - 1] += 1
        return max(rows.values(), default=0)

    def drawn(self, folding: _Folding) -> Folded:
        classes, notes, more = folding.classes, [*folding.notes], folding.more
        boxes = {name: box for members in classes for box in [Box(tuple(members))] for name in members}
        drawn = sorted(dict.fromkeys(boxes.values()), key=lambda box: self._order[box.members[0]])
        if more is not None:
            drawn.append(more.box)
            boxes |= dict.fromkeys(more.switches, more.box)
        rows: list[list[Box]] = [[] for _ in range(max(self._tier.values(), default=0) + 1)]
        for box in drawn:
            rows[len(rows) - 2 if box.title else self._tier[box.members[0]]].append(box)
        hosts = {box: [] if box.title else list(self._host_boxes(box)) for box in drawn}
        boxes |= {name: one for found in hosts.values() for one in found for name in one.members}
        lines: dict[frozenset[Box], list[Wire]] = {}
        for wire in self._network.wires:
            ends = frozenset(boxes[end] for end in wire.ends if end in boxes)
            if len(ends) == 2:
                lines.setdefault(ends, []).append(wire)
        made = [Line((boxes[wires[0].ends[0]], boxes[wires[0].ends[1]]), tuple(wires)) for wires in lines.values()]
        if any(len(one.members) > 1 for found in hosts.values() for one in found):
            notes = ["Equal hosts of a switch are one box.", *notes]
        if not any(len(box.members) > 1 and not box.title for box in drawn):
            notes = [note for note in notes if note != _TWINS]
        return Folded(self._network, rows, hosts, made, notes)

    @cached_property
    def _order(self) -> dict[str, int]:
        """Places of switches in their rows: along a path, or in the order of the scenario."""
        return {name: number for number, name in enumerate(self._path or self._network.switches)}

    def _host_boxes(self, box: Box) -> Iterator[Box]:
        """Yield boxes of hosts: single ones in a small network, otherwise equal ones together."""
        wires = [(name, wire) for name in box.members for wire in self._hosts[name]]
        wires = [(name, wire) for name, wire in wires if self._first[wire.other(name)] is wire]
        are_few = len(self._network.hosts) <= _HOSTS_ALONE and len(wires) <= _HOSTS_ALONE_AT_SWITCH
        kinds = [[pair] for pair in wires] if are_few else _classes(wires, lambda pair: self._wire_key(*pair))
        for kind in kinds:
            yield Box(tuple(wire.other(name) for name, wire in kind), is_host=True)


def _classes(items: Iterable[Item], key: Callable[[Item], Key]) -> list[list[Item]]:
    """Return the items of equal keys together."""
    found: dict[Key, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return list(found.values())


def _numbered(keys: Mapping[str, Key]) -> dict[str, int]:
    """Replace equal keys by equal numbers."""
    numbers: dict[Key, int] = {}
    return {name: numbers.setdefault(key, len(numbers)) for name, key in keys.items()}


def names_of(members: Iterable[str]) -> str:
    """Name several nodes: "h0 .. h15", "a, b", "a, b and 7 more"."""
    return _names_of(tuple(members))


@lru_cache(maxsize=256)
def _names_of(members: tuple[str, ...]) -> str:
    runs: list[list[str]] = []
    for name in members:
        if runs and _follows(runs[-1][-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    told = [f"{run[0]} .. {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs]
    if len(", ".join(told)) <= _NAMES_LONGEST:
        return ", ".join(told)
    return f"{told[0]} and {len(members) - len(runs[0])} more"


def _follows(before: str, name: str) -> bool:
    one, other = (_NUMBER.fullmatch(text) for text in (before, name))
    return bool(one and other and one[1] == other[1] and int(one[2]) + 1 == int(other[2]))
