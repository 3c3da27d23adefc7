"""P4 programs: packet tests and traces by the command line, and a program on the switches of a fabric."""

import hashlib
import json
import tomllib
from pathlib import Path

import polars as pl
import pytest

from hitless.errors import HitlessError
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
    """After a change: compile with the options of the manifest, and write the digests of both files into it."""
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
    """Where there is one way to each host, a program that forwards changes no completion time."""
    plain, by_program = run(scenario()), run(scenario(program(routes=ROUTES)))
    messages = [result.table("messages") for result in (plain, by_program)]
    assert len(messages[0]) > 100
    assert messages[0].equals(messages[1])
    assert counter(by_program, "packets sent") > 1000
    assert counter(by_program, "packets dropped") == 0


def test_a_program_without_entries_drops_all():
    result = run(scenario(program()))
    assert counter(result, "packets sent") == 0
    assert counter(result, "packets dropped") > 0


def test_an_entry_of_the_scenario_counts_on_its_switch():
    entry = {
        "table": "ipv4_lpm",
        "match": ["hdr.ipv4.dstAddr = 10.0.0.0/30"],
        "action": "drop",
    }
    topology = tomllib.loads('kind = "chain"\nhosts_left = ["h1"]\nswitches = ["sw1", "sw2"]\nhosts_right = ["h2"]\n')
    topology |= {"host_link": LINK, "switch_link": LINK}
    only = run(scenario(program(switches=["sw1"], table=[entry]), topology=topology))
    assert counter(only, "packets sent") == 0
    assert counter(only, "packets dropped") > 0


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
