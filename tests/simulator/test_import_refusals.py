"""`hitless scenario import`: nonsense, contradictions, damaged files, and the command."""

import json
from collections import Counter
from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_import import HTSIM, OWN, SIMAI

from hitless.errors import BadInput
from hitless.importing import import_files
from hitless.importing.files import format_of
from hitless.importing.hpcc import network_of as hpcc_network
from hitless.importing.hpcc import read_flows, read_graph
from hitless.importing.hpcc_config import read_config as read_hpcc_config
from hitless.importing.hpcc_config import switch_of as hpcc_switch
from hitless.importing.hpcc_config import transport_of
from hitless.importing.htsim_matrix import flows_of, read_matrix
from hitless.importing.htsim_topology import network_of as htsim_network
from hitless.importing.htsim_topology import read_tiers
from hitless.importing.model import Flow, duration_text, rate_text
from hitless.importing.report import Report
from hitless.importing.sonic import network_of as sonic_network
from hitless.importing.sonic import read_config, switch_of
from warm import hitless

MATRIX = "Nodes 4\nConnections 1\n"
TOPO = (HTSIM / "fat_tree_128_1os.topo").read_text()
HPCC = (OWN / "topology.txt").read_text()
REFUSED = [
    ("a.cm", MATRIX + "0->4 start 0 size 5", ["line 3", "destination is '4'", "from 0 to 3"]),
    ("a.cm", MATRIX + "\n# c\n1->1 start 0 size 5", ["line 5", "host 1 sends to itself"]),
    ("a.cm", MATRIX + "0->1 start 0 size -5", ["line 3", "size is '-5'", "whole number from 1"]),
    ("a.cm", MATRIX + "0->1 start 0 size 1_0", ["line 3", "size is '1_0'"]),
    ("a.cm", MATRIX + "0->1 start 1e99 size 5", ["line 3", "the start is '1e99'"]),
    ("a.cm", MATRIX + "0->1 start 0", ["line 3", "no size"]),
    ("a.cm", MATRIX + "0->1 size 5", ["line 3", "either a start or a trigger"]),
    ("a.cm", MATRIX + "0->1 start 0 size 5 speed 3", ["line 3", "'speed' is not understood"]),
    ("a.cm", MATRIX + "0->1 start 0 size", ["line 3", "'size' has no value"]),
    ("a.cm", MATRIX + "0->1 start 0 size 5\n1->2 start 0 size 5", ["Connections is 1, and the file has 2"]),
    ("a.cm", MATRIX + "0->1 id 1 trigger 7 size 5", ["line 3", "trigger 7 is not declared"]),
    (
        "a.cm",
        "Nodes 4\nConnections 1\nTriggers 1\n0->1 trigger 7 size 5\ntrigger id 7 oneshot",
        ["line 5", "fires trigger 7"],
    ),
    ("a.cm", MATRIX + "0->1 start 0 size 5\nfailure switch_type TOR switch_id 0 link_id 0", ["line 4", "'TOR'", "AGG"]),
    ("a.topo", TOPO.replace("Radix_Down 8", "Radix_Down 7"), ["Radix_Down of tier 2 is 7", "8 links lead to each"]),
    ("a.topo", TOPO.replace("Podsize 16", "Podsize 10"), ["Nodes 128 is no multiple of Podsize (10)"]),
    ("a.topo", TOPO.replace("Tiers 3", "Tiers 4"), ["line 3", "tiers is '4'", "from 2 to 3"]),
    (
        "a.topo",
        TOPO.replace("Oversubscribed 1", "Oversubscribed 2", 1),
        ["Oversubscribed of tier 0 is 2", "Oversubscribed 1"],
    ),
    ("a.topo", TOPO.replace("Radix_Up 4", "Radix_Up 4\nRadix_Up 4", 1), ["line 11", "given twice"]),
    ("a.topo", TOPO.replace("Radix_Up 4", "Radius 4", 1), ["line 10", "'Radius' is no field of a tier"]),
    ("a.txt", HPCC.replace("100Gbps 0.001ms", "100 0.001ms"), ["line 3", "the rate is '100'", "with a unit"]),
    ("a.txt", HPCC.replace("0.002ms", "2 us"), ["line 7", "is not a link"]),
    ("a.txt", HPCC.replace("1us 0\n", "1us 1.5\n", 1), ["line 4", "error_rate is '1.5'", "0 to 1"]),
    ("a.txt", HPCC.replace("7 3 6", "7 3 5"), ["announces 5 links, and the file has 6"]),
    ("a.txt", HPCC.replace("4 5 6\n", "4 5 5\n"), ["line 2", "2 different switches"]),
    ("a.txt", HPCC.replace("1 4 100Gbps", "1 0 100Gbps"), ["line 4", "connected directly"]),
    ("a.txt", "3\n0 1 3 100 5 0", ["flows of HPCC need the topology"]),
    ("a.json", '{"PORT": {"Ethernet0": {"speed": "fast"}}}', ["PORT|Ethernet0", "speed is 'fast'"]),
    ("a.json", '{"PORT": {"Ethernet0": {"speed": "100000"},}}', ["line 1, column", "not valid JSON"]),
    (
        "a.json",
        json.dumps(json.loads((OWN / "config_db.json").read_text()) | {"PORT_QOS_MAP": {"a": {"pfc_enable": "9"}}}),
        ["PORT_QOS_MAP|a", "pfc_enable is '9'", "priorities from 0 to 7"],
    ),
    ("a.json", '{"PORT": [1]}', ["PORT is not understood"]),
    ("a.json", "[1]", ["not a configuration"]),
    ("a.txt", "CC_MODE 1\nCC_MODE 2", ["line 2", "CC_MODE is given twice"]),
    ("a.txt", "CC_MODE 1\nKMIN_MAP 2 25000000000 100", ["line 2", "2 values do not make '2' pairs"]),
    ("a.txt", "CC_MODE 1\nKMIN_MAP 1 25000000000 100", ["the maps have different rates"]),
    ("a.txt", "CC_MODE 1\nkmin 3", ["line 2", "'kmin 3' is not understood"]),
    ("a.txt", "hello world\n", ["the format is unknown"]),
    ("a.txt", "", ["the format is unknown"]),
]


