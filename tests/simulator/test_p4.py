"""P4 programs: packet tests and traces on the command line, and a program on the switches of a fabric."""

import hashlib
import json
import tomllib
from pathlib import Path

import polars as pl
import pytest

from hitless.errors import HitlessError, RefusedScenario
from hitless.outcome.losses import losses_of
from hitless.simulation import Simulation
from warm import hitless

P4 = Path(__file__).parents[2] / "examples" / "p4"
ROUTES = {"table": "ipv4_lpm", "action": "ipv4_forward", "port": "port", "address": "dstAddr"}
LINK = {"rate": "10 Gbps", "delay": "1 us"}


def scenario(*mechanisms, topology=None):
    dumbbell = {"kind": "dumbbell", "hosts_left": 4, "hosts_right": 4, "host_link": LINK, "bottleneck": LINK}
    return {
        "name": "p4",
        "duration": "2 ms",
        "topology": topology or dumbbell,
        "switch": {"ecn": {"threshold": "20 packets"}},
        "transport": [{"name": "tcp", "kind": "tcp", "congestion": "dctcp"}],
        "flows": [
            {
                "name": "flows",
                "kind": "poisson",
                "transport": "tcp",
                "load": 0.5,
                "load_of": "host-links",
                "sizes": {"kind": "fixed", "bytes": "20 KB"},
            }
        ],
        "mechanism": list(mechanisms),
    }


def program(**settings):
    return {"kind": "p4", "program": str(P4 / "forward.json"), **settings}


def run(document):
    return Simulation(document, file_name="p4", seed=1).run(keep=("messages", "mechanisms"))


def counter(result, name):
    table = result.table("mechanisms")
    return int(table.filter((pl.col("mechanism") == "p4") & (pl.col("counter") == name))["value"].sum())


def test_no_compiled_program_is_older_than_its_source():
    """After a change, compile with the options in the manifest, and write the digests of both files into it."""
    manifest = json.loads((P4 / "manifest.json").read_text())
    found = {name: hashlib.sha256((P4 / name).read_bytes()).hexdigest() for name in manifest["sha256"]}
    assert found == manifest["sha256"]
    assert {path.stem for path in P4.glob("*.p4")} == {name.removesuffix(".json") for name in found if ".json" in name}


def test_packet_tests_pass_and_a_wrong_one_ends_with_1(tmp_path):
    assert (
        "passed; 4 packets in, 3 out as expected"
        in hitless("p4", "test", P4 / "forward.json", P4 / "forward.stf").stdout
    )
    wrong = tmp_path / "wrong.stf"
    wrong.write_text((P4 / "forward.stf").read_text().replace("expect 3", "expect 4"))
    failed = hitless("p4", "test", P4 / "forward.json", wrong, "--json", code=1)
    [outcome] = json.loads(failed.stdout)
    assert len(outcome["failures"]) == 2
    assert "1 of 1 files of tests failed" in failed.stderr


def test_a_program_that_is_none_is_refused_by_name_and_line(tmp_path):
    spoilt = tmp_path / "spoilt.json"
    spoilt.write_text((P4 / "forward.json").read_text().replace('"mark_to_drop"', '"teleport"'))
    error = hitless("p4", "test", spoilt, P4 / "forward.stf", code=2).stderr
    assert "the primitive teleport" in error
    assert "forward.p4:" in error


def test_a_trace_shows_parser_table_and_deparser():
    packet = "020000000101 020000000001 0800 4500001c00010000401166cb0a0000010a000107 0001000200080000"
    arguments = ("p4", "trace", P4 / "forward.json", packet, "--port", "1", "--commands", P4 / "forward.txt")
    lines = hitless(*arguments).stdout.splitlines()
    assert "    hdr.ipv4.dstAddr (lpm) = 10.0.1.7" in lines
    assert any(
        line.startswith("    entry 1 -> MyIngress.ipv4_forward(dstAddr 02:00:00:00:01:07, port 3)") for line in lines
    )
    assert lines[-1].startswith("port 3: 020000000107020000000101080045")


def test_forwarding_in_p4_is_forwarding():
    """With a single path to each host, a program that forwards does not change any completion time."""
    plain, by_program = run(scenario()), run(scenario(program(routes=ROUTES)))
    messages = [result.table("messages") for result in (plain, by_program)]
    assert len(messages[0]) > 100
    assert messages[0].equals(messages[1])
    assert counter(by_program, "packets_sent") > 1000
    assert counter(by_program, "packets_dropped") == 0


