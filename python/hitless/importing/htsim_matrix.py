"""htsim's connection matrices: `.cm` and `.tm` files.

Syntax and meaning follow `ConnectionMatrix` and `Trigger` of Ultra Ethernet's htsim (uet-htsim, revision 40ccb052).
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from hitless.errors import BadInput
from hitless.importing.htsim_topology import NODES_MAX, Tiers, counts_of
from hitless.importing.lines import Line, lines_of, shown
from hitless.importing.model import Flow
from hitless.importing.report import Report, counted

StartUnit = Literal["us", "ps"]
"""Unit of start times: htsim_uec and htsim_swift read microseconds, other programs of htsim picoseconds."""

_HEADER = ("Nodes", "Connections", "Triggers", "Failures")
_COUNT_MAX = 100_000_000
_SWITCH_TYPES = ("TOR", "AGG", "CORE")
_UNITS_NS = {"us": Decimal(1000), "ps": Decimal("0.001")}
_CONNECTION = (
    "src->dst [id N] [msg [N]] start TIME | trigger ID, size BYTES, [send_done_trigger ID] [recv_done_trigger ID]"
)


@dataclass(frozen=True)
class Connection:
    """A line `src->dst ...`."""

    line: Line
    source: int
    destination: int
    size_bytes: int
    start_ns: int
    words: dict[str, int]
    """Values of id, trigger, send_done_trigger, recv_done_trigger, prio."""
    is_message: bool = False


@dataclass(frozen=True)
class Trigger:
    """A line `trigger id ...`."""

    line: Line
    kind: str
    count: int


@dataclass
class Matrix:
    file: str
    start_unit: StartUnit = "us"
    header: dict[str, int] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)
    triggers: dict[int, Trigger] = field(default_factory=dict)
    failures: dict[tuple[int, int], Line] = field(default_factory=dict)
    """By number of an AGG switch and of its uplink."""

    @property
    def nodes(self) -> int:
        """Number of hosts."""
        return self.header["Nodes"]


def read_matrix(text: str, file: str, start_unit: StartUnit = "us") -> Matrix:
    found = Matrix(file, start_unit)
    for line in lines_of(text, file):
        first = line.words[0]
        if first in _HEADER:
            if first in found.header or found.connections:
                raise line.refused(f"{first} is not expected here", f"{', '.join(_HEADER)}: each once, at the start")
            found.header[first] = _count(line)
        elif "Nodes" not in found.header:
            raise line.refused(f"{shown(first)} comes before Nodes", "the file begins with Nodes and Connections")
        elif "->" in first:
            found.connections.append(_connection(line, found.nodes, _UNITS_NS[start_unit]))
        elif first == "trigger":
            _add_trigger(found, line)
        elif first == "failure":
            _add_failure(found, line)
        else:
            rule = f"a line begins with {', '.join(_HEADER)}, src->dst, trigger or failure"
            raise line.refused(f"{shown(first)} is not understood", rule)
    _check_counts(found)
    return found


def _count(line: Line) -> int:
    if len(line.words) != 2:
        raise line.refused(f"{shown(' '.join(line.words))} is not understood", f"{line.words[0]} and one number")
    is_nodes = line.words[0] == "Nodes"
    return line.whole(line.words[1], line.words[0], 2 if is_nodes else 0, NODES_MAX if is_nodes else _COUNT_MAX)


def _check_counts(found: Matrix) -> None:
    for name, count in zip(_HEADER[1:], map(len, (found.connections, found.triggers, found.failures)), strict=True):
        if (stated := found.header.get(name, 0)) != count:
            what = f"{name} is {stated}, and the file has {count}"
            raise BadInput(what, where=found.file, rule=f"{name} is the number of these lines", hint=f"{name} {count}")
    if "Nodes" not in found.header or not found.connections:
        raise BadInput("the file has no connection", where=found.file, rule=f"Nodes, Connections, then {_CONNECTION}")


def _connection(line: Line, nodes: int, unit_ns: Decimal) -> Connection:
    source_text, _, destination_text = line.words[0].partition("->")
    source = line.whole(source_text, "the source", 0, nodes - 1)
    destination = line.whole(destination_text, "the destination", 0, nodes - 1)
    if source == destination:
        raise line.refused(f"host {source} sends to itself", "source and destination differ")
    values, is_message = _values(line, unit_ns)
    if "size" not in values:
        hint = "htsim sends without end if there is no size; a list of flows needs one"
        raise line.refused("the connection has no size", _CONNECTION, hint)
    if ("start" in values) == ("trigger" in values):
        raise line.refused("the connection needs either a start or a trigger", _CONNECTION)
    if is_message and "id" not in values:
        raise line.refused("msg without an id", "messages of one connection have the same id")
    size, start = values.pop("size"), values.pop("start", 0)
    return Connection(line, source, destination, size, start, values, is_message)


def _values(line: Line, unit_ns: Decimal) -> tuple[dict[str, int], bool]:
    values: dict[str, int] = {}
    is_message = False
    words = iter(line.words[1:])
    for name, value in _pairs(line, words):
        if name == "msg":
            is_message = True
        elif name in values:
            raise line.refused(f"{name} is given twice", _CONNECTION)
        elif name == "start":
            values[name] = int((line.number_of(value, "the start", 10**15) * unit_ns).to_integral_value())
        elif name in {"size", "id", "trigger", "send_done_trigger", "recv_done_trigger"}:
            values[name] = line.whole(value, name, 1)
        elif name == "prio":
            values[name] = line.whole(value, name)
        else:
            raise line.refused(f"{shown(name)} is not understood", _CONNECTION)
    return values, is_message


def _pairs(line: Line, words: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Return names with their values; the number behind ``msg`` can be left out."""
    pending = next(words, None)
    while pending is not None:
        name, value = pending, next(words, None)
        if name == "msg" and (value is None or not value.isdecimal()):
            pending = value
            yield name, ""
            continue
        if value is None:
            raise line.refused(f"{shown(name)} has no value", _CONNECTION)
        yield name, value
        pending = next(words, None)


