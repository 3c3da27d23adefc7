"""htsim's `.topo` files: fat trees and leaf-spines by tiers.

Syntax and meaning follow `FatTreeTopologyCfg` of Ultra Ethernet's htsim (uet-htsim, revision 40ccb052).
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

from hitless.errors import BadInput
from hitless.importing.lines import Line, first_line, lines_of, shown
from hitless.importing.model import Link, Network, Shape, chain, names_of
from hitless.importing.report import Report

NODES_MAX = 1_000_000
_PORTS_MAX = 65_536
_HEADER = ("nodes", "tiers", "podsize")
_TIER = {
    "downlink_speed_gbps": 1_000_000,
    "radix_down": _PORTS_MAX,
    "radix_up": _PORTS_MAX,
    "downlink_latency_ns": 10**9,
    "switch_latency_ns": 10**9,
    "oversubscribed": _PORTS_MAX,
    "bundle": _PORTS_MAX,
    "queue_up": 10**12,
    "queue_down": 10**12,
}
_MAY_BE_ZERO = {"downlink_latency_ns", "switch_latency_ns"}
_LEVELS = ("tor", "agg", "core")


@dataclass(frozen=True)
class Tiers:
    """The contents of a `.topo` file."""

    file: str
    nodes: int
    pod_hosts: int
    tiers: list[dict[str, int]]
    """Values by field in lower case."""
    places: list[dict[str, Line]]
    """The line of each of these fields."""

    def refused(self, tier: int, name: str, what: str, rule: str, hint: str = "") -> BadInput:
        """Return an error about a field of a tier."""
        line = self.places[tier].get(name) or self.places[tier]["tier"]
        return line.refused(what, rule, hint)


def read_tiers(text: str, file: str) -> Tiers:
    lines = lines_of(text, file)
    header, first_tier = _read_header(lines, file)
    count = header["tiers"]
    tiers: list[dict[str, int]] = [{} for _ in range(count)]
    places: list[dict[str, Line]] = [{} for _ in range(count)]
    line: Line | None = first_tier
    tier = 0
    while line is not None:
        name, value = _pair(line)
        if name == "tier":
            tier = line.whole(value, "the tier", 0, count - 1)
        elif name not in _TIER:
            raise line.refused(f"{shown(line.words[0])} is no field of a tier", f"one of {', '.join(_TIER)}")
        else:
            tiers[tier][name] = line.whole(value, name, 0 if name in _MAY_BE_ZERO else 1, _TIER[name])
        if name in places[tier]:
            raise line.refused(f"{line.words[0]} is given twice for tier {tier}", "each field once in a tier")
        places[tier][name] = line
        line = next(lines, None)
    found = Tiers(file, header["nodes"], header["podsize"], tiers, places)
    _check_complete(found)
    return found


def _pair(line: Line) -> tuple[str, str]:
    if len(line.words) != 2:
        raise line.refused(f"{shown(' '.join(line.words))} is not understood", "a line has a field and one number")
    return line.words[0].lower(), line.words[1]


def _read_header(lines: Iterator[Line], file: str) -> tuple[dict[str, int], Line]:
    """Parse the lines before the first tier; return them by name, and the line of the first tier."""
    header: dict[str, int] = {}
    rule = "Nodes, Tiers and Podsize, then the fields of each tier"
    while True:
        line = first_line(lines, file, rule)
        name, value = _pair(line)
        if name == "tier":
            break
        if name not in _HEADER or name in header:
            raise line.refused(
                f"{shown(line.words[0])} is not expected here", f"before the first tier: {rule}, each once"
            )
        header[name] = line.whole(value, name, 2, 3 if name == "tiers" else NODES_MAX)
    if missing := [name for name in _HEADER if name not in header]:
        raise line.refused(f"{' and '.join(missing)} missing before the first tier", rule)
    return header, line


def _check_complete(found: Tiers) -> None:
    top = len(found.tiers) - 1
    for tier, fields in enumerate(found.tiers):
        if "tier" not in found.places[tier]:
            raise BadInput(
                f"tier {tier} is missing", where=found.file, rule=f"Tiers is {top + 1}: one section for each"
            )
        needed = ["downlink_speed_gbps", "radix_down", *(["radix_up"] if tier < top else [])]
        if missing := [name for name in needed if name not in fields]:
            raise found.refused(tier, "tier", f"tier {tier} lacks {', '.join(missing)}", "speed and radix of each tier")
        if tier == top and (extra := fields.keys() & {"radix_up", "queue_up"}):
            raise found.refused(
                tier, min(extra), f"{min(extra)} is given for tier {tier}", "the top tier has no uplinks"
            )


@dataclass(frozen=True)
class Counts:
    pods: int
    tors_per_pod: int
    aggs_per_pod: int
    cores: int


def counts_of(found: Tiers) -> Counts:
    """Return the numbers of switches, or refuse contradictions. Raises `BadInput`."""
    fields = [{"bundle": 1, **tier} for tier in found.tiers]
    if fields[0]["bundle"] > 1:
        raise found.refused(0, "bundle", f"Bundle of tier 0 is {fields[0]['bundle']}", "hosts have one link")
    pods = _divided(found, (0, "radix_down"), ("Nodes", found.nodes), ("Podsize", found.pod_hosts))
    down = ("Radix_Down of tier 0", fields[0]["radix_down"])
    tors = _divided(found, (0, "radix_down"), ("Podsize", found.pod_hosts), down)
    aggs = _switches_above(found, fields, 0)
    _equal(found, 1, tors * fields[1]["bundle"], "switches of tier 0 in a pod, times Bundle")
    cores = 0
    if len(fields) == 2 and pods > 1:
        rule = "two tiers have a single pod: Podsize = Nodes"
        raise found.refused(1, "tier", f"Podsize {found.pod_hosts} makes {pods} pods without a link between them", rule)
    if len(fields) == 3:
        cores = aggs * _switches_above(found, fields, 1)
        _equal(found, 2, pods * fields[2]["bundle"], "pods, times Bundle")
    for tier in range(len(fields) - 1):
        _check_oversubscription(found, tier)
    return Counts(pods, tors, aggs, cores)


def _switches_above(found: Tiers, fields: list[dict[str, int]], tier: int) -> int:
    """Return the number of switches that a switch of ``tier`` has uplinks to."""
    up = (f"Radix_Up of tier {tier}", fields[tier]["radix_up"])
    return _divided(found, (tier, "radix_up"), up, (f"Bundle of tier {tier + 1}", fields[tier + 1]["bundle"]))


def _divided(found: Tiers, place: tuple[int, str], whole: tuple[str, int], part: tuple[str, int]) -> int:
    if whole[1] % part[1]:
        what = f"{whole[0]} {whole[1]} is no multiple of {part[0]} ({part[1]})"
        raise found.refused(*place, what, f"{whole[0]} / {part[0]} is whole")
    return whole[1] // part[1]


def _equal(found: Tiers, tier: int, wanted: int, reason: str) -> None:
    given = found.tiers[tier]["radix_down"]
    if given != wanted:
        what = f"Radix_Down of tier {tier} is {given}, and {wanted} links lead to each switch"
        raise found.refused(tier, "radix_down", what, f"Radix_Down = {reason} = {wanted}", f"Radix_Down {wanted}")


def _check_oversubscription(found: Tiers, tier: int) -> None:
    if (given := found.tiers[tier].get("oversubscribed")) is None:
        return
    below, above = found.tiers[tier], found.tiers[tier + 1]
    down = below["radix_down"] * below["downlink_speed_gbps"]
    up = below["radix_up"] * above["downlink_speed_gbps"]
    if down != given * up:
        what = f"Oversubscribed of tier {tier} is {given}, but {down} Gb/s lead down and {up} Gb/s up"
        raise found.refused(
            tier, "oversubscribed", what, "radix times speed, down / up", f"Oversubscribed {down / up:g}"
        )


def network_of(found: Tiers, report: Report, failed: Collection[tuple[int, int]] = ()) -> Network:
    """Convert tiers into a network, without the failed uplinks (number of the switch of tier 1, number of the uplink).

    Raises `BadInput`.
    """
    counts = counts_of(found)
    links, latency_ps = _links_by_tier(found, report)
    _report_queues(found, report)
    aggs = counts.pods * counts.aggs_per_pod
    levels = {"tor": counts.pods * counts.tors_per_pod, "agg": aggs, "core": counts.cores}
    switches = [name for level, count in levels.items() for name in names_of(level, count)]
    hosts = names_of("h", found.nodes)
    path = ["h0", *_LEVELS[: len(links)], *_LEVELS[: len(links) - 1][::-1], "h1"]
    longest = chain(path, [*links, *links[::-1]])
    shape = None if failed else _shape(found, counts, links)
    if shape is not None:
        told = ", ".join(f"{name} = {value}" for name, value in shape.fields.items())
        report.mapped.append(f"{found.file}: {found.nodes} hosts as topology {told}")
        return Network(hosts, switches, longest, longest, shape, latency_ps)
    listed = list(_all_links(found, counts, links, failed))
    report.mapped.append(
        f"{found.file}: {found.nodes} hosts and {len(switches)} switches as a graph of {len(listed)} links"
    )
    return Network(hosts, switches, listed, longest, None, latency_ps)


def _links_by_tier(found: Tiers, report: Report) -> tuple[list[tuple[int, int]], int]:
    """Return rate and delay of the links below each tier, and the latency of each switch."""
    latencies = [tier.get("switch_latency_ns", 0) * 1000 for tier in found.tiers]
    rates = [tier["downlink_speed_gbps"] * 10**9 for tier in found.tiers]
    delays = [tier.get("downlink_latency_ns", 0) * 1000 for tier in found.tiers]
    for tier, fields in enumerate(found.tiers):
        if "downlink_latency_ns" not in fields:
            delays[tier] = 10**6
            report.assumed.append(f"{found.file}: tier {tier} has links of 1 us (htsim's default hop latency)")
    if len(set(latencies)) == 1:
        return list(zip(rates, delays, strict=True)), latencies[0]
    halves = [0, *latencies]
    delays = [delay + (low + high) // 2 for delay, (low, high) in zip(delays, pairwise(halves), strict=True)]
    report.assumed.append(
        f"{found.file}: switch latencies differ by tier; half of each is in the delay of every link of the switch, so "
        "that all paths have the right latency"
    )
    return list(zip(rates, delays, strict=True)), 0


def _report_queues(found: Tiers, report: Report) -> None:
    for tier, fields in enumerate(found.tiers):
        for name in sorted(fields.keys() & {"queue_up", "queue_down"}):
            line = found.places[tier][name]
            report.not_mapped.append(
                f"{line.file}, line {line.number}: {line.words[0]} {line.words[1]} (htsim_uec replaces it too: -q)"
            )


def _shape(found: Tiers, counts: Counts, links: list[tuple[int, int]]) -> Shape | None:
    """Return the topology as leaf-spine or fat tree, if it is one."""
    if any(tier.get("bundle", 1) > 1 for tier in found.tiers):
        return None
    if len(links) == 2:
        leaves = counts.tors_per_pod
        fields: dict[str, str | int] = {"kind": "leaf-spine", "leaves": leaves, "spines": counts.aggs_per_pod}
        return Shape({**fields, "hosts_per_leaf": found.nodes // leaves}, *links)
    half = found.tiers[0]["radix_down"]
    radix = [found.tiers[0]["radix_up"], found.tiers[1]["radix_down"], found.tiers[1]["radix_up"]]
    is_fat_tree = radix == [half] * 3 and counts.pods == 2 * half and links[1] == links[2]
    return Shape({"kind": "fat-tree", "k": 2 * half}, *links[:2]) if is_fat_tree else None


def _all_links(
    found: Tiers, counts: Counts, links: list[tuple[int, int]], failed: Collection[tuple[int, int]]
) -> Iterator[Link]:
    """Return the links of a graph; uplink u of switch a of a pod leads to core a + u times the switches of the pod."""
    bundles = [tier.get("bundle", 1) for tier in found.tiers]
    for host in range(found.nodes):
        yield Link((f"h{host}", f"tor{host // found.tiers[0]['radix_down']}"), *links[0])
    for tor in range(counts.pods * counts.tors_per_pod):
        first = tor // counts.tors_per_pod * counts.aggs_per_pod
        for agg in range(first, first + counts.aggs_per_pod):
            yield from [Link((f"tor{tor}", f"agg{agg}"), *links[1])] * bundles[1]
    for agg in range(counts.pods * counts.aggs_per_pod if counts.cores else 0):
        for uplink in range(found.tiers[1]["radix_up"] // bundles[2]):
            core = agg % counts.aggs_per_pod + uplink * counts.aggs_per_pod
            kept = bundles[2] - ((agg, uplink) in failed)
            yield from [Link((f"agg{agg}", f"core{core}"), *links[2])] * kept


def default_tiers(file: str, nodes: int, report: Report) -> Tiers:
    """Return htsim's fabric for a matrix without a topology: the fat tree with as many hosts."""
    half = next(half for half in range(1, NODES_MAX) if 2 * half**3 >= nodes)
    hosts = 2 * half**3
    spare = "" if hosts == nodes else f"; htsim has no fat tree for {nodes} hosts, so {hosts - nodes} hosts are idle"
    report.assumed.append(
        f"{file}: no topology given: a fat tree with k = {2 * half}, 100 Gb/s and links of 1 us, htsim's default{spare}"
    )
    edge = {"downlink_speed_gbps": 100, "radix_down": half, "downlink_latency_ns": 1000}
    tiers = [{**edge, "radix_up": half}, {**edge, "radix_up": half}, {**edge, "radix_down": 2 * half}]
    place = Line(file, 1, ["Nodes", str(nodes)])
    return Tiers(file, hosts, half * half, tiers, [{"tier": place}] * 3)
