"""The summary of results, and the tables rendered from it."""

import json

import pytest

from hitless.errors import BadInput
from hitless_papers.answer.chosen import Line, Mechanism
from hitless_papers.envelope.exhibit import HARMS, HELPS, REFUSED, WORST
from hitless_papers.summary import pages
from hitless_papers.summary.causes import with_causes
from hitless_papers.summary.document import Summary, SummaryTail
from hitless_papers.summary.pages import SUMMARY, render
from hitless_papers.summary.tables import maps

ORDER = ["demo/fig8", "sqr/fig9"]


def seen(seed, measured, verdict):
    return {"seed": seed, "measured": measured, "ci_low": None, "ci_high": None, "verdict": verdict}


def row(measured, verdict, *, metric="p99 FCT", paper=10.0, interval=(None, None), seeds=()):
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
        "seeds": list(seeds) or [seen(1, measured, verdict)],
    }


@pytest.fixture
def folder(tmp_path):
    """Write a folder like `hitless reproduce`."""

    def write(rows, *, exhibit="demo/fig8", seeds=(1,), effort="full", commit="abc123456", incomplete=()):
        path = tmp_path / f"{exhibit.replace('/', '-')}-{effort}-{commit}"
        path.mkdir()
        document = {"exhibits": [{"id": exhibit, "seed": 1, "seeds": seeds, "wall_s": 6.0, "rows": rows}]}
        (path / "summary.json").write_text(json.dumps(document))
        manifest = {"effort": effort, "commit": commit, "incomplete": list(incomplete)}
        (path / "manifest.json").write_text(json.dumps(manifest))
        return path

    return write


def added(*folders):
    summary = Summary()
    summary.add(folders, ORDER)
    return summary


SEEDS = [seen(1, 9.0, "match"), seen(2, 12.0, "match"), seen(3, 30.0, "differs")]


def test_a_row_of_several_seeds_has_their_verdict_their_interval_and_each_of_them(folder):
    given = row(17.0, "match", interval=(-11.2, 45.2), seeds=SEEDS)
    only = added(folder([given], seeds=(1, 2, 3))).exhibits[0]
    assert (only.seeds, only.wall_s) == ((1, 2, 3), 2.0)
    [kept] = only.rows
    assert (kept.measured, kept.ci_low, kept.ci_high, kept.verdict) == (17.0, -11.2, 45.2, "match")
    assert [each.measured for each in kept.seeds] == [9.0, 12.0, 30.0]
    assert kept.agreement == "match with 2 of 3 seeds"


def test_a_row_on_which_seeds_do_not_agree_is_kept_though_it_has_no_verdict(folder):
    given = row(None, "unjudged", paper=None, seeds=SEEDS)
    assert len(added(folder([given], seeds=(1, 2, 3))).exhibits[0].rows) == 1


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
        ({"commit": "other"}, "demo/fig8 is in a folder before it, too"),
        ({"effort": "quick", "incomplete": ["demo/fig8"]}, "not complete"),
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
    """Make a checkout that has a page with a slot for a table."""
    root = tmp_path / "checkout"
    (root / "docs").mkdir(parents=True)
    rows = [
        row(22.6, "differs", paper=51.0, interval=(22.0, 23.1)),
        row(17.0, "match", metric="mean FCT", interval=(9.0, 25.0), seeds=SEEDS),
    ]
    summary = added(folder(rows, seeds=(1, 2, 3)))
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
        ("counts", "| A paper that nobody wrote | 1 | 0 | 0 | 1 | 0 |"),
        ("rows demo", "## demo/fig8"),
        ("rows demo", "Effort full, 3 seeds, commit abc123456."),
        ("rows demo", "| LG, 100G, p99 FCT, us | 51 | 22.6 [22, 23.1] | **differs** |"),
        ("rows demo", "| LG, 100G, mean FCT, us | 10 | 17 [9, 25] | match (match with 2 of 3 seeds) |"),
        ("chosen", "| LinkGuardian: loss | the tail, us | 51 | 22.6 [22, 23.1] | **differs** |"),
        ("differs demo", "| demo/fig8 | LG, 100G, p99 FCT, us | 51 | 22.6 [22, 23.1] | the hosts |"),
        ("causes", "| demo/fig8 | 1 | the hosts |"),
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