@pytest.mark.parametrize(
    ("name", "text", "parts"), REFUSED, ids=lambda value: value[-1] if isinstance(value, list) else ""
)
def test_nonsense_is_refused(name, text, parts, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput) as refused:
        import_files([tmp_path / name])
    for part in parts:
        assert part in str(refused.value)


def test_contradicting_files_are_refused(tmp_path):
    for paths, part in [
        ([HTSIM / "one.cm", HTSIM / "bidir.cm"], "two files are a connection matrix"),
        ([HTSIM / "one.cm", HTSIM / "leaf_spine_tiny.topo"], "has 16 nodes and leaf_spine_tiny.topo has 32"),
        ([HTSIM / "leaf_spine_tiny.topo", OWN / "topology.txt"], "two files have a topology"),
        ([HTSIM / "one.cm", OWN / "topology.txt"], "needs a topology of htsim"),
    ]:
        with pytest.raises(BadInput, match=part):
            import_files(paths)


def test_byte_order_marks_line_ends_tabs_and_comments_do_not_matter(tmp_path):
    for path in [HTSIM / "incast.cm", HTSIM / "leaf_spine_tiny.topo", OWN / "topology.txt", OWN / "config_db.json"]:
        text = path.read_text()
        if path.suffix != ".json":
            text = "\n".join(f"\t{line} \t# note" for line in ["# first", "", *text.splitlines()]).replace(" ", "  ")
        changed = tmp_path / path.name
        changed.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
        assert import_files([changed]) == import_files([path])


def test_the_command_reports_on_stderr_and_replaces_no_file(tmp_path):
    done = hitless("scenario", "import", HTSIM / "bidir.cm", "--out", "new", cwd=tmp_path)
    assert done.stdout == ""
    for heading in ("mapped:", "assumed:", "not mapped:", "next: hitless run new/scenario.toml"):
        assert heading in done.stderr
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["bidir.flows", "scenario.toml"]
    again = hitless("scenario", "import", HTSIM / "bidir.cm", "--out", "new", cwd=tmp_path, code=2)
    assert "an import replaces no file" in again.stderr


NETWORK = hpcc_network(read_graph(HPCC, "b"), Report())


def readers(text):
    """Read a text as each format; a parser can refuse it."""
    for read in (
        lambda: format_of(text, "a"),
        lambda: flows_of(read_matrix(text, "a"), Report()),
        lambda: htsim_network(read_tiers(text, "a"), Report()),
        lambda: hpcc_network(read_graph(text, "a"), Report()),
        lambda: read_flows(text, "a", read_graph(HPCC, "b"), Report()),
        lambda: hpcc_switch(read_hpcc_config(text, "a"), NETWORK, Report()),
        lambda: transport_of(read_hpcc_config(text, "a"), NETWORK, Report()),
        lambda: switch_of(read_config(text, "a"), Report()),
        lambda: sonic_network(read_config(text, "a"), Report()),
    ):
        with suppress(BadInput):
            read()


