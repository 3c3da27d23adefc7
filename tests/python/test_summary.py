"""The summary of results, and the tables that are rendered from it."""

import json

import pytest

from hitless.answer.chosen import Line, Mechanism
from hitless.errors import BadInput
from hitless.summary import pages
from hitless.summary.causes import with_causes
from hitless.summary.document import Summary
from hitless.summary.pages import SUMMARY, render

ORDER = ["demo/fig8", "sqr/fig9"]


def row(measured, verdict, *, metric="p99 FCT", paper=10.0, interval=(None, None)):
    return {
        "series": "LG",
        "x": "100G",
        "metric": metric,
        "unit": "us",
        "paper": paper,
        "measured": measured,
        "ci_low": interval[0],
        "ci_high": interval[1],
        "judge": "factor" if verdict != "unjudged" else "none",
        "verdict": verdict,
        "note": "a note",
    }


@pytest.fixture
def folder(tmp_path):
    """Write a folder as `hitless reproduce` leaves it."""

    def write(rows, *, exhibit="demo/fig8", seed=1, effort="full", commit="abc123456", incomplete=()):
        path = tmp_path / f"{exhibit.replace('/', '-')}-{seed}-{effort}-{commit}"
        path.mkdir()
        document = {"exhibits": [{"id": exhibit, "seed": seed, "wall_s": 2.0, "rows": rows}]}
        (path / "summary.json").write_text(json.dumps(document))
        manifest = {"effort": effort, "commit": commit, "incomplete": list(incomplete)}
        (path / "manifest.json").write_text(json.dumps(manifest))
        return path

    return write


def added(*folders):
    summary = Summary()
    summary.add(folders, ORDER)
    return summary


def test_a_row_of_several_seeds_is_their_median_their_ends_and_the_worst_verdict(folder):
    folders = [
        folder([row(value, verdict)], seed=seed)
        for seed, value, verdict in [(3, 30.0, "differs"), (1, 9.0, "match"), (2, 12.0, "match")]
    ]
    only = added(*folders).exhibits[0]
    assert only.seeds == (1, 2, 3)
    assert (only.rows[0].measured, only.rows[0].spread, only.rows[0].verdict) == (12.0, (9.0, 30.0), "differs")


def test_a_seed_that_cannot_judge_does_not_hide_one_that_can(folder):
    summary = added(folder([row(9.0, "unjudged")], seed=1), folder([row(9.0, "match")], seed=2))
    assert summary.exhibits[0].rows[0].verdict == "match"


def test_rows_without_a_paper_or_a_verdict_are_counted_and_left_out(folder):
    only = added(folder([row(9.0, "match"), row(1.0, "unjudged", metric="p50", paper=None)])).exhibits[0]
    assert (len(only.rows), only.not_judged) == (1, 1)


def test_two_rows_of_one_name_stay_two(folder):
    only = added(folder([row(9.0, "match"), row(1.0, "differs")])).exhibits[0]
    assert [one.measured for one in only.rows] == [9.0, 1.0]


def test_a_newer_run_takes_the_place_of_an_older_one_of_its_exhibit_only(folder):
    summary = added(folder([row(9.0, "match")], exhibit="sqr/fig9"), folder([row(9.0, "match")]))
    summary.add([folder([row(7.0, "differs")], effort="quick")], ORDER)
    assert [(one.id, one.effort, one.rows[0].measured) for one in summary.exhibits] == [
        ("demo/fig8", "quick", 7.0),
        ("sqr/fig9", "full", 9.0),
    ]


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ({"seed": 1, "commit": "other"}, "seed 1 twice and several commits"),
        ({"seed": 2, "effort": "quick"}, "several efforts"),
        ({"seed": 2, "incomplete": ["demo/fig8"]}, "not complete"),
    ],
)
def test_runs_that_cannot_stand_together_are_refused(folder, second, words):
    folders = [folder([row(9.0, "match")]), folder([row(9.0, "match")], **second)]
    with pytest.raises(BadInput, match=words):
        added(*folders)


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no results"):
        added(tmp_path)


