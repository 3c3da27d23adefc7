"""docs/reference/run-json.md has every key of `hitless run --json`, and no other."""

import json
import re
from pathlib import Path

import pytest

import hitless as hl
from warm import hitless

PAGE = Path(__file__).parents[2] / "docs/reference/run-json.md"
TOP = "Top level"
BY_NAME = {"summary.drops", "summary.retired", "summary.fairness"}
"""Objects with keys that are reasons or names of groups."""
OF_INCOMPLETE_RUNS = {"summary": {"incomplete"}}


def documented():
    """Return the keys of the page by their object: "summary.flows", "rows[].seeds"."""
    found = {}
    for part in PAGE.read_text().split("\n## ")[1:]:
        heading = part.splitlines()[0].strip("`")
        found["" if heading == TOP else heading] = set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE))
    return found


def keys_of(value, place, found):
    if isinstance(value, list):
        for one in value:
            keys_of(one, place, found)
    elif isinstance(value, dict) and place not in BY_NAME:
        found.setdefault(place, set()).update(value)
        for name, inner in value.items():
            keys_of(inner, f"{place}[].{name}" if place == "rows" else f"{place}.{name}".lstrip("."), found)


def run(scenario, folder, *arguments):
    (folder / "mine.toml").write_text(scenario.text)
    return json.loads(hitless("run", "mine.toml", "--json", *arguments, cwd=folder).stdout)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Run a plain scenario, a failing link with the order checker, and a lossy link with a seed."""
    plain = hl.example("dumbbell").with_("duration", "2 ms").with_("until", None).with_("warmup", None)
    failing = hl.example("link-failure").with_("measure", {"order": True})
    folder = tmp_path_factory.mktemp("runs")
    return [run(plain, folder), run(failing, folder), run(hl.example("linkguardian-testbed"), folder, "--seed", "7")]


def test_the_page_has_every_key_of_real_runs_and_no_other(documents):
    found = {}
    for document in documents:
        keys_of(document, "", found)
    page = documented()
    for place, keys in OF_INCOMPLETE_RUNS.items():
        assert keys <= page[place]
        page[place] -= keys
    assert found == page


def test_the_seed_is_the_scenarios_own_or_that_of_the_command(documents):
    assert [document["seed"] for document in documents][2] == 7
    for document in documents:
        assert document["seeds"] == [document["seed"]]
        assert document["seed"] == document["summary"]["seed"]
        assert all([one["seed"] for one in row["seeds"]] == document["seeds"] for row in document["rows"])
