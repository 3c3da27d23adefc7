"""Verdicts need several seeds: one rule for all rows of exhibits."""

import json
import math

import pytest

from hitless.analysis import Interval
from hitless_papers import (
    Exact,
    Exhibit,
    Factor,
    Gain,
    Parts,
    Point,
    Replicated,
    Row,
    Shape,
    Share,
    Unjudged,
    above_one,
    at_most,
)
from hitless_papers.campaign import Campaign
from hitless_papers.registry import Entry
from hitless_papers.seeds import over_seeds, usual
from hitless_papers.statements import OneOf, counted_once


def _row(judge, measured, paper=10.0, interval=None, **more):
    return Row("LG", "100G", "p99 FCT", "us", measured, paper, interval=interval, judge=judge, **more)


def _over(*rows, takes_one=False):
    [row] = over_seeds([(seed, [row]) for seed, row in enumerate(rows, 1)], takes_one=takes_one)
    return row


def _shape(*, holds):
    return Shape(holds=holds, statement="A before B")


RULES = [
    # one and two seeds do not give a verdict, under any rule
    (Exact(), [10.0], "unjudged", "one seed"),
    (Factor(), [10.0, 10.1], "unjudged", "2 seeds, and an interval takes 3"),
    (_shape(holds=True), [None], "unjudged", "one seed"),
    # the interval over the seeds decides, regardless of individual seeds
    (Exact(), [10.0, 10.05, 9.95], "match", ""),
    (Gain(), [1.41, 1.35, 1.18], "within", "within 2x with 2 of 3 seeds"),
    (Exact(), [9.55, 9.7, 9.85], "unjudged", "only a part of the interval"),
    (Factor(), [30.0, 31.0, 29.5], "differs", ""),
    (Factor(), [1.0, 90.0, 300.0], "unjudged", "the interval is wider than the rule's range"),
    # a number that is the same for all seeds is judged as it is
    (Exact(), [10.0, 10.0, 10.0], "match", ""),
    (Exact(), [10.5, 10.5, 10.5], "differs", "seeds change nothing here"),
    (above_one("A is slower"), [1.5, 1.5, 1.5], "match", "seeds change nothing here"),
    # statements about a number, and statements that each run judges
    (above_one("A is slower"), [1.5, 1.6, 1.4], "match", ""),
    (above_one("A is slower"), [0.5, 1.6, 1.4], "unjudged", "both sides of 1"),
    (at_most(2.0, "few"), [3.0, 3.1, 3.2], "differs", ""),
    # without a number, and without a judge
    (Exact(), [None, None, None], "unjudged", "no seed"),
    (Exact(), [10.0, None, 10.1], "unjudged", "2 seeds"),
    (Unjudged("calibrated"), [10.0, 11.0, 12.0], "unjudged", "calibrated"),
]


@pytest.mark.parametrize(("judge", "measured", "verdict", "words"), RULES)
def test_a_verdict_rests_on_several_seeds(judge, measured, verdict, words):
    paper = 1.45 if isinstance(judge, Gain) else 10.0
    row = _over(*(_row(judge, value, paper) for value in measured))
    assert row.verdict == verdict
    assert words in row.full_note
    assert [seen.measured for seen in row.seen] == measured


@pytest.mark.parametrize(
    ("holds", "verdict", "words"),
    [
        ([True, True, True], "match", ""),
        ([False, False, False], "differs", ""),
        ([True, True, False], "unjudged", "match with 2 of 3 seeds"),
        ([False, True, False], "unjudged", "differs with 2 of 3 seeds"),
    ],
)
def test_a_statement_has_a_verdict_where_all_seeds_agree(holds, verdict, words):
    row = _over(*(_row(_shape(holds=one), None) for one in holds))
    assert (row.verdict, words in row.full_note) == (verdict, True)


def test_arithmetic_and_an_exhibit_with_seeds_of_its_own_take_one():
    assert _over(_row(Exact(), 10.0), takes_one=True).verdict == "match"


def test_the_interval_is_over_seeds_and_not_that_of_a_run():
    narrow = [_row(Exact(), value, interval=Interval(value - 0.01, value + 0.01)) for value in (8.0, 10.0, 12.0)]
    row = _over(*narrow)
    assert "no interval" not in _over(*(_row(Exact(), value, why="20 values") for value in (8.0, 10.0, 12.0))).full_note
    assert row.measured == 10.0
    assert (round(row.interval.low, 3), round(row.interval.high, 3)) == (5.032, 14.968)
    ratio = _over(*(_row(Gain(), value) for value in (5.0, 10.0, 20.0)))
    assert math.isclose(ratio.measured, 10.0), "ratios have a geometric mean"
    assert math.isclose(ratio.interval.low * ratio.interval.high, 100.0)