def test_a_written_summary_is_read_back(folder, tmp_path):
    summary = added(folder([row(9.0, "match", interval=(8.0, None)), row(2.5, "beyond", paper="2 to 4")]))
    summary.write(tmp_path / "results.json")
    assert Summary.read(tmp_path / "results.json") == summary


PAGE = """# A page

<!-- results: {} -->
| typed | by hand |
<!-- end of results -->

The end.
"""


@pytest.fixture
def checkout(folder, tmp_path, monkeypatch):
    """Make a checkout whose page has a place for a table."""
    root = tmp_path / "checkout"
    (root / "docs").mkdir(parents=True)
    summary = added(folder([row(22.6, "differs", paper=51.0, interval=(22.0, 23.1))]))
    summary.write(root / SUMMARY)
    lines = (
        Line("the tail", "demo/fig8", protected=("LG", "100G", "p99 FCT"), bare=("none", "100G", "p99 FCT")),
        Line("never run", "demo/fig9", ratio=("LG", "100G", "p99 FCT, none over it")),
    )
    causes = tmp_path / "causes.toml"
    causes.write_text('[[cause]]\nrows = ["demo/fig8 | LG | *"]\ncause = "the hosts"\n')
    monkeypatch.setattr(pages, "CAUSES", causes)
    monkeypatch.setattr(pages, "mechanisms", lambda: (Mechanism("LinkGuardian", "loss", lines),))

    def page(place):
        (root / "README.md").write_text(PAGE.format(place))
        return root

    return page


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("counts", "| A paper that nobody wrote | 0 | 0 | 1 | 0 |"),
        (
            "rows demo",
            "| demo/fig8 (full, seed 1, abc123456) | LG, 100G, p99 FCT, us | 51 | 22.6 [22, 23.1] | **differs** |",
        ),
        ("chosen", "| LinkGuardian: loss | the tail, us | 51 | 22.6 [22, 23.1] | **differs** |"),
        ("differs", "| demo/fig8 | LG, 100G, p99 FCT, us | 51 | 22.6 [22, 23.1] | the hosts |"),
    ],
)
def test_a_table_says_what_the_summary_says(checkout, place, line):
    (page,) = render(checkout(place))
    assert not page.is_current
    assert line in page.wanted.splitlines()
    assert "typed" not in page.wanted
    assert page.wanted.endswith("<!-- end of results -->\n\nThe end.\n")
    page.path.write_text(page.wanted)
    assert render(page.path.parent)[0].is_current


@pytest.mark.parametrize(("place", "words"), [("rows pd", "has no pd"), ("bars", "no table 'bars'")])
def test_a_place_for_what_is_not_there_is_an_error_that_names_it(checkout, place, words):
    with pytest.raises(BadInput, match=words) as refused:
        render(checkout(place))
    assert f"<!-- results: {place} -->" in refused.value.where


ONE_CAUSE = '[[cause]]\nrows = ["demo/fig8 | LG | *"]\ncause = "the hosts"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cause = []", "0 causes are given for a row that differs: demo/fig8 | LG | 100G | p99 FCT"),
        (ONE_CAUSE + ONE_CAUSE, "2 causes are given"),
        (ONE_CAUSE.replace("]\nc", ', "demo/fig9 | *"]\nc'), "no row that differs is 'demo/fig9"),
        (ONE_CAUSE.replace("cause =", "why ="), "no list of causes"),
    ],
)
def test_each_row_that_differs_has_one_cause(folder, tmp_path, text, words):
    summary = added(folder([row(22.6, "differs", paper=51.0), row(9.0, "match", metric="mean FCT")]))
    (tmp_path / "causes.toml").write_text(text)
    with pytest.raises(BadInput) as refused:
        with_causes(summary, tmp_path / "causes.toml")
    assert words in str(refused.value)
