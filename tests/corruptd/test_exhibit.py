"""The exhibit, with and without Redis."""

import json

import pytest

from hitless.runs.point import Runs
from hitless_papers import Context
from hitless_papers.linkguardian import corruptd
from warm import hitless


def test_it_runs_from_the_command_line(tmp_path):
    done = hitless("reproduce", "lg/corruptd", "--quick", "--json", "--out", tmp_path / "out")
    rows = json.loads(done.stdout)["exhibits"][0]["rows"]
    assert {row["verdict"] for row in rows} == {"match", "unjudged"}
    assert "sw2->sw6" not in done.stderr, "the daemons' own words are not the exhibit's"


@pytest.mark.parametrize("is_there", [True, False])
def test_rows_say_what_the_daemons_talked_over(monkeypatch, is_there):
    if not is_there:
        monkeypatch.setattr(corruptd.shutil, "which", lambda _program: None)
    elif corruptd.shutil.which("redis-server") is None:
        pytest.skip("redis-server is missing")
    monkeypatch.setattr(corruptd, "LOSSES", (5e-3,))
    rows = list(corruptd.Corruptd().rows(Runs({}), Context(effort="quick")))
    notes = [row.note for row in rows if "polls from" in row.metric]
    expected = "over a separate redis-server" if is_there else "redis-server is not installed"
    assert notes
    assert all(expected in note for note in notes)
