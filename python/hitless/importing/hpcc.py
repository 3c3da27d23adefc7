"""HPCC's `topology.txt` and `flow.txt`, and SimAI's variant of the former.

The ns-3 programs of HPCC (SIGCOMM 2019) and SimAI read these formats; written from their description.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from hitless.errors import BadInput
from hitless.importing.lines import Line, first_line, lines_of, shown
from hitless.importing.model import Flow, Link, Network, longest_path
from hitless.importing.report import Report, counted, listed

NODES_MAX = 1_000_000
_LINKS_MAX = 10_000_000
_HPCC_FIRST = "nodes switches links"
_SIMAI_FIRST = "nodes gpus_per_server nvswitches switches links gpu_type"
_LINK = "source destination rate delay error_rate"
_FLOW = "source destination priority port bytes start_s"


@dataclass(frozen=True)
class Counts:
    """The first line of a topology."""

    nodes: int
    switches: int
    links: int
    nvswitches: int = 0
    gpus_per_server: int = 0


@dataclass(frozen=True)
class Wire:
    line: Line
    ends: tuple[int, int]
    rate_bps: int
    delay_ps: int
    loss: Decimal


@dataclass(frozen=True)
class Graph:
    file: str
    counts: Counts
    switches: frozenset[int]
    """Switches of the network and NVSwitches."""
    wires: list[Wire]

    @property
    def hosts(self) -> list[int]:
        """Numbers of all nodes except switches."""
        return [node for node in range(self.counts.nodes) if node not in self.switches]


def read_graph(text: str, file: str) -> Graph:
    lines = lines_of(text, file)
    counts = _read_counts(first_line(lines, file, f"first line: {_HPCC_FIRST}, or SimAI's: {_SIMAI_FIRST}"))
    expected = counts.switches + counts.nvswitches
    switches = _read_switches(lines, file, counts.nodes, expected) if expected else frozenset()
    wires = [_wire(line, counts.nodes) for line in lines]
    if len(wires) != counts.links:
        what = f"the first line announces {counts.links} links, and the file has {len(wires)}"
        raise BadInput(what, where=file, rule=f"one line for each link: {_LINK}")
    return Graph(file, counts, switches, wires)


def _read_counts(line: Line) -> Counts:
    words = line.words
    if len(words) not in {3, 6}:
        rule = f"first line: {_HPCC_FIRST}, or SimAI's: {_SIMAI_FIRST}"
        raise line.refused(f"{shown(' '.join(words))} is not understood", rule)
    nodes = line.whole(words[0], "the number of nodes", 2, NODES_MAX)
    switches = line.whole(words[-3] if len(words) == 6 else words[1], "the number of switches", 0, nodes)
    links = line.whole(words[-2] if len(words) == 6 else words[2], "the number of links", 1, _LINKS_MAX)
    if len(words) == 3:
        return Counts(nodes, switches, links)
    nvswitches = line.whole(words[2], "the number of NVSwitches", 0, nodes - switches)
    return Counts(nodes, switches, links, nvswitches, line.whole(words[1], "GPUs per server", 1, nodes))


def _read_switches(lines: Iterator[Line], file: str, nodes: int, expected: int) -> frozenset[int]:
    rule = f"second line: the numbers of the {expected} switches"
    line = first_line(lines, file, rule)
    found = [line.whole(word, "a switch", 0, nodes - 1) for word in line.words]
    if len(set(found)) != expected or len(found) != expected:
        raise line.refused(f"{len(set(found))} different switches are named", rule)
    return frozenset(found)


def _wire(line: Line, nodes: int) -> Wire:
    if len(line.words) != 5:
        raise line.refused(f"{shown(' '.join(line.words))} is not a link", _LINK)
    source, destination, rate, delay, loss = line.words
    ends = line.whole(source, "the first node", 0, nodes - 1), line.whole(destination, "the second node", 0, nodes - 1)
    if ends[0] == ends[1]:
        raise line.refused(f"node {ends[0]} has a link to itself", "the ends of a link differ")
    error_rate = line.number_of(loss, "error_rate", 1)
    return Wire(line, ends, line.rate_bps(rate, "the rate"), line.duration_ps(delay, "the delay"), error_rate)


def network_of(graph: Graph, report: Report) -> Network:
    """Convert a topology into a network of hosts "h0", ... and switches "s0", ..., numbered as in the file.

    Raises `BadInput`.
    """
    nvswitches = _nvswitches(graph)
    if len(graph.hosts) < 2:
        rule = "at least two nodes are no switches"
        raise BadInput(f"the topology has {counted(len(graph.hosts), 'host')}", where=graph.file, rule=rule)
    names = {node: f"{'s' if node in graph.switches else 'h'}{node}" for node in range(graph.counts.nodes)}
    wires = [wire for wire in graph.wires if not nvswitches.intersection(wire.ends)]
    _report_nvlink(graph, len(graph.wires) - len(wires), report)
    _check_host_links(graph, wires, report)
    fabrics = _fabrics(graph, wires)
    _check_paths(graph, fabrics, names)
    reached = {node for fabric in fabrics if not fabric <= graph.switches for node in fabric}
    if idle := [names[node] for node in sorted(graph.switches - nvswitches - reached)]:
        report.not_mapped.append(f"{graph.file}: {counted(len(idle), 'switch')} that no host reaches: {listed(idle)}")
    wires = [wire for wire in wires if wire.ends[0] in reached]
    links = [Link((names[a], names[b]), w.rate_bps, w.delay_ps, w.loss) for w in wires for a, b in [w.ends]]
    hosts = [names[node] for node in graph.hosts]
    switches = [names[node] for node in sorted(graph.switches & reached)]
    told = f"{counted(len(hosts), 'host')}, {counted(len(switches), 'switch')} and {counted(len(links), 'link')}"
    report.mapped.append(f"{graph.file}: {told} as a graph")
    lossy = sum(link.loss > 0 for link in links)
    if lossy:
        report.mapped.append(
            f"{graph.file}: error_rate of {counted(lossy, 'link')} as loss of frames in both directions"
        )
    return Network(hosts, switches, links, longest_path(hosts, links))


def _fabrics(graph: Graph, wires: list[Wire]) -> list[set[int]]:
    """Return the switches that links between switches join, with their hosts; hosts do not forward."""
    neighbours: dict[int, list[int]] = defaultdict(list)
    for wire in wires:
        first, second = wire.ends
        neighbours[first].append(second)
        neighbours[second].append(first)
    left, found = {node for node in neighbours if node in graph.switches}, []
    while left:
        start = min(left)
        reached, turn = {start}, [start]
        while turn:
            turn = list({other for node in turn for other in neighbours[node]} - reached)
            reached.update(turn)
            turn = [node for node in turn if node in graph.switches]
        left -= reached
        found.append(reached)
    return found


def _check_paths(graph: Graph, fabrics: list[set[int]], names: dict[int, str]) -> None:
    """Require that every two hosts share a fabric. Raises `BadInput`."""
    of_host = {host: frozenset(n for n, fabric in enumerate(fabrics) if host in fabric) for host in graph.hosts}
    first = {one: host for host, one in reversed(of_host.items())}
    for one, host in sorted(first.items(), key=lambda each: each[1]):
        if apart := [names[other] for other in graph.hosts if not one & of_host[other]]:
            rule = "paths lead from every host to every other, and hosts do not forward"
            raise BadInput(f"no path leads from {names[host]} to {listed(apart)}", where=graph.file, rule=rule)


def _nvswitches(graph: Graph) -> frozenset[int]:
    """Return the NVSwitches, numbered directly after the GPUs in SimAI's files; empty without another switch."""
    if not graph.counts.switches:
        return frozenset()
    gpus = graph.counts.nodes - graph.counts.nvswitches - graph.counts.switches
    return frozenset(range(gpus, gpus + graph.counts.nvswitches)) & graph.switches


