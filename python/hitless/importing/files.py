"""The files of an import: recognised by their contents, read, and combined."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hitless.errors import BadInput
from hitless.importing import hpcc, hpcc_config, htsim_matrix, htsim_topology, sonic
from hitless.importing.lines import lines_of
from hitless.importing.model import Flow, Network
from hitless.importing.report import Report
from hitless.importing.writing import Parts, TransportKind, written
from hitless.whole_file import file_name, name_of, read_text

_FORMATS = {
    "htsim-matrix": "connection matrix of htsim",
    "htsim-topology": "topology of htsim",
    "hpcc-topology": "topology of HPCC or SimAI",
    "hpcc-flows": "flows of HPCC",
    "hpcc-config": "configuration of HPCC or SimAI",
    "sonic": "configuration of SONiC",
}
_TOPOLOGIES = ("htsim-topology", "hpcc-topology")


@dataclass(frozen=True)
class Imported:
    """A scenario and its list of flows, if there is one."""

    scenario: str
    flows: str | None
    flows_file: str
    report: Report


def format_of(text: str, file: str) -> str:
    """Return the format of a file, by its first lines. Raises `BadInput`."""
    if text.removeprefix("\ufeff").lstrip().startswith(("{", "[")):
        return "sonic"
    words = [line.words for line, _ in zip(lines_of(text, file), range(4), strict=False)]
    firsts = {line[0].lower() for line in words}
    if any(line[0] in hpcc_config.KEYS for line in words):
        return "hpcc-config"
    if {"tiers", "podsize"} & firsts:
        return "htsim-topology"
    if {"nodes", "connections"} & firsts or any("->" in line[0] for line in words):
        return "htsim-matrix"
    if words and all(word.isdecimal() for word in words[0][:-1]) and len(words[0]) in {3, 6}:
        return "hpcc-topology"
    if words and len(words[0]) == 1 and words[0][0].isdecimal():
        return "hpcc-flows"
    rule = "htsim's .cm or .topo, HPCC's or SimAI's topology, flows or configuration, or SONiC's config_db.json"
    raise BadInput("the format is unknown", where=file, rule=rule)


def import_files(
    paths: Sequence[Path], transport: TransportKind | None = None, start_unit: htsim_matrix.StartUnit = "us"
) -> Imported:
    """Read files of other programs and combine them into one scenario. Raises `BadInput`.

    ``start_unit`` is the unit of start times in connection matrices.
    """
    texts: dict[str, tuple[str, str]] = {}
    for path in paths:
        text, name = read_text(path), name_of(Path(path.name))
        kind = format_of(text, name)
        if kind in texts:
            raise BadInput(
                f"two files are a {_FORMATS[kind]}", where=f"{texts[kind][1]}, {name}", rule="one file of each kind"
            )
        texts[kind] = (text, name)
    if len(texts.keys() & set(_TOPOLOGIES)) > 1:
        raise BadInput("two files have a topology", where=", ".join(map(name_of, paths)), rule="give one of them")
    report = Report()
    config = hpcc_config.read_config(*texts["hpcc-config"]) if "hpcc-config" in texts else None
    network, flows = _network_and_flows(texts, start_unit, report)
    switch = sonic.switch_of(sonic.read_config(*texts["sonic"]), report) if "sonic" in texts else None
    usual: TransportKind = "uet" if any(kind.startswith("htsim") for kind in texts) else "roce"
    chosen = transport or usual
    roce: dict[str, object] = {}
    if config is not None:
        network = hpcc_config.with_losses(network, config, report)
        switch = switch or hpcc_config.switch_of(config, network, report)
        if chosen == "roce":
            roce = hpcc_config.transport_of(config, network, report)
        else:
            report.not_mapped.append(f"{config.file}: packets and DCQCN of RoCE, with --transport {chosen}")
        hpcc_config.report_unread(config, report)
    name = file_name(paths[0].stem)
    sources = [f"{file} ({_FORMATS[kind]})" for kind, (_, file) in texts.items()]
    parts = Parts(name, sources, network, flows, switch, chosen, f"{name}.flows", roce)
    return Imported(*written(parts, report), parts.flows_file, report)


def _network_and_flows(
    texts: dict[str, tuple[str, str]], start_unit: htsim_matrix.StartUnit, report: Report
) -> tuple[Network, list[Flow]]:
    matrix = htsim_matrix.read_matrix(*texts["htsim-matrix"], start_unit) if "htsim-matrix" in texts else None
    if "hpcc-topology" in texts and matrix is not None:
        what = "a connection matrix of htsim needs a topology of htsim"
        raise BadInput(what, where=matrix.file, rule="give a .topo file")
    if "hpcc-topology" in texts:
        graph = hpcc.read_graph(*texts["hpcc-topology"])
        flows = hpcc.read_flows(*texts["hpcc-flows"], graph, report) if "hpcc-flows" in texts else []
        return hpcc.network_of(graph, report), flows
    if "hpcc-flows" in texts:
        what = "flows of HPCC need the topology of their hosts"
        raise BadInput(what, where=texts["hpcc-flows"][1], rule="give HPCC's topology.txt too")
    if "htsim-topology" in texts or matrix is not None:
        return _htsim(texts, matrix, report)
    if "sonic" not in texts:
        where = texts["hpcc-config"][1]
        raise BadInput("a configuration needs a topology", where=where, rule="give HPCC's topology.txt too")
    return sonic.network_of(sonic.read_config(*texts["sonic"]), report), []


def _htsim(
    texts: dict[str, tuple[str, str]], matrix: htsim_matrix.Matrix | None, report: Report
) -> tuple[Network, list[Flow]]:
    if "htsim-topology" in texts:
        tiers = htsim_topology.read_tiers(*texts["htsim-topology"])
        if matrix is not None and matrix.nodes != tiers.nodes:
            what = f"{matrix.file} has {matrix.nodes} nodes and {tiers.file} has {tiers.nodes}"
            raise BadInput(what, where=f"{matrix.file}, {tiers.file}", rule="both describe the same hosts")
    else:
        assert matrix is not None
        tiers = htsim_topology.default_tiers(matrix.file, matrix.nodes, report)
    failed = htsim_matrix.failed_links(matrix, tiers) if matrix is not None else set()
    network = htsim_topology.network_of(tiers, report, failed)
    return network, htsim_matrix.flows_of(matrix, report) if matrix is not None else []