def _add_trigger(found: Matrix, line: Line) -> None:
    rule = "trigger id ID oneshot | multishot | barrier [count N]"
    words = line.words[1:]
    kinds = [word for word in words if word in {"oneshot", "multishot", "barrier"}]
    rest = [word for word in words if word not in kinds]
    values = dict(zip(rest[::2], rest[1::2], strict=False))
    if len(kinds) != 1 or len(rest) != 2 * len(values) or not {"id"} <= values.keys() <= {"id", "count"}:
        raise line.refused(f"{shown(' '.join(line.words))} is not understood", rule)
    number = line.whole(values["id"], "the trigger's id", 1)
    if number in found.triggers:
        raise line.refused(f"trigger {number} is declared twice", "each trigger once")
    count = line.whole(values.get("count", "0"), "count")
    if (kinds[0] == "barrier") != (count > 0):
        raise line.refused(f"trigger {number} is {kinds[0]} with count {count}", f"a barrier needs a count: {rule}")
    found.triggers[number] = Trigger(line, kinds[0], count)


def _add_failure(found: Matrix, line: Line) -> None:
    rule = "failure switch_type AGG switch_id N link_id N"
    values = dict(zip(line.words[1::2], line.words[2::2], strict=False))
    if len(line.words) != 7 or values.keys() != {"switch_type", "switch_id", "link_id"}:
        raise line.refused(f"{shown(' '.join(line.words))} is not understood", rule)
    if values["switch_type"] != "AGG":
        hint = "htsim only removes links between AGG and CORE"
        raise line.refused(f"switch_type is {shown(values['switch_type'])}", rule, hint)
    place = line.whole(values["switch_id"], "switch_id"), line.whole(values["link_id"], "link_id")
    if place in found.failures:
        raise line.refused("this link has failed already", "each link once")
    found.failures[place] = line


def failed_links(matrix: Matrix, tiers: Tiers) -> set[tuple[int, int]]:
    """Return the failed uplinks, which the fabric must have. Raises `BadInput`."""
    counts = counts_of(tiers)
    for (switch, uplink), line in matrix.failures.items():
        if not counts.cores:
            raise line.refused("the fabric has no links between AGG and CORE", "failures need three tiers")
        switches = counts.pods * counts.aggs_per_pod
        uplinks = tiers.tiers[1]["radix_up"] // tiers.tiers[2].get("bundle", 1)
        if switch >= switches or uplink >= uplinks:
            rule = f"{switches} switches AGG with {uplinks} uplinks each, counted from 0"
            raise line.refused(f"there is no link_id {uplink} of switch_id {switch}", rule)
    return set(matrix.failures)


def flows_of(matrix: Matrix, report: Report) -> list[Flow]:
    """Convert connections into flows, with triggers as dependencies. Raises `BadInput`."""
    connections = _merged(matrix, report)
    waits = _Triggers(matrix, connections, report)
    flows = []
    for position, connection in enumerate(connections):
        flow = Flow(connection.source, connection.destination, connection.size_bytes, connection.start_ns)
        if "trigger" in connection.words:
            after, needed = waits.of(connection, position)
            flow = replace(flow, after=after, needed=needed)
        flows.append(flow)
    report.mapped.append(f"{matrix.file}: {counted(len(flows), 'connection')} as flows")
    if matrix.failures:
        report.mapped.append(f"{matrix.file}: {counted(len(matrix.failures), 'failed link')} left out of the graph")
    if prios := sum("prio" in connection.words for connection in connections):
        report.not_mapped.append(f"{matrix.file}: prio of {prios} connections (htsim_uec ignores it too)")
    if any(connection.start_ns for connection in connections):
        programs = "htsim_uec and htsim_swift, without its fraction" if matrix.start_unit == "us" else "htsim_ndp"
        report.assumed.append(f"{matrix.file}: starts are in {matrix.start_unit}, as in {programs} (--start-unit)")
    return flows