def test_a_map_is_a_line_with_its_places_by_colour_and_the_worst_service(folder, tmp_path):
    metrics = {HELPS: (65, None), REFUSED: (12, None), HARMS: (1, None), WORST: (0.85, (0.8, 0.9))}
    rows = [
        {**row(value, "match", metric=metric, paper=None, interval=interval or (None, None)), "x": "84 places"}
        for metric, (value, interval) in metrics.items()
    ]
    summary = added(folder(rows, exhibit="envelope/sqr"))
    summary.write(tmp_path / "results.json")
    assert maps(Summary.read(tmp_path / "results.json").exhibits).splitlines()[2:] == [
        "| LG | 84 | 65 | 6 | 12 | 1 | 0.85 [0.8, 0.9] |"
    ]


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


def test_tails_of_recorded_exhibits_are_added_alone_and_rows_and_other_tails_stay(folder, tmp_path, capsys):
    from hitless.drawing.plot import Plot, stacked
    from hitless.outcome.around import MEANS
    from hitless.results import ResultsFolder
    from hitless_papers.cli.results_app import add

    recorded = added(folder([row(9.0, "match")]))
    kept = SummaryTail(title="t", words="w", picture="p.svg", effort="full", commit="old", seed=1)
    other = recorded.exhibits[0].model_copy(update={"id": "demo/fig9", "tail": kept})
    recorded.exhibits.append(other)
    (tmp_path / "docs").mkdir()
    recorded.write(tmp_path / "docs/results.json")
    new = folder([row(7.0, "differs")], commit="new", incomplete=["demo/fig8"])
    plot = Plot(
        "The tail, explained: flows", "messages", "FCT (us)", stacked(["p99, LG"], {"queues": [1.0]}), caption=""
    )
    plots = {"demo/fig8-1": Plot("other", "x", "y", []), "demo/fig8-2": plot}
    with ResultsFolder("a", tmp_path / "drawn") as drawn:
        drawn.write_pictures(plots)
    described = json.loads((tmp_path / "drawn/plots.json").read_text())
    described["demo-fig8-2"]["caption"] = f"At p99 it takes 1 us. {MEANS} Runs with seed 1."
    described["demo-fig9-1"] = described["demo-fig8-1"]
    described["demo-fig10-1"] = described["demo-fig8-2"]
    (new / "plots.json").write_text(json.dumps(described))
    document = json.loads((new / "summary.json").read_text())
    [found] = document["exhibits"]
    document["exhibits"] = [found, {**found, "id": "demo/fig9"}, {**found, "id": "demo/fig10"}]
    (new / "summary.json").write_text(json.dumps(document))
    add([new], tmp_path, tails=True)
    assert "tails of 1 exhibits added, 2 exhibits in all" in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in (tmp_path / "docs/evidence/results/pictures").iterdir()] == ["demo-fig8-tail.svg"]
    exhibit, unchanged = Summary.read(tmp_path / "docs/results.json").exhibits
    assert unchanged == other, "an exhibit without a picture in the folder keeps its tail, and a new one is not added"
    assert exhibit.rows == recorded.exhibits[0].rows
    assert exhibit.commit == "abc123456"
    assert (exhibit.tail.title, exhibit.tail.words, exhibit.tail.commit) == ("flows", "At p99 it takes 1 us", "new")
    assert (tmp_path / "docs/evidence/results/pictures" / exhibit.tail.picture).read_text().startswith("<svg")
    with pytest.raises(BadInput, match="is not complete"):
        add([new], tmp_path)
    page = tmp_path / "README.md"
    page.write_text("<!-- results: rows demo -->\n<!-- end of results -->\n")
    assert f"![flows: parts of completion times](pictures/{exhibit.tail.picture})" in render(tmp_path)[0].wanted
