"""`hitless scenario import`: files of htsim, HPCC, SimAI and SONiC."""

import json
import tomllib
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import hitless as hl
from hitless.errors import BadInput
from hitless.importing import import_files
from hitless.importing.hpcc import network_of as hpcc_network
from hitless.importing.hpcc import read_graph
from hitless.importing.htsim_matrix import flows_of, read_matrix
from hitless.importing.htsim_topology import network_of as htsim_network
from hitless.importing.htsim_topology import read_tiers
from hitless.importing.report import Report
from warm import hitless

FOLDER = Path(__file__).parent / "imported"
HTSIM, SIMAI, OWN = FOLDER / "uet-htsim", FOLDER / "simai", FOLDER / "own"
SIMAI_FILES = sorted(path.name for path in SIMAI.iterdir() if path.suffix == "" and path.name != "LICENSE")


def imported(folder, *paths, transport=None):
    """Import files, write the scenario into ``folder``, and return it."""
    found = import_files(paths, transport)
    (folder / "scenario.toml").write_text(found.scenario)
    if found.flows is not None:
        (folder / found.flows_file).write_text(found.flows)
    return hl.Scenario.from_file(folder / "scenario.toml")


def last_us(run):
    """Return the end of the last flow; all flows must have ended."""
    assert run.flows["finished_ps"].min() > 0
    return run.flows["finished_ps"].max() / 1e6


SMALL = [
    *([HTSIM / name] for name in ("one.cm", "bidir.cm", "perm_16n_16c_2MB.cm", "test_cr_1f1m100p.cm")),
    [HTSIM / "perm_32n_32c_2MB.cm", HTSIM / "leaf_spine_tiny.topo"],
    [HTSIM / "incast_3-1_overlapped.tm", HTSIM / "fat_tree_128_4os.topo"],
    [FOLDER / "astra-sim/8nodes.topo"],
    *([SIMAI / name] for name in SIMAI_FILES),
    [OWN / "topology.txt", OWN / "flow.txt"],
    [OWN / "config_db.json"],
    [HTSIM / "bidir.cm", OWN / "config_db.json"],
    [SIMAI / SIMAI_FILES[-1], SIMAI / "SimAI.conf"],
    [OWN / "topology.txt", OWN / "flow.txt", SIMAI / "SimAI.conf"],
]


@pytest.mark.parametrize("paths", SMALL, ids=lambda paths: paths[0].name)
def test_files_import_and_run(paths, tmp_path):
    assert last_us(imported(tmp_path, *paths).run()) > 0


@pytest.mark.parametrize("transport", ["uet", "roce", "tcp"])
@pytest.mark.parametrize(
    "paths", [[HTSIM / "bidir.cm"], [OWN / "topology.txt", OWN / "flow.txt"], [OWN / "config_db.json"]]
)
def test_all_transports_run_on_all_fabrics(transport, paths, tmp_path):
    assert last_us(imported(tmp_path, *paths, transport=transport).run()) > 0


def test_large_files_pass_the_check(tmp_path):
    imported(tmp_path, HTSIM / "leaf_spine_1024.topo").check()


@pytest.mark.parametrize(
    ("name", "congestion", "expected_us", "tolerance"),
    [
        ("one.cm", "nscc", 176.4, 0.005),
        ("one.cm", "rccc", 176.7, 0.005),
        ("one.cm", "both", 176.7, 0.005),
        ("bidir.cm", "nscc", 177.0, 0.005),
        ("bidir.cm", "rccc", 178.3, 0.005),
        ("incast.cm", "nscc", 2_466.7, 0.01),
        ("incast.cm", "rccc", 2_465.4, 0.01),
        ("incast_3-1_overlapped.tm", "nscc", 221.2, 0.01),
        ("test_cr_1f10m1p.cm", "nscc", 17.01, 0.005),
        ("test_cr_1f1m100p.cm", "nscc", 46.89, 0.005),
    ],
)
def test_ultra_ethernets_experiments_end_as_in_our_measurements(name, congestion, expected_us, tolerance, tmp_path):
    """Means of docs/evidence/uet.md; the last two from the authors' simulator."""
    run = imported(tmp_path, HTSIM / name).with_("transport[0].congestion", congestion).run()
    assert last_us(run) == pytest.approx(expected_us, rel=tolerance)


