"""The explained tails of exhibits, with the real simulator."""

import tomllib

import pytest

from hitless.checking import checked, scenario_text
from hitless_papers import Context, Exhibit, Point, Row, Tail
from hitless_papers.campaign import Campaign
from hitless_papers.registry import Entry, entries
from hitless_papers.tails import METRIC, TITLE, with_autopsies
from test_why import LOST

EXPLAINED = {entry.id: entry for entry in entries() if entry.make().tail is not None}


class Lossy(Exhibit):
    """A link that loses the first packet, or none."""

    tail = Tail("three requests", ("loss", "bare"), ("none", "whole"), percents=(50.0,))

    def points(self, context):
        for key, text in (("bare", LOST), ("whole", LOST.partition("[[link]]")[0])):
            yield Point(key, tomllib.loads(text), keep=("flows",))

    def rows(self, runs, context):
        yield from (Row(key, "", "flows", "", float(run.table("flows").height)) for key, run in runs.items())


def test_the_six_exhibits_explain_their_tail():
    assert set(EXPLAINED) == {"lg/fig10", "sqr/fig11", "pd/fig5", "afq/fig9", "rimm/tab1", "field/one-bad-link"}


@pytest.mark.parametrize("name", EXPLAINED)
def test_both_sides_are_runs_of_the_exhibit_that_can_have_an_autopsy(name):
    exhibit = EXPLAINED[name].make()
    points = list(with_autopsies(exhibit.tail, exhibit.points(Context(effort="quick"))))
    measured = [point for point in points if point.what.get("measure", {}).get("autopsy")]
    pooled = {side.partition("*")[0]: "*" in side for _, side in (exhibit.tail.without, exhibit.tail.with_it)}
    for begin, is_pooled in pooled.items():
        sides = [point for point in measured if point.key.startswith(begin) and (is_pooled or point.key == begin)]
        assert len(sides) == (20 if is_pooled else 1), begin
        checked(scenario_text(sides[0].what), sides[0].key)


def test_a_campaign_adds_a_picture_and_a_row_for_each_side_and_changes_nothing_else():
    entry = Entry("demo/lossy", "A lossy link", headline=False, make=Lossy)
    [result] = Campaign([entry], jobs=1, effort="quick").results()
    assert result.failures == []
    assert [row.measured for row in result.rows[:2]] == [1.0, 1.0]
    checks = [row for row in result.rows if row.metric == METRIC]
    assert [(row.series, row.measured) for row in checks] == [("loss", 3.0), ("none", 3.0)]
    assert result.plots[-1].title == f"{TITLE}: three requests"
    assert "At p50 none takes " in checks[0].note
    hashes = {task.point.key: task.run.summary["trace_hash"] for task in result.tasks}
    plain = Entry("demo/lossy", "A lossy link", headline=False, make=type("Plain", (Lossy,), {"tail": None}))
    [without] = Campaign([plain], jobs=1, effort="quick").results()
    assert {task.point.key: task.run.summary["trace_hash"] for task in without.tasks} == hashes


def test_longer_efforts_run_the_two_quick_runs_in_addition():
    entry = Entry("demo/lossy", "A lossy link", headline=False, make=Lossy)
    [result] = Campaign([entry], jobs=1, effort="normal").results()
    assert [task.point.key for task in result.tasks] == ["bare", "whole", "tail: bare", "tail: whole"]
    assert [row.measured for row in result.rows if row.metric == METRIC] == [3.0, 3.0]
    assert "autopsy" not in result.tasks[0].point.what.get("measure", {})


def test_only_the_two_runs_of_a_tail_are_enough_for_its_picture():
    patterns = ["permutation, NSCC, loss 1e-2", "permutation, NSCC, loss 1e-2, LLR"]
    [result] = Campaign([EXPLAINED["field/one-bad-link"]], effort="quick", patterns=patterns).results()
    assert not result.complete
    [plot] = result.plots
    assert plot.title == f"{TITLE}: {EXPLAINED['field/one-bad-link'].make().tail.title}"
    assert plot.caption.startswith("At p99 LLR takes ")