SAMPLES = [path.read_text() for path in (HTSIM / "incast.cm", HTSIM / "leaf_spine_tiny.topo", *sorted(OWN.iterdir()))]
SAMPLES.append((SIMAI / "SimAI.conf").read_text())
SAMPLES.append(
    "Nodes 8\nConnections 2\nTriggers 1\nFailures 1\n0->1 id 1 msg start 0 size 5 send_done_trigger 1\n"
    "2->3 id 2 trigger 1 size 7\ntrigger id 1 oneshot\nfailure switch_type AGG switch_id 0 link_id 0\n"
)


@given(st.text(max_size=200) | st.text(alphabet='0123456789 \n->{}[]":,.eGbpsmu', max_size=200))
@settings(max_examples=200)
def test_any_text_is_read_or_refused(text):
    readers(text)


@given(st.sampled_from(SAMPLES), st.data())
@settings(max_examples=200)
def test_any_damaged_file_is_read_or_refused(text, data):
    words = [word for word in text.replace("\n", " \n ").split(" ") if word]
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(words) - 1))
        words[place] = data.draw(
            st.sampled_from(["", "0", "-1", "1e9", "9" * 30, "\n", "x", "->", '"', "3", "NaN", "²"])
        )
    readers(" ".join(words))


flows = st.builds(Flow, st.integers(0, 3), st.integers(4, 7), st.integers(1, 10**12), st.integers(0, 10**12))


@given(st.lists(flows, min_size=1, max_size=20))
def test_connection_matrices_survive_a_round_trip(flows):
    lines = [f"{f.source}->{f.destination} start {Decimal(f.start_ns) / 1000} size {f.size_bytes}" for f in flows]
    text = f"Nodes 8\nConnections {len(flows)}\n" + "\n".join(lines)
    assert flows_of(read_matrix(text, "a"), Report()) == flows


@given(st.lists(flows, min_size=1, max_size=20))
def test_flows_of_hpcc_survive_a_round_trip(flows):
    graph = "9 1 8\n8\n" + "\n".join(f"{host} 8 1Gbps 1us 0" for host in range(8))
    lines = [f"{f.source} {f.destination} 3 100 {f.size_bytes} {Decimal(f.start_ns) / 10**9:f}" for f in flows]
    text = f"{len(flows)}\n" + "\n".join(lines)
    assert read_flows(text, "a", read_graph(graph, "b"), Report()) == flows


@given(st.tuples(*[st.integers(1, 4)] * 4, st.integers(1, 2), st.integers(1, 3)))
def test_graphs_of_tiers_have_the_stated_radix(numbers):
    down, tors, aggs, pods, bundle, uplinks = numbers
    hosts = down * tors * pods
    if hosts < 2 or tors * down < 2:
        return
    text = (
        f"Nodes {hosts}\nTiers 3\nPodsize {down * tors}\n"
        f"Tier 0\nDownlink_speed_Gbps 100\nRadix_Down {down}\nRadix_Up {aggs * bundle}\n"
        f"Tier 1\nDownlink_speed_Gbps 200\nRadix_Down {tors * bundle}\nRadix_Up {uplinks}\nBundle {bundle}\n"
        f"Tier 2\nDownlink_speed_Gbps 400\nRadix_Down {pods}\n"
    )
    network = htsim_network(read_tiers(text, "a"), Report())
    if network.shape is not None:
        return
    degrees = Counter(end for link in network.links for end in link.ends)
    expected = {"h": 1, "t": down + aggs * bundle, "a": tors * bundle + uplinks, "c": pods}
    assert {name: degrees[name] for name in degrees} == {name: expected[name[0]] for name in degrees}
    assert len(degrees) == len(network.hosts) + len(network.switches)


@given(st.integers(0, 10**18), st.integers(1, 10**15))
def test_quantities_are_written_exactly(duration_ps, rate_bps):
    ps = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 1000, "ps": 1}
    bps = {"Gbps": 10**9, "Mbps": 10**6, "kbps": 1000, "bps": 1}
    for text, units, value in ((duration_text(duration_ps), ps, duration_ps), (rate_text(rate_bps), bps, rate_bps)):
        number, unit = text.split()
        assert int(number) * units[unit] == value
