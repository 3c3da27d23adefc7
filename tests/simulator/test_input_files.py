"""The examples of docs/reference/files.md are valid input."""

import re
import tomllib
from pathlib import Path

import pytest

import hitless as hl
from hitless.fleet.year import protection_of, topology_of
from hitless.sweeps.plan import SweepPlan
from warm import hitless

PAGE = (Path(__file__).parents[2] / "docs/reference/files.md").read_text("utf-8")


def block(heading):
    """Return the first block of code below a heading."""
    section = PAGE.split(f"\n## {heading}")[1].split("\n## ")[0]
    lines = re.search(r"(?:^(?: {4}.*)?\n)*^ {4}.*\n", section, re.MULTILINE)[0].splitlines()
    return "\n".join(line[4:] for line in lines).strip("\n") + "\n"


@pytest.fixture
def scenario(tmp_path):
    """Make a scenario in a folder from an example, with replaced texts, next to a file of the page."""

    def make(example, heading, name, *replaced):
        (tmp_path / name).write_text(block(heading))
        text = hl.example(example).text
        for old, new in replaced:
            assert old in text
            text = text.replace(old, new, 1)
        (tmp_path / "mine.toml").write_text(text)
        return hl.Scenario.from_file(tmp_path / "mine.toml")

    return make


def test_a_list_of_flows(scenario):
    listed = ('file = "C_incast64"', 'file = "mine.flows"'), ('packet_bytes = "1460 B"', "")
    run = scenario("bench-c", "Lists of flows", "mine.flows", *listed).run()
    assert sorted(run.flows["message_bytes"].to_list()) == [1_500, 200_000]


def test_a_list_of_flows_that_wait_for_others(tmp_path):
    text = PAGE.split("### Flows that wait for others")[1].split("\n## ")[0]
    lines = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    (tmp_path / "mine.flows").write_text("\n".join(lines))
    text = hl.example("bench-c").text.partition("[[flows]]")[0]
    group = 'name = "C"\nkind = "dependency-list"\ntransport = "dctcp"\nfile = "mine.flows"\n'
    (tmp_path / "mine.toml").write_text(f"{text}[[flows]]\n{group}")
    flows = hl.Scenario.from_file(tmp_path / "mine.toml").run().flows.sort("position")
    starts, ends = flows["started_ps"].to_list(), flows["finished_ps"].to_list()
    assert starts[2] == max(ends[:2]) + 500_000
    assert 0 <= starts[3] - min(ends[:2]) <= 1


def test_a_table_of_flow_sizes(scenario):
    table = ('table = "facebook_cachefollower_intracluster_homa"', 'table = "mine.txt"')
    assert scenario("incast", "Tables of flow sizes", "mine.txt", table).check()


def test_a_trace_of_losses(scenario):
    old = re.search(r"^loss = .*$", hl.example("linkguardian-testbed").text, re.MULTILINE)[0]
    found = scenario(
        "linkguardian-testbed", "Traces of losses", "mine.losses", (old, 'loss = {kind="trace", file="mine.losses"}')
    )
    [loss] = [link["loss"] for link in tomllib.loads(found.effective)["link"] if "loss" in link]
    assert re.fullmatch("[0-9a-f]{16}", loss["digest"])


def test_a_list_of_failures(scenario):
    name = 'name = "sqr-testbed"'
    found = scenario(
        "sqr-testbed", "Lists of failures", "mine.failures", (name, f'{name}\nfailure_file="mine.failures"')
    )
    failing = [failure["link"] for failure in tomllib.loads(found.effective)["failure"]]
    assert failing[-2:] == ["sw6<->sw10", "sw4<->sw2"]


def test_a_sweep(tmp_path):
    (tmp_path / "mine.toml").write_text(block("Sweeps"))
    plan = SweepPlan.from_file(tmp_path / "mine.toml")
    assert len(list(plan.points())) == 4
    assert (list(plan.seeds), list(plan.keep)) == ([1, 2, 3, 4, 5], ["messages"])


def test_files_of_a_fleet(tmp_path):
    (tmp_path / "trace.json").write_text(block("Traces of a fleet"))
    hitless("fleet", "run", "--trace", "trace.json", "--policy", "lg", "--out", "out", cwd=tmp_path)
    (tmp_path / "mine.topology").write_text(block("Topologies"))
    topology_of(str(tmp_path / "mine.topology"))
    (tmp_path / "mine.csv").write_text(block("Protection"))
    protection_of(str(tmp_path / "mine.csv"))


def test_the_page_lists_every_kind_of_file_that_a_command_reads():
    commands = (Path(__file__).parents[2] / "docs/reference/cli.md").read_text("utf-8")
    for option in ("--trace", "--repairs", "--topology", "--protection", "--mechanism"):
        assert f"`{option}`" in commands
        assert option in PAGE
    for ending in (".flows", ".txt", ".losses", ".failures"):
        assert f"`{ending}`" in PAGE