def test_triggers_are_dependencies(tmp_path):
    """In this all-to-all each host sends to one host after the other."""
    run = imported(tmp_path, HTSIM / "alltoall_serial_16n.cm").run()
    assert run.flows.height == 240
    for _, flows in run.flows.sort("started_ps").group_by("source", maintain_order=True):
        assert flows["destination"].n_unique() == flows.height == 15
        assert flows["started_ps"][1:].to_list() == flows["finished_ps"][:-1].to_list()


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("fat_tree_128_1os.topo", {"kind": "fat-tree", "k": 8}),
        ("leaf_spine_1024.topo", {"kind": "leaf-spine", "leaves": 32, "spines": 32, "hosts_per_leaf": 32}),
        ("leaf_spine_tiny.topo", {"kind": "leaf-spine", "leaves": 4, "spines": 2, "hosts_per_leaf": 8}),
        ("fat_tree_128_4os.topo", {"kind": "graph"}),
    ],
)
def test_known_shapes_are_named(name, fields, tmp_path):
    topology = imported(tmp_path, HTSIM / name).fields["topology"]
    assert {field: topology[field] for field in fields} == fields


def test_the_graph_of_a_fat_tree_is_the_fat_tree(tmp_path):
    """A failed link makes it a graph: one link less, and otherwise the degrees of a fat tree."""
    text = (HTSIM / "fat_tree_128_1os.topo").read_text()
    network = htsim_network(read_tiers(text, "a"), Report(), {(5, 3)})
    degrees = Counter(end for link in network.links for end in link.ends if not end.startswith("h"))
    agg, core = next(name for name, degree in degrees.items() if degree == 7), "core13"
    assert (agg, degrees.pop(agg), degrees.pop(core)) == ("agg5", 7, 7)
    assert set(degrees.values()) == {8}
    assert len(network.links) == 128 * 3 - 1


def test_a_failed_link_is_left_out(tmp_path):
    failure = "failure switch_type AGG switch_id 0 link_id 1"
    (tmp_path / "a.cm").write_text(f"Nodes 16\nConnections 1\nFailures 1\n0->15 start 0 size 200000\n{failure}\n")
    scenario = imported(tmp_path, tmp_path / "a.cm")
    ends = [tuple(link["ends"]) for link in scenario.fields["topology"]["links"]]
    assert len(ends) == 47
    assert ("agg0", "core2") not in ends
    assert last_us(scenario.run()) > 0


def test_switch_latencies_that_differ_are_in_the_delays():
    text = (HTSIM / "fat_tree_128_1os.topo").read_text()
    for tier, latency in enumerate((100, 200, 400)):
        text = text.replace("Switch_Latency_ns 0", f"Switch_Latency_ns {latency}", 1)
        assert f"Tier {tier}" in text
    network = htsim_network(read_tiers(text, "a"), Report())
    # The path crosses two switches of tier 0, two of tier 1 and one of tier 2.
    assert sum(link.delay_ps for link in network.longest) == (6 * 1000 + 2 * 100 + 2 * 200 + 400) * 1000


def test_kinds_of_triggers():
    lines = [f"{source}->9 id {source + 1} start 0 size 10 send_done_trigger {{}}" for source in range(3)]
    targets = [f"{source}->8 id {source + 1} trigger 1 size 10" for source in range(3, 6)]

    def waits(kind, fired_by, targets):
        connections = [line.format(1) for line in lines[:fired_by]] + targets
        head = f"Nodes 16\nConnections {len(connections)}\nTriggers 1\n"
        matrix = read_matrix(head + "\n".join([*connections, f"trigger id 1 {kind}"]), "a.cm")
        return [(flow.after, flow.needed) for flow in flows_of(matrix, Report())[fired_by:]]

    assert waits("oneshot", 1, targets) == [((0,), 1)] * 3
    assert waits("barrier count 3", 3, targets[:2]) == [((0, 1, 2), 3)] * 2
    assert waits("multishot", 3, targets) == [((0, 1, 2), 1), ((0, 1, 2), 2), ((0, 1, 2), 3)]


