"""The page for users of other tools: its scenario runs, its conversion works, and its names exist."""

import re
from pathlib import Path

import hitless as hl
from warm import hitless

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/other-tools.md").read_text("utf-8")
MATRIX = """Nodes 16
Connections 2
0->4 id 1 start 0 size 200000
1->4 start 12000000 size 1500
"""


def code(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]


def test_the_scenario_translated_from_ns_3_loses_and_marks_packets():
    scenario = hl.Scenario.from_text(code("toml"))
    run = scenario.with_("duration", "5 ms").run()
    assert run.flows["packets_marked"].sum() > 0
    assert run.summary["drops"]["corrupted on a link"] > 0
    assert len(run.queues) > 100


def test_a_connection_matrix_of_htsim_becomes_a_list_of_flows(tmp_path):
    (tmp_path / "mine.cm").write_text(MATRIX)
    program, *arguments = code("sh").split()
    assert program == "hitless"
    hitless(*arguments, cwd=tmp_path)
    assert (tmp_path / "mine/mine.flows").read_text().splitlines()[1:] == ["0 4 200000 0", "1 4 1500 12000"]


def test_every_command_and_kind_on_the_page_exists():
    reference = (ROOT / "docs/reference/cli.md").read_text("utf-8")
    found = set(re.findall(r"`(?:sudo )?hitless ((?:lab |p4 )?[a-z]+)(?![a-z0-9])", PAGE))
    assert {"lab exec", "p4 test", "compare"} <= found
    for command in found:
        assert re.search(rf"^## hitless {command}\b", reference, re.MULTILINE), command
    fields = "".join(path.read_text("utf-8") for path in (ROOT / "docs/reference/scenario").glob("*.md"))
    kinds = set(re.findall(r'kind =\s"([a-z0-9-]+)"', PAGE))
    assert len(kinds) > 8
    assert [kind for kind in sorted(kinds) if f'kind = "{kind}"' not in fields] == []