def _merged(matrix: Matrix, report: Report) -> list[Connection]:
    """Join the messages of a connection that are ready together: they leave one after the other, as one flow."""
    kept: list[Connection] = []
    first: dict[int, int] = {}
    joined = 0
    apart = []
    for connection in matrix.connections:
        number = connection.words.get("id")
        place = first.get(number) if number is not None else None
        if number is None or place is None:
            if number is not None:
                first[number] = len(kept)
            kept.append(connection)
            continue
        head = kept[place]
        if not connection.is_message:
            raise connection.line.refused(f"id {number} is used twice", "each id once, except for messages (msg)")
        if (head.source, head.destination) != (connection.source, connection.destination):
            raise connection.line.refused(
                f"id {number} has other hosts than in line {head.line.number}", "one connection"
            )
        if head.start_ns == connection.start_ns and head.words == connection.words == {"id": number}:
            kept[place] = replace(head, size_bytes=head.size_bytes + connection.size_bytes)
            joined += 1
        else:
            apart.append(number)
            kept.append(connection)
    if joined:
        report.assumed.append(
            f"{matrix.file}: {joined + 1} messages that start together on one connection are one flow with their "
            "total size, so their single completion times are not recorded"
        )
    if apart:
        report.not_mapped.append(
            f"{matrix.file}: reuse of a connection by {len(apart)} later messages, which open their own"
        )
    return kept


class _Triggers:
    """Flows that fire each trigger, and the turns of those that it starts."""

    def __init__(self, matrix: Matrix, connections: list[Connection], report: Report) -> None:
        self._matrix = matrix
        self._fired_by: dict[int, list[int]] = defaultdict(list)
        self._turn: dict[int, int] = {}
        targets: dict[int, int] = defaultdict(int)
        received = 0
        for position, connection in enumerate(connections):
            for name in ("send_done_trigger", "recv_done_trigger"):
                if (number := connection.words.get(name)) is not None:
                    self._declared(number, connection.line)
                    self._fired_by[number].append(position)
                    received += name == "recv_done_trigger"
            if (number := connection.words.get("trigger")) is not None:
                self._turn[position] = targets[number] = targets[number] + 1
        if targets:
            triggers, flows = counted(len(targets), "trigger"), counted(len(self._turn), "flow")
            report.mapped.append(f"{matrix.file}: {triggers} as dependencies of {flows}")
        if idle := matrix.triggers.keys() - targets.keys():
            report.not_mapped.append(f"{matrix.file}: {len(idle)} triggers that start no connection")
        if received:
            report.assumed.append(
                f"{matrix.file}: {received} recv_done_trigger fire when the sender knows that all has arrived, half a "
                "round trip after the receiver"
            )

    def _declared(self, number: int, line: Line) -> Trigger:
        if (found := self._matrix.triggers.get(number)) is None:
            raise line.refused(
                f"trigger {number} is not declared", "trigger id ID oneshot | multishot | barrier count N"
            )
        return found

    def of(self, connection: Connection, position: int) -> tuple[tuple[int, ...], int]:
        """Return the flows that a triggered flow waits for, and the number of them that must end."""
        number = connection.words["trigger"]
        trigger = self._declared(number, connection.line)
        fired_by = tuple(dict.fromkeys(self._fired_by[number]))
        refused = trigger.line.refused
        if not fired_by or fired_by == (position,):
            raise refused(
                f"no other connection fires trigger {number}", "a send_done_trigger or recv_done_trigger fires it"
            )
        if trigger.kind == "oneshot" and len(fired_by) > 1:
            hint = f"trigger id {number} barrier count {len(fired_by)}"
            raise refused(f"{len(fired_by)} connections fire trigger {number}", "a oneshot fires once", hint)
        if trigger.kind == "barrier" and len(fired_by) != trigger.count:
            rule = f"a barrier is fired as often as its count: {len(fired_by)}"
            raise refused(f"trigger {number} has count {trigger.count}", rule)
        turn = self._turn[position] if trigger.kind == "multishot" else len(fired_by)
        if turn > len(fired_by):
            rule = f"a multishot starts one connection each time, and {len(fired_by)} connections fire it"
            raise connection.line.refused(f"the connection is number {turn} of trigger {number}", rule)
        return fired_by, turn