def test_hpcc_files_map_rates_delays_losses_and_starts(tmp_path):
    scenario = imported(tmp_path, OWN / "topology.txt", OWN / "flow.txt")
    links = {tuple(link["ends"]): (link["rate"], link["delay"]) for link in scenario.fields["topology"]["links"]}
    assert links["h0", "s4"] == ("100 Gbps", "1 us")
    assert links["h3", "s5"] == ("25 Gbps", "1 us")
    assert links["s5", "s6"] == ("100 Gbps", "2 us")
    losses = {link["name"]: link["loss"]["rate"] for link in scenario.fields["link"]}
    assert losses == {"h2<->s5": 0.001, "s5<->s6": 0.00001}
    assert (tmp_path / "topology.flows").read_text().splitlines()[1:] == [
        "0 2 200000 2000000000",
        "1 2 200000 2000000000",
        "3 0 1000 2000001500",
    ]


def test_completion_times_have_hpccs_form(tmp_path):
    hitless("scenario", "import", OWN / "topology.txt", OWN / "flow.txt", "--out", "new", cwd=tmp_path)
    hitless("run", "new/scenario.toml", "--out", "results", cwd=tmp_path)
    hitless("report", "results", "--hpcc-fct", "fct.txt", cwd=tmp_path)
    lines = [line.split() for line in (tmp_path / "fct.txt").read_text().splitlines()]
    flows = {(line[0], line[1], *map(int, line[3:6])) for line in lines}
    assert flows == {
        ("0b000001", "0b000201", 100, 200_000, 2_000_000_000),
        ("0b000101", "0b000201", 100, 200_000, 2_000_000_000),
        ("0b000301", "0b000001", 100, 1_000, 2_000_001_500),
    }
    ends = [int(line[5]) + int(line[6]) for line in lines]
    assert ends == sorted(ends)
    assert all(int(line[6]) >= int(line[7]) for line in lines)
    # One packet of 1,078 B over 25 Gb/s and three links of 100 Gb/s, and 6 us of cables.
    assert int(lines[0][7]) == 6_604
    refused = hitless("report", tmp_path / "new", "--hpcc-fct", "fct.txt", cwd=tmp_path, code=2)
    assert "0 runs are in the folder" in refused.stderr


def test_a_host_of_simai_is_a_gpu_with_its_card():
    report = Report()
    network = hpcc_network(read_graph((SIMAI / "Spectrum-X_8g_8gps_400Gbps_H100").read_text(), "a"), report)
    assert (len(network.hosts), len(network.switches), len(network.links)) == (8, 9, 16)
    assert any("1 NVSwitches with 8 links" in sentence for sentence in report.not_mapped)
    report = Report()
    dual = hpcc_network(read_graph((SIMAI / SIMAI_FILES[0]).read_text(), "a"), report)
    # Each of 64 GPUs has two links to ToRs, and 16 ToRs have eight links to spines each.
    assert (len(dual.links), len(dual.switches), dual.host_ports) == (64 * 2 + 128, 32, 2)
    assert any("64 hosts with up to 2 links" in sentence for sentence in report.mapped)
    assert not any("switches that no host reaches" in sentence for sentence in report.not_mapped)


@pytest.mark.parametrize("transport", ["uet", "roce"])
def test_hosts_keep_all_links_and_lose_flow_control(transport, tmp_path):
    """The last host of the dual-plane fabric sends 200 KB over both planes with UET, and over one with RoCE."""
    found = import_files([SIMAI / SIMAI_FILES[0], SIMAI / "SimAI.conf"], transport)
    assert "pfc" not in tomllib.loads(found.scenario)["switch"]
    assert any("PFC: hosts with 2 links" in sentence for sentence in found.report.not_mapped)
    sonic = import_files([SIMAI / SIMAI_FILES[0], OWN / "config_db.json"], transport)
    assert "pfc" not in tomllib.loads(sonic.scenario)["switch"]
    scenario = imported(tmp_path, SIMAI / SIMAI_FILES[0], SIMAI / "SimAI.conf", transport=transport)
    run = scenario.with_("flows[0].size", "200 KB").run()
    assert last_us(run) > 0
    sent = run.table("links").filter(pl.col("link").str.starts_with("h63->"))
    assert len(sent) == 2
    assert int((sent["arrived_bytes"] > 50_000).sum()) == (2 if transport == "uet" else 1)


def dual_homed(links):
    """Four hosts 0 to 3 and two switches 4 and 5 that no link joins."""
    return f"6 2 {len(links)}\n4 5\n" + "".join(f"{host} {switch} 100Gbps 1us 0\n" for host, switch in links)