def _report_nvlink(graph: Graph, links: int, report: Report) -> None:
    if links:
        report.not_mapped.append(
            f"{graph.file}: {graph.counts.nvswitches} NVSwitches with {links} links: a host is one GPU with its "
            f"card, so the {graph.counts.gpus_per_server} GPUs of a server also communicate over the network"
        )


def _check_host_links(graph: Graph, wires: list[Wire], report: Report) -> None:
    """Require that every host has links, to switches only. Raises `BadInput`."""
    links_of: Counter[int] = Counter()
    for wire in wires:
        hosts = [node for node in wire.ends if node not in graph.switches]
        if len(hosts) == 2:
            rule = "a link of a host leads to a switch"
            raise wire.line.refused(f"the hosts {hosts[0]} and {hosts[1]} are connected directly", rule)
        links_of.update(hosts)
    for host in graph.hosts:
        if not links_of[host]:
            raise BadInput(f"host {host} has no link", where=graph.file, rule="every host has a link to a switch")
    if several := sum(links > 1 for links in links_of.values()):
        report.mapped.append(
            f"{graph.file}: {counted(several, 'host')} with up to {max(links_of.values())} links, as ports of a card"
        )


def read_flows(text: str, file: str, graph: Graph, report: Report) -> list[Flow]:
    """Parse a list of flows between nodes of ``graph``. Raises `BadInput`."""
    lines = lines_of(text, file)
    first = first_line(lines, file, f"first line: the number of flows; then {_FLOW}")
    if len(first.words) != 1:
        raise first.refused(f"{shown(' '.join(first.words))} is not understood", "first line: the number of flows")
    count = first.whole(first.words[0], "the number of flows", 1, 100_000_000)
    numbers = {node: number for number, node in enumerate(graph.hosts)}
    classes: set[str] = set()
    flows = [_flow(line, numbers, classes) for line in lines]
    if len(flows) != count:
        what = f"the first line announces {count} flows, and the file has {len(flows)}"
        raise BadInput(what, where=file, rule=f"one line for each flow: {_FLOW}")
    report.mapped.append(f"{file}: {counted(count, 'flow')}")
    if len(classes) > 1:
        report.not_mapped.append(f"{file}: priorities {listed(sorted(classes))} of flows; all share one queue")
    report.not_mapped.append(f"{file}: destination ports; paths depend on a hash of the flow's own 5-tuple")
    return flows


def _flow(line: Line, numbers: dict[int, int], classes: set[str]) -> Flow:
    if len(line.words) != 6:
        raise line.refused(f"{shown(' '.join(line.words))} is not a flow", _FLOW)
    source, destination = (_host(line, word, numbers) for word in line.words[:2])
    if source == destination:
        raise line.refused(f"host {line.words[0]} sends to itself", "source and destination differ")
    line.whole(line.words[2], "the priority", 0, 7)
    line.whole(line.words[3], "the port", 0, 65_535)
    classes.add(line.words[2])
    start_ns = int((line.number_of(line.words[5], "the start in seconds", 10**6) * 10**9).to_integral_value())
    return Flow(source, destination, line.whole(line.words[4], "the size in bytes", 1), start_ns)


def _host(line: Line, word: str, numbers: dict[int, int]) -> int:
    node = line.whole(word, "a host")
    if node not in numbers:
        raise line.refused(f"node {node} is no host of the topology", "flows are between hosts")
    return numbers[node]
