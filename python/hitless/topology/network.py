"""The network of a scenario: hosts, switches, links, and the marks of mechanisms and faults on them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hitless.checking import fabric_of
from hitless.outcome.losses import directions_of
from hitless.outcome.scenario import scenario_of
from hitless.prototype.kinds import places_field

_NAMED = 3
"""Maximum places of a mark in its description."""


@dataclass(frozen=True, slots=True)
class Wire:
    """A link in both directions."""

    ends: tuple[str, str]
    names: tuple[str, str]
    """Names of the directions that begin at the first and at the second end."""
    rate: str
    delay: str

    @property
    def speed(self) -> str:
        """Rate and delay."""
        return f"{self.rate}, {self.delay}"

    def other(self, node: str) -> str:
        return self.ends[1] if node == self.ends[0] else self.ends[0]

    def outward(self, node: str) -> str:
        """Return the name of the direction that begins at a node."""
        return self.names[0] if node == self.ends[0] else self.names[1]


@dataclass(frozen=True, slots=True)
class Mark:
    """A mechanism or a fault, with the sign that marks its places."""

    sign: str
    """A number for a mechanism, a letter for a fault."""
    is_fault: bool
    words: str


@dataclass(slots=True)
class Network:
    name: str
    hosts: Sequence[str]
    switches: Sequence[str]
    wires: Sequence[Wire]
    marks: list[Mark] = field(default_factory=list)
    at: dict[str, list[Mark]] = field(default_factory=dict)
    """Marks by their place: a switch, or a direction of a link."""

    def mark(self, words: str, places: Sequence[str], *, is_fault: bool) -> None:
        """Add a mark to switches and directions of links."""
        count = sum(mark.is_fault == is_fault for mark in self.marks)
        mark = Mark(_letters(count) if is_fault else str(count + 1), is_fault, words)
        self.marks.append(mark)
        for place in dict.fromkeys(one for name in places for one in directions_of(name)):
            self.at.setdefault(place, []).append(mark)

    def signs(self, place: str) -> str:
        """Return the signs of the marks at a place."""
        return " ".join(mark.sign for mark in self.at.get(place, ()))


def network_of(effective: str) -> Network:
    """Return the network of an effective scenario."""
    scenario = scenario_of(effective)
    fabric = fabric_of(scenario)
    switches = set(fabric["switches"])
    wires = list(_wires(scenario["topology"], fabric["links"], switches))
    network = Network(str(scenario.get("name", "")), fabric["hosts"], fabric["switches"], wires)
    for entry in scenario.get("mechanism", []):
        places = _places(entry)
        where = f"on {_listed(places)}" if places else "on all ports of all switches"
        mode = f" ({entry['mode']})" if isinstance(entry.get("mode"), str) else ""
        network.mark(f"{entry['kind']} {where}{mode}", places or list(network.switches), is_fault=False)
    faults: dict[str, list[str]] = {}
    for place, words in _faults(scenario):
        faults.setdefault(words, []).append(place)
    for words, places in faults.items():
        network.mark(f"{_listed(places)}: {words}", places, is_fault=True)
    return network


def _wires(topology: Mapping[str, Any], links: Sequence[Mapping[str, Any]], switches: set[str]) -> Iterator[Wire]:
    """Yield the links; the links of a graph are in the order of its list."""
    between = ("core_link", "bottleneck", "switch_link")
    core: Mapping[str, Any] = next((topology[name] for name in between if name in topology), {})
    for number, link in enumerate(links):
        a, b = link["ends"]
        is_core = {a, b} <= switches
        fields = topology["links"][number] if "links" in topology else core if is_core else topology["host_link"]
        rate = str(fields["rate"]).replace("bps", "b/s")
        yield Wire((a, b), (link["name"], link["reverse"]), rate, str(fields["delay"]))


def _places(entry: Mapping[str, Any]) -> list[str]:
    """Return the switches and links of a mechanism; empty if it runs at all ports of all switches."""
    for name in (places_field(entry["kind"]), "link", "links", "switches", "switch", "ports"):
        found = entry.get(name) if name is not None else None
        found = [found] if isinstance(found, str) else found
        if isinstance(found, list) and found and all(isinstance(place, str) for place in found):
            return found
    return []


def _faults(scenario: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each link with losses or outages, and what happens to it."""
    for link in scenario.get("link", []):
        if shape := _shape(link):
            yield link["name"], shape
        for change in link.get("changes", []):
            if shape := _shape(change):
                yield link["name"], f"{shape} from {change['at']}"
        changes = [change for change in link.get("changes", []) if change.get("loss", {}).get("kind", "none") != "none"]
        loss = link.get("loss", {})
        if loss.get("kind", "none") != "none":
            yield link["name"], f"frames lost, {_loss(loss)}"
        for change in changes:
            yield link["name"], f"frames lost from {change['at']}, {_loss(change['loss'])}"
        if link.get("schedule"):
            times = (f"{change['state']} at {change['at']}" for change in link["schedule"])
            yield link["name"], ", ".join(times)
    for failure in scenario.get("failure", []):
        told = [f"fails at {failure['first']}"]
        told += [f"{name} {failure[name]}" for name in ("every", "outage") if failure.get(name)]
        yield failure["link"], ", ".join(told)


def _shape(fields: Mapping[str, Any]) -> str:
    """Return the rate and the delay that an entry gives to a link, as words."""
    return ", ".join(f"{name} {fields[name]}" for name in ("rate", "delay") if name in fields)


def _loss(loss: Mapping[str, Any]) -> str:
    fields = (f"{name.replace('_', ' ')} {value:g}" for name, value in loss.items() if isinstance(value, int | float))
    return ", ".join([str(loss["kind"]), *fields])


def _listed(places: Sequence[str]) -> str:
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED + 1 else ""
    return ", ".join(places[:_NAMED] if more else places) + more


def _letters(number: int) -> str:
    """Return A, B, ... Z, AA, AB, ..."""
    return (_letters(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)
