"""Resources of mechanisms on a switch: the command, the rows of a run, and the papers' tables."""

import json

import pytest
from typer.testing import CliRunner

from hitless.checking import check_scenario_of, scenario_resources
from hitless.cli.main import app
from hitless.errors import RefusedScenario
from hitless.simulation import Simulation
from hitless_papers import Context, Runs
from hitless_papers.afq import resources as afq
from hitless_papers.deflection import resources as deflection
from hitless_papers.linkguardian.resources import small_frames
from hitless_papers.rimm import resources as rimm
from hitless_papers.sqr import resources as sqr
from hitless_papers.statement_of_resources import blocks, statement

EXAMPLE = "linkguardian-testbed"


def example(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(CliRunner().invoke(app, ["scenario", "example", EXAMPLE]).stdout)
    return path


def test_the_command_prints_a_table_or_json(tmp_path):
    path = example(tmp_path)
    shown = CliRunner().invoke(app, ["scenario", "resources", str(path)])
    assert shown.exit_code == 0
    assert "stateful ALUs" in shown.stdout
    assert "reTxReqs[4]" in shown.stdout
    found = json.loads(CliRunner().invoke(app, ["scenario", "resources", str(path), "--json"]).stdout)
    assert found == scenario_resources(path.read_text())
    assert {name for switch in found for name in switch["switches"]} == {"sw2", "sw6"}


def test_the_rows_of_a_run_are_the_statement():
    scenario = small_frames(100, 1_000)
    table = Simulation(scenario, file_name="scenario").run().table("mechanisms").to_dicts()
    prefix = "resources: "
    for switch in ("sw2", "sw6"):
        found = {
            row["label"].removeprefix(prefix): row["value"]
            for row in table
            if row["switch"] == switch and row["counter"].startswith("resources_")
        }
        assert found == dict(statement(scenario, switch, "linkguardian").takes)


def test_what_no_switch_holds_is_refused_in_checked_mode_and_surveyed_all_the_same():
    leaf = afq.scenario(2, 16_384, 36)
    checked = {**leaf, "switch": {"preset": "tofino-like", "checked": True}, "duration": "1 ms"}
    with pytest.raises(RefusedScenario, match="afq 145"):
        check_scenario_of({**checked, **_flow()})
    (found,) = scenario_resources(checked)
    assert [short["needed"] for short in found["shortages"]] == [145]


def _flow():
    flow = {"name": "one", "kind": "long", "transport": "t", "sources": ["h0"], "destinations": ["h1"]}
    return {"transport": [{"name": "t", "kind": "tcp"}], "flows": [flow]}


@pytest.mark.parametrize(
    ("made", "verdicts"),
    [
        (afq.Table1(), {"SRAM": "within"}),
        (rimm.Table2(), {"sequence numbers": "match"}),
        (sqr.Table1(), {"cache of one port": "match"}),
        (sqr.Table2(), {"stateful ALUs": "within"}),
        (deflection.Resources(), {}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_paper_is_met_where_both_count_the_same(made, verdicts):
    rows = list(made.rows(Runs({}), Context()))
    judged = {row.metric: row for row in rows if row.verdict != "unjudged"}
    assert {metric: judged[metric].verdict for metric in verdicts} == verdicts
    assert all(row.judgement.reason for row in rows if row.verdict == "unjudged")


def test_an_array_fills_whole_blocks_and_one_more():
    assert [blocks(cells, bits) for cells, bits in [(4_096, 32), (4_097, 17), (65_536, 1)]] == [2, 3, 2]