def test_hosts_do_not_forward_between_planes():
    both = [(host, switch) for host in range(4) for switch in (4, 5)]
    assert hpcc_network(read_graph(dual_homed(both), "a"), Report()).host_ports == 2
    # Host 0 is in one plane, host 3 in the other.
    apart = [link for link in both if link not in {(0, 5), (3, 4)}]
    with pytest.raises(BadInput, match=r"no path leads from h0 to h3"):
        hpcc_network(read_graph(dual_homed(apart), "a"), Report())
    # Two planes with three hosts in both: each pair shares one.
    hpcc_network(read_graph(dual_homed([link for link in both if link != (0, 5)]), "a"), Report())


def incast(folder, buffer_mib, hosts=17):
    """All hosts send 1 MB to host 0 at line rate through one switch."""
    links = "".join(f"{host} {hosts} 100Gbps 1us 0\n" for host in range(hosts))
    (folder / "topology.txt").write_text(f"{hosts + 1} 1 {hosts}\n{hosts}\n{links}")
    (folder / "config.txt").write_text(f"CC_MODE 3\nBUFFER_SIZE {buffer_mib}\n")
    flows = "".join(f"{host} 0 3 100 1000000 2\n" for host in range(1, hosts))
    (folder / "flow.txt").write_text(f"{hosts - 1}\n{flows}")
    return [folder / name for name in ("topology.txt", "config.txt", "flow.txt")]


def test_switches_of_hpcc_pause_instead_of_dropping(tmp_path):
    scenario = imported(tmp_path, *incast(tmp_path, 2))
    assert scenario.fields["switch"]["pfc"] == {"response": "0 s", "xon_offset": "3 KiB"}
    assert scenario.fields["transport"][0]["recovery"] == "go-back-n"
    run = scenario.run()
    assert int(run.flows["packets_retransmitted"].sum()) == 0
    assert int(run.table("ports")["pause_frames_sent"].sum()) > 0
    assert int(run.table("ports")["lossless_drops"].sum()) == 0
    # Without flow control the same buffer overflows: 16 MB through 2 MiB.
    switch = {name: value for name, value in scenario.fields["switch"].items() if name != "pfc"}
    dropping = scenario.with_("switch", switch).run()
    assert int(dropping.flows["packets_retransmitted"].sum()) > 0


def test_hpccs_thresholds_are_dynamic_with_both_values_of_their_key(tmp_path):
    paths = incast(tmp_path, 2)
    paths[1].write_text(paths[1].read_text() + "USE_DYNAMIC_PFC_THRESHOLD 0\n")
    found = import_files(paths)
    assert tomllib.loads(found.scenario)["switch"]["buffer"] == {"kind": "shared", "total": "2 MiB", "alpha": 0.125}
    assert any("USE_DYNAMIC_PFC_THRESHOLD 0" in sentence for sentence in found.report.not_mapped)
    # All ports have the rate of the hosts.
    assert not any("faster than hosts" in sentence for sentence in found.report.not_mapped)
    paths[0].write_text(
        "6 2 5\n4 5\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n3 5 100Gbps 1us 0\n4 5 400Gbps 1us 0"
    )
    report = import_files(paths[:2]).report
    assert any("faster than hosts" in sentence for sentence in report.not_mapped)


@pytest.mark.parametrize(
    ("rate", "delay", "payload", "kept"),
    [("100Gbps", "1us", 1000, True), ("400Gbps", "1us", 9000, False), ("25Gbps", "1us", 9000, True)],
)
def test_flow_control_is_left_out_where_the_buffer_cannot_hold_its_headroom(rate, delay, payload, kept, tmp_path):
    hosts = 20
    links = "".join(f"{host} {hosts} {rate} {delay} 0\n" for host in range(hosts))
    (tmp_path / "topology.txt").write_text(f"{hosts + 1} 1 {hosts}\n{hosts}\n{links}")
    (tmp_path / "config.txt").write_text(f"CC_MODE 1\nBUFFER_SIZE 1\nPACKET_PAYLOAD_SIZE {payload}\n")
    paths = [tmp_path / "topology.txt", tmp_path / "config.txt"]
    found = import_files(paths)
    assert ("pfc" in tomllib.loads(found.scenario)["switch"]) == kept
    told = [sentence for sentence in found.report.not_mapped if "20 ports with a headroom of" in sentence]
    assert bool(told) != kept
    # The simulator accepts the result with its own arithmetic.
    imported(tmp_path, *paths).check()