def test_an_event_that_no_seed_saw_is_judged_by_the_interval_of_its_count():
    unseen = [_row(Factor(), 0.0, 1e-9, Interval(0.0, 1.5e-9)) for _ in range(3)]
    row = _over(*unseen)
    assert (row.verdict, row.interval) == ("unjudged", Interval(0.0, 1.5e-9))
    assert "no event occurred" in row.full_note
    assert _over(*[_row(Factor(), 0.5, 10.0, Interval(0.0, 20.0))] * 3).interval is None, "a number is no count"


def test_shares_of_what_finished_are_of_all_seeds():
    of = [Share("LG", 90, 100), Share("LG", 100, 100), Share("LG", 99, 100)]
    row = _over(*(_row(Exact(), 10.0, completed=[share]) for share in of))
    assert list(row.completed) == [Share("LG", 289, 300)]
    assert row.verdict == "match", "96 % of all"


def test_the_worst_row_of_a_statement_is_found_after_the_seeds_are_together():
    def rows(first, second):
        judge = OneOf(Exact(), "steady", lambda quotient: abs(quotient - 1.0))
        return [Row("PD", x, "m", "", value, 1.0, judge=judge) for x, value in (("a", first), ("b", second))]

    found = [(1, rows(1.3, 1.0)), (2, rows(1.29, 1.35)), (3, rows(1.31, 1.0))]
    verdicts = [row.verdict for row in counted_once(over_seeds(found, takes_one=False))]
    assert verdicts == ["differs", "unjudged"], "b is further off with the second seed alone"


class _OfSeeds(Exhibit):
    """The measured value is the seed itself, through the fake simulator."""

    def points(self, context):
        self.seed = context.seed
        yield Point("p", {"messages": 10})

    def rows(self, runs, context):
        yield Row("fake", "", "seed", "", float(self.seed), 8.0, judge=Factor())
        yield Row("fake", "", "constant", "", 0.5, 0.5, judge=Exact())


class _WithOwn(Replicated):
    def points(self, context):
        return self.replicated(4, {"case": {"messages": 10}}, keep=())

    def rows(self, runs, context):
        yield Row("fake", "", "runs", "", float(len(self.each(runs, "case"))), 4.0, judge=Exact())


class _Both(Parts):
    parts = (_WithOwn, _OfSeeds)


class _Arithmetic(Exhibit):
    def rows(self, runs, context):
        yield Row("fake", "", "sum", "", 2.0, 2.0, judge=Exact())


def _results(make, **more):
    return next(Campaign([Entry("demo/seeds", "Seeds", headline=False, make=make)], **more).results())


@pytest.mark.parametrize(
    ("make", "seeds", "runs", "verdicts"),
    [
        (_OfSeeds, 1, 1, ["unjudged", "unjudged"]),
        (_OfSeeds, 3, 3, ["within", "match"]),
        (_OfSeeds, None, 3, ["within", "match"]),
        (_WithOwn, 1, 4, ["match"]),
        (_WithOwn, None, 4, ["match"]),
        (_WithOwn, 3, 12, ["match"]),
        (_Both, None, 15, ["match", "within", "match"]),
        (_Arithmetic, 5, 0, ["match"]),
    ],
)
def test_a_campaign_runs_an_exhibit_with_the_seeds_that_it_takes(make, seeds, runs, verdicts):
    result = _results(make, seed=7, seeds=seeds, effort="quick")
    assert (result.complete, len(result.tasks)) == (True, runs)
    assert [row.verdict for row in result.rows] == verdicts


def test_rows_of_a_campaign_tell_each_seed():
    result = _results(_OfSeeds, seed=7, seeds=3)
    document = json.loads(json.dumps(result.as_json()))
    moved, constant = document["rows"]
    assert document["seeds"] == [7, 8, 9]
    assert [(each["seed"], each["measured"], each["verdict"]) for each in moved["seeds"]] == [
        (7, 7.0, "within"),
        (8, 8.0, "within"),
        (9, 9.0, "within"),
    ]
    assert (moved["measured"], moved["ci_low"] < 7.0, moved["ci_high"] > 9.0) == (8.0, True, True)
    assert (constant["ci_low"], constant["note"]) == (None, "no interval: seeds change nothing here")


def test_a_quick_run_that_takes_long_has_one_seed_and_a_full_one_five():
    assert [usual("lg/fig10", "quick"), usual("pd/fig5", "quick")] == [3, 1]
    assert [usual("pd/fig5", "normal"), usual("pd/fig5", "full")] == [3, 5]