def test_a_program_without_entries_drops_all():
    result = run(scenario(program()))
    assert counter(result, "packets_sent") == 0
    assert counter(result, "packets_dropped") > 0


def test_an_entry_of_the_scenario_counts_on_its_switch():
    entry = {"table": "ipv4_lpm", "match": ["hdr.ipv4.dstAddr = 10.0.0.0/30"], "action": "drop"}
    topology = tomllib.loads('kind = "chain"\nhosts_left = ["h1"]\nswitches = ["sw1", "sw2"]\nhosts_right = ["h2"]\n')
    topology |= {"host_link": LINK, "switch_link": LINK}
    only = run(scenario(program(switches=["sw1"], table=[entry]), topology=topology))
    assert counter(only, "packets_sent") == 0
    assert counter(only, "packets_dropped") > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"program": "none.json"}, "cannot be read"),
        ({"switches": ["leaf9"]}, "is no switch"),
        ({"routes": ROUTES | {"table": "ipv6_lpm"}}, "there is no table ipv6_lpm"),
        ({"routes": ROUTES | {"port": "door"}}, "has no parameter door"),
        ({"table": [{"table": "ipv4_lpm", "action": "drop", "match": ["dstAddr = 10.0.0.0/99"]}]}, "the prefix 99"),
        ({"digest": "0"}, "the files have other text now"),
    ],
)
def test_what_cannot_be_meant_is_refused(settings, message):
    with pytest.raises(HitlessError, match=message):
        run(scenario(program() | settings))


def test_a_fabric_runs_a_program_in_one_command(tmp_path):
    arguments = ("p4", "run", P4 / "forward.json", "--routes", "ipv4_lpm:ipv4_forward:port:dstAddr")
    done = hitless(*arguments, "--topology", "dumbbell", "--duration", "1 ms", "--out", tmp_path / "out", "--json")
    assert json.loads(done.stdout)["summary"]


CHAIN = {
    "kind": "chain",
    "hosts_left": ["h1"],
    "switches": ["sw1", "sw2"],
    "hosts_right": ["h2"],
    "host_link": LINK,
    "switch_link": LINK,
}


def field(header, name):
    return {"type": "field", "value": [header, name]}


def number(value):
    return {"type": "hexstr", "value": hex(value)}


def expression(op, left, right):
    inner = {"type": "expression", "value": {"op": op, "left": left, "right": right}}
    return {"type": "expression", "value": inner}


def primitive(line, op, *parameters):
    return {"op": op, "parameters": list(parameters), "source_info": {"filename": "forward.p4", "line": line}}


def changed(folder, *, forward=(), egress=()):
    document = json.loads((P4 / "forward.json").read_text())
    document["actions"][2]["primitives"] += list(forward)
    document["actions"].append({"name": "out", "id": 9, "runtime_data": [], "primitives": list(egress)})
    call = {"name": "out", "id": 0, "action_id": 9, "next_node": None}
    document["pipelines"][1] |= {"init_table": "out", "action_calls": [call]}
    path = folder / "changed.json"
    path.write_text(json.dumps(document))
    return {"kind": "p4", "program": str(path), "routes": ROUTES}


def test_a_program_that_reads_enq_qdepth_marks_as_a_switch_does(tmp_path):
    """Like the ECN program of the P4 tutorials: packets that wait when another one arrives mean congestion."""

    def drops(*, egress):
        document = scenario(changed(tmp_path, egress=egress))
        document["switch"] = {"buffer": {"kind": "static", "per_port": "100 packets"}}
        document["flows"][0] |= {"load": 0.9, "sizes": {"kind": "fixed", "bytes": "200 KB"}}
        return run(document).summary.drops.get("queue full", 0)

    is_full = expression(">=", field("standard_metadata", "enq_qdepth"), number(20))
    mark = primitive(2, "assign", field("ipv4", "diffserv"), expression("|", field("ipv4", "diffserv"), number(3)))
    unmarked, marked = drops(egress=[]), drops(egress=[primitive(1, "_jump_if_zero", is_full, number(2)), mark])
    assert unmarked > 100
    assert marked < unmarked / 10


