"""Verdicts, as tables."""

import pytest

from hitless.analysis import Interval
from hitless.exhibits import Exact, Factor, Row, Shape, Unjudged, above_one, at_most, close, falling, flat, rising


@pytest.mark.parametrize(
    ("measured", "paper", "verdict"),
    [
        (92.0, 92.0, "match"),
        (93.8, 92.0, "match"),
        (94.0, 92.0, "differs"),
        (0.0, 0.0, "match"),
        (1.0, 0.0, "differs"),
        (-92.0, 92.0, "differs"),
        (None, 92.0, "unjudged"),
        (92.0, None, "unjudged"),
    ],
)
def test_exact(measured, paper, verdict):
    assert Exact().verdict(measured, paper, None) == verdict


@pytest.mark.parametrize(
    ("judge", "measured", "paper", "verdict"),
    [
        (Factor(), 51.0, 51.0, "match"),
        (Factor(), 25.5, 51.0, "match"),
        (Factor(), 102.0, 51.0, "match"),
        (Factor(), 25.0, 51.0, "differs"),
        (Factor(), 103.0, 51.0, "differs"),
        (Factor(3.0), 150.0, 51.0, "match"),
        (Factor(better="higher"), 500.0, 51.0, "match"),
        (Factor(better="higher"), 10.0, 51.0, "differs"),
        (Factor(better="lower"), 0.0, 51.0, "match"),
        (Factor(winner_above=1.0), 0.9, 1.2, "differs"),
        (Factor(winner_above=1.0), 1.1, 1.2, "match"),
        (Factor(), 0.0, 0.0, "match"),
        (Factor(), None, 51.0, "unjudged"),
        (Factor(), 51.0, None, "unjudged"),
    ],
)
def test_factor(judge, measured, paper, verdict):
    assert judge.verdict(measured, paper, None) == verdict


@pytest.mark.parametrize(
    ("measured", "low", "high", "verdict"),
    [
        (1.1, 1.05, 1.15, "match"),
        (1.1, 0.95, 1.3, "unjudged"),
        (1.1, 1.0, 1.3, "unjudged"),
        (0.9, 0.7, 1.1, "differs"),
        (3.0, 0.9, 5.0, "differs"),
    ],
)
def test_who_wins_must_be_seen_for_a_match(measured, low, high, verdict):
    assert Factor(winner_above=1.0).verdict(measured, 1.2, Interval(low, high)) == verdict


@pytest.mark.parametrize(("high", "verdict"), [(3e-9, "unjudged"), (1e-11, "differs")])
def test_a_rare_event_never_seen_is_judged_only_when_its_interval_excludes_the_paper(high, verdict):
    assert Factor(3.0).verdict(0.0, 1e-9, Interval(0.0, high)) == verdict


@pytest.mark.parametrize(("holds", "verdict"), [(True, "match"), (False, "differs")])
def test_shape(holds, verdict):
    assert Shape(holds, "A below B").verdict(None, None, None) == verdict


def test_unjudged_never_judges():
    assert Unjudged().verdict(1.0, 1.0, None) == "unjudged"


@pytest.mark.parametrize(
    ("holds", "expected"),
    [
        (rising([1, 2, 2, 3]), True),
        (rising([1, 2, 1.9]), False),
        (rising([1, 2, 1.9], slack=0.1), True),
        (falling([3, 2, 1]), True),
        (falling([3, 2, 2.1]), False),
        (flat([9.47, 9.46, 9.2], slack=0.05), True),
        (flat([9.47, 1.46], slack=0.05), False),
        (close(9.5, 9.47, slack=0.01), True),
        (close(9.7, 9.47, slack=0.01), False),
    ],
)
def test_predicates(holds, expected):
    assert holds is expected


def test_a_row_as_json_has_the_fields_that_programs_read():
    row = Row("LG", "100G 1e-3", "p99.9 FCT", "us", 10.0, 12.0, Interval(9.0, float("inf")), Factor(), "a note")
    assert row.as_json(["100 trials instead of 1,000"]) == {
        "series": "LG",
        "x": "100G 1e-3",
        "metric": "p99.9 FCT",
        "unit": "us",
        "paper": 12.0,
        "measured": 10.0,
        "ci_low": 9.0,
        "ci_high": None,
        "judge": "factor",
        "verdict": "match",
        "note": "a note; 100 trials instead of 1,000",
    }


def test_every_judge_says_its_rule():
    assert Exact().rule == "within 2% of the paper"
    assert Factor(better="lower", winner_above=1.0).rule == (
        "within a factor of 2 of the paper, or lower, on the same side of 1, with all of the interval"
    )
    assert Row("A", "", "m", "", None, judge=Shape(holds=True, statement="A below B")).as_json()["note"] == "A below B"


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.01, 1.02, "match"),
        (1.2, 3.0, "match"),
        (0.9, 1.2, "unjudged"),
        (1.0, 1.1, "unjudged"),
        (0.98, 1.05, "differs"),
        (0.5, 0.9, "differs"),
    ],
)
def test_an_interval_decides_whether_a_ratio_is_above_one(low, high, verdict):
    assert above_one(Interval(low, high), "larger").verdict(None, None, None) == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.0, 0.25, "match"), (0.2, 0.3, "unjudged"), (0.26, 0.3, "differs")]
)
def test_an_interval_decides_whether_a_share_is_small(low, high, verdict):
    assert at_most(Interval(low, high), 0.25, "small").verdict(None, None, None) == verdict