def test_hpccs_configuration_is_marking_buffer_and_dcqcn(tmp_path):
    fields = imported(tmp_path, SIMAI / SIMAI_FILES[0], SIMAI / "SimAI.conf").fields
    assert fields["switch"]["buffer"] == {"kind": "shared", "total": "32 MiB", "alpha": 0.125}
    assert fields["switch"]["ecn"] == {"threshold": "800000 B", "maximum": "3200000 B", "probability": 0.2}
    assert fields["switch"]["ports"] == [
        {"rate": "200 Gbps", "ecn": {"threshold": "300000 B", "maximum": "1200000 B", "probability": 0.8}}
    ]
    [roce] = fields["transport"]
    assert (roce["mtu"], roce["acknowledge_every"]) == ("9000 B", 1)
    expected = {"alpha_timer": "1 us", "decrease_interval": "4 us", "rate_timer": "900 us", "minimum_rate": "100 Mbps"}
    expected |= {"additive_increase": "50 Mbps", "hyper_increase": "100 Mbps", "g": 1 / 256, "clamp_target": False}
    assert roce["dcqcn"] == {"preset": "vendor", "fast_recovery_steps": 1, "increase_line_rate": "200 Gbps", **expected}


def test_every_key_of_hpccs_configuration_is_mapped_or_named():
    told = import_files([SIMAI / SIMAI_FILES[0], SIMAI / "SimAI.conf"]).report.text()
    keys = {line.split()[0] for line in (SIMAI / "SimAI.conf").read_text().splitlines() if line.strip()}
    mapped = {
        "ALPHA_RESUME_INTERVAL",
        "RATE_DECREASE_INTERVAL",
        "CLAMP_TARGET_RATE",
        "RP_TIMER",
        "EWMA_GAIN",
        "RATE_AI",
    }
    mapped |= {"FAST_RECOVERY_TIMES", "RATE_HAI", "MIN_RATE", "ENABLE_QCN", "USE_DYNAMIC_PFC_THRESHOLD"}
    zero = {"ERROR_RATE_PER_LINK", "L2_BACK_TO_ZERO"}
    assert {key for key in keys if key not in told} == mapped - {"RATE_AI"} | zero


def test_losses_of_all_links(tmp_path):
    (tmp_path / "config.txt").write_text("CC_MODE 1\nERROR_RATE_PER_LINK 0.002\n")
    scenario = imported(tmp_path, OWN / "topology.txt", OWN / "flow.txt", tmp_path / "config.txt")
    rates = [link["loss"]["rate"] for link in scenario.fields["link"]]
    assert sorted(rates) == [0.00001, 0.001, 0.002, 0.002, 0.002, 0.002]
    scenario.check()
    found = import_files([HTSIM / "leaf_spine_tiny.topo", tmp_path / "config.txt"])
    assert "link" not in tomllib.loads(found.scenario)
    assert any("ERROR_RATE_PER_LINK 0.002" in sentence for sentence in found.report.not_mapped)


def test_sonics_buffers_and_marking(tmp_path):
    found = import_files([OWN / "config_db.json"])
    switch = tomllib.loads(found.scenario)["switch"]
    # The pool, and a headroom at each of four ports.
    total = 33_004_032 + 4 * 160_000
    assert switch["buffer"] == {"kind": "shared", "total": f"{total} B", "alpha": 0.125}
    assert switch["pfc"] == {"headroom": "160000 B", "xon_offset": "3584 B"}
    assert switch["ecn"] == {"threshold": "1048576 B", "maximum": "2097152 B", "probability": 0.05}
    assert switch["ports"] == [
        {"rate": "25 Gbps", "ecn": {"threshold": "262144 B", "maximum": "524288 B", "probability": 0.1}}
    ]
    links = tomllib.loads(found.scenario)["topology"]["links"]
    assert {link["ends"][0]: link["rate"] for link in links}["Ethernet12"] == "25 Gbps"


def test_the_report_names_every_table_and_field_of_sonics_file_that_is_not_in_the_scenario():
    config = json.loads((OWN / "config_db.json").read_text())
    told = import_files([OWN / "config_db.json"]).report.text()
    assert [table for table in config if table not in told] == []
    mapped = {"speed", "admin_status", "pool", "profile", "wred_profile", "static_th", "dynamic_th", "ecn"}
    mapped |= {"type", "mode", "size", "green_min_threshold", "green_max_threshold", "green_drop_probability"}
    whole = {"DEVICE_METADATA", "SCHEDULER", "CABLE_LENGTH"}
    entries = [entry for table, entries in config.items() if table not in whole for entry in entries.values()]
    assert {field for entry in entries for field in entry if field not in told} <= mapped
    for words in ("pfc_enable 4: not of queue 3", "size 1248, xon 18432", "egress_lossy_profile", "Ethernet16"):
        assert words in told
    assert "no pfc_enable 3 at Ethernet8, Ethernet12" in told