def test_a_multicast_packet_is_not_lost_but_one_of_its_copies(tmp_path):
    """Each packet goes to a group with one port, the right one, so everything equals forwarding."""
    group = primitive(1, "assign", field("standard_metadata", "mcast_grp"), field("standard_metadata", "ingress_port"))
    one_more = primitive(2, "add_to_field", field("standard_metadata", "mcast_grp"), number(1))
    commands = tmp_path / "groups.txt"
    commands.write_text(
        "mc_mgrp_create 1\nmc_node_create 0 1\nmc_node_associate 1 0\n"
        "mc_mgrp_create 2\nmc_node_create 0 0\nmc_node_associate 2 1\n"
    )
    by_group = changed(tmp_path, forward=[group, one_more]) | {"commands": str(commands)}
    plain, replicated = run(scenario(topology=CHAIN)), run(scenario(by_group, topology=CHAIN))
    assert counter(replicated, "packets_in_ingress") > 100
    assert replicated.summary.drops == {}
    assert plain.table("messages").equals(replicated.table("messages"))


def test_copies_to_other_hosts_are_no_known_loss(tmp_path):
    """Packets of h0 go to h1 and h2: the copies at h2 counted as lost, and 100 % of the packets arrived."""
    commands = tmp_path / "groups.txt"
    commands.write_text(
        "mc_mgrp_create 1\nmc_node_create 0 1 2\nmc_node_associate 1 0\n"
        "mc_mgrp_create 2\nmc_node_create 0 0\nmc_node_associate 2 1\n"
    )
    group = primitive(1, "assign", field("standard_metadata", "mcast_grp"), field("standard_metadata", "ingress_port"))
    one_more = primitive(2, "add_to_field", field("standard_metadata", "mcast_grp"), number(1))
    hosts = ["h0", "h1", "h2"]
    star = {
        "kind": "graph",
        "hosts": hosts,
        "switches": ["s"],
        "links": [{"ends": [host, "s"], **LINK} for host in hosts],
    }
    document = scenario(changed(tmp_path, forward=[group, one_more]) | {"commands": str(commands)}, topology=star)
    document["flows"][0] |= {"sources": ["h0"], "destinations": ["h1"]}
    losses = losses_of(run(document))
    copies = losses.dropped["addressed to another host"]
    assert copies > 100
    assert losses.lost_to_hosts is None
    assert losses.why == f"{copies:,} packets reached another host, and some may be copies of delivered ones"


@pytest.mark.parametrize(
    ("primitives", "told"),
    [
        (
            [primitive(64, "assign", field("ipv4", "diffserv"), number(46 << 2))],
            ["forward.p4:64: the program writes ipv4.diffserv", "its code point (DSCP) is 8 times its class"],
        ),
        (
            [primitive(65, "assign", field("ipv4", "identification"), number(7))],
            ["forward.p4:65: the program writes ipv4.identification", "no identification and no fragments"],
        ),
        (
            [primitive(66, "truncate", number(100))],
            ["forward.p4:66: the program adds or removes headers, or truncates", "cut off to the shortest frame alone"],
        ),
    ],
)
def test_what_no_simulated_packet_has_is_told_by_the_line_that_writes_it(tmp_path, primitives, told):
    with pytest.raises(RefusedScenario) as refused:
        run(scenario(changed(tmp_path, forward=primitives)))
    assert all(part in str(refused.value) for part in told), refused.value
    assert "report it" not in str(refused.value)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (("egress_spec", 9), "were for port 9, and the switch has the ports 0 to 2"),
        (("priority", 5), "were for queue 5 of port 1, whose queues are: 0"),
        (("mcast_grp", 3), "were for multicast group 3, which has no copies to ports of the switch"),
    ],
)
def test_a_missing_port_queue_or_group_is_named(tmp_path, line, told):
    where = primitive(1, "assign", field("standard_metadata", line[0]), number(line[1]))
    result = run(scenario(changed(tmp_path, forward=[where]), topology=CHAIN))
    assert any(warning.startswith("p4 at sw1: ") and told in warning for warning in result.summary.warnings)
    assert set(result.summary.drops) == {"sent to a missing port, queue or group"}


def test_a_switch_without_packets_is_told_as_one():
    entry = {"table": "ipv4_lpm", "match": ["hdr.ipv4.dstAddr = 10.0.0.0/30"], "action": "drop"}
    document = scenario(program(table=[entry]), topology=CHAIN)
    document["flows"][0] |= {"sources": ["h1"], "destinations": ["h2"]}
    warnings = run(document).summary.warnings
    assert "p4 at sw2: no packet came to the program" in warnings
    assert not any("never acted" in warning for warning in warnings)


def test_a_clone_to_a_session_that_is_not_there_is_named(tmp_path):
    clone = primitive(1, "clone_ingress_pkt_to_egress", number(5), number(0))
    result = run(scenario(changed(tmp_path, forward=[clone]), topology=CHAIN))
    assert any("were clones for session 5, which is not configured" in warning for warning in result.summary.warnings)
    assert result.summary.drops == {}