def sonic_switch(folder, change):
    """Import the configuration after a change; return ``[switch]`` and the report."""
    config = json.loads((OWN / "config_db.json").read_text())
    change(config)
    (folder / "a.json").write_text(json.dumps(config))
    found = import_files([folder / "a.json"])
    imported(folder, folder / "a.json").check()
    return tomllib.loads(found.scenario)["switch"], found.report.text()


def test_sonics_flow_control_by_profiles(tmp_path):
    profile = "pg_lossless_100000_40m_profile"

    def of_other_priorities(config):
        config["PORT_QOS_MAP"] = {"Ethernet0,Ethernet4": {"pfc_enable": "4"}}

    def static(config):
        config["BUFFER_PROFILE"][profile] |= {"static_th": "200000"}
        del config["BUFFER_PROFILE"][profile]["dynamic_th"]

    def computed(config):
        config["BUFFER_PG"] = {"Ethernet0,Ethernet4|3-4": {"profile": "NULL"}}
        del config["BUFFER_PROFILE"]["egress_lossless_profile"]["static_th"]

    def longer(config):
        other = {**config["BUFFER_PROFILE"][profile], "xoff": "300000"}
        config["BUFFER_PROFILE"]["pg_lossless_100000_300m_profile"] = other
        config["BUFFER_PG"]["Ethernet8|3-4"] = {"profile": "pg_lossless_100000_300m_profile"}

    switch, told = sonic_switch(tmp_path, of_other_priorities)
    assert ("pfc" in switch, switch["buffer"]["total"]) == (False, "33004032 B")
    assert "pfc_enable 4 of Ethernet0, Ethernet4: not of queue 3, so no pause frames" in told
    assert "xoff 160000" in told
    switch, _ = sonic_switch(tmp_path, static)
    assert switch["pfc"] == {"headroom": "160000 B", "xon_offset": "3584 B", "xoff": "200000 B"}
    switch, told = sonic_switch(tmp_path, computed)
    assert (switch["pfc"], switch["buffer"]["kind"]) == ({}, "static")
    assert "headroom by rate, delay and response time of each link" in told
    switch, told = sonic_switch(tmp_path, longer)
    assert switch["pfc"]["headroom"] == "300000 B"
    assert "of pg_lossless_100000_300m_profile, pg_lossless_100000_40m_profile as headroom of all ports" in told


def test_sonics_watchdog_is_that_of_most_ports(tmp_path):
    usual = {"action": "drop", "detection_time": "400", "restoration_time": "200"}

    def add(config):
        ports = {"Ethernet0": usual, "Ethernet4": usual, "Ethernet8": {**usual, "action": "forward"}}
        config["PFC_WD"] = {"GLOBAL": {"POLL_INTERVAL": "200"}, **ports}

    switch, told = sonic_switch(tmp_path, add)
    expected = {"action": "drop", "detection": "400 ms", "restoration": "200 ms"}
    assert switch["pfc"]["watchdog"] == expected
    assert "PFC_WD: other settings of Ethernet8" in told
    assert "PFC_WD: fields POLL_INTERVAL" in told
    switch, told = sonic_switch(tmp_path, lambda config: config.update(PFC_WD={"Ethernet0": {"action": "alert"}}))
    assert "watchdog" not in switch["pfc"]
    assert "action alert" in told


def test_pools_without_a_size_are_reported(tmp_path):
    config = json.loads((OWN / "config_db.json").read_text())
    del config["BUFFER_POOL"]["ingress_lossless_pool"]["size"]
    del config["BUFFER_PROFILE"]["egress_lossless_profile"]["static_th"]
    (tmp_path / "a.json").write_text(json.dumps(config))
    found = import_files([tmp_path / "a.json"])
    assert tomllib.loads(found.scenario)["switch"]["buffer"]["kind"] == "static"
    assert any("no size" in sentence for sentence in found.report.not_mapped)
