"""Verdicts as tables: a rule, a measurement, the paper's number, and the verdict."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitless.analysis import Interval
from hitless_papers import (
    Exact,
    Factor,
    Gain,
    Range,
    Row,
    Shape,
    Share,
    Unjudged,
    above_one,
    at_most,
    close,
    falling,
    rising,
)
from hitless_papers.judge import VERDICTS
from hitless_papers.statements import counted_once

TWO_TO_FOUR = Range(2.0, 4.0)


def said(judge, measured, paper, interval=None):
    return judge.judge(measured, paper, Interval(*interval) if interval else None).verdict


@pytest.mark.parametrize(
    ("judge", "measured", "interval", "paper", "verdict"),
    [
        (Exact(), 92.0, None, 92.0, "match"),
        (Exact(), 93.8, None, 92.0, "match"),
        (Exact(), 94.0, None, 92.0, "differs"),
        # pd/fig5: 77.5 does not match 100, regardless of its interval
        (Exact(), 94.0, (93.0, 95.0), 92.0, "unjudged"),  # the allowed range is 90.16 to 93.84
        (Exact(), 77.5, (55.0, 100.0), 100.0, "unjudged"),
        (Exact(), 93.0, (91.0, 95.0), 92.0, "match"),
        (Exact(), 94.0, (93.9, 95.0), 92.0, "differs"),
        (Exact(), 92.0, (80.0, 104.0), 92.0, "unjudged"),  # every possible result of the runs would agree
        (Exact(better="higher"), 94.0, None, 92.0, "beyond"),
        (Exact(better="lower"), 94.0, None, 92.0, "differs"),
        (Exact(), 0.0, None, 0.0, "match"),
        (Exact(), 1.0, (0.0, 2.0), 0.0, "differs"),
        (Exact(), -92.0, None, 92.0, "differs"),
        (Exact(), 3.1, None, TWO_TO_FOUR, "match"),
        (Exact(), 4.1, None, TWO_TO_FOUR, "differs"),
        (Exact(0.0), 9.0, None, Range(high=10.0), "match"),  # an open end does not add slack either
        (Exact(0.0), 11.0, None, Range(high=10.0), "differs"),
        (Exact(), None, None, 92.0, "unjudged"),
        (Exact(), math.nan, None, 92.0, "unjudged"),
        (Exact(), 92.0, None, None, "unjudged"),
        # lg/tab4: a rule of factors only requires a number within a factor of two
        (Factor(), 51.0, None, 51.0, "within"),
        (Factor(), 0.665, None, 0.45, "within"),
        (Factor(), 25.5, None, 51.0, "within"),
        (Factor(), 102.0, None, 51.0, "within"),
        (Factor(), 25.0, None, 51.0, "differs"),
        (Factor(), 25.0, (24.0, 26.0), 51.0, "unjudged"),
        (Factor(), 103.0, None, 51.0, "differs"),
        (Factor(), 51.0, (10.0, 400.0), 51.0, "unjudged"),
        # lg/fig14 at 25G and pd/fig5: far better than published does not match
        (Factor(better="lower"), 1.5, None, 60.0, "beyond"),
        (Factor(), 1.5, None, 60.0, "differs"),
        (Factor(better="higher"), 2_234.0, (2_200.0, 2_300.0), 425.0, "beyond"),
        (Factor(better="higher"), 10.0, None, 51.0, "differs"),
        (Factor(better="lower"), 50.0, None, Range(high=60.0), "match"),
        # rimm/tab1: 609 is not more than 1,000
        (Factor(), 609.0, (562.0, 754.0), Range(low=1_000.0), "differs"),
        (Factor(), 980.0, (900.0, 1_060.0), Range(low=1_000.0), "unjudged"),
        (Factor(), 1_450.0, (1_400.0, 1_500.0), Range(low=1_000.0), "match"),
        (Factor(), 70.0, None, Range(high=60.0), "differs"),
        (Exact(0.1), 10.5, None, Range(high=10.0), "differs"),
        (Gain(), 16.8, (13.5, 22.3), Range(low=1_000 / 150), "match"),
        (Gain(), 4.0, (3.9, 4.1), Range(low=1_000 / 150), "differs"),
        (Factor(), None, None, 51.0, "unjudged"),
        (Factor(), 51.0, None, None, "unjudged"),
        # rimm/fig7 and afq/fig7: a vanished gain does not match
        (Gain(), 1.02, (1.01, 1.03), 423.05 / 290.07, "differs"),
        (Gain(), 1.10, (1.08, 1.12), 2.0, "differs"),
        (Gain(), 1.46, None, 1.46, "within"),
        (Gain(), 1.21, None, 1.46, "within"),
        (Gain(), 1.35, (1.26, 1.43), 2.0, "unjudged"),  # the allowed range is 1.41 to 4
        (Gain(), 1.59, (1.33, 1.75), 2.5, "within"),
        (Gain(), 2.14, None, 1.46, "differs"),
        (Gain(), 1.99, (1.94, 2.04), TWO_TO_FOUR, "within"),
        (Gain(), 1.30, (1.25, 1.35), TWO_TO_FOUR, "differs"),
        (Gain(), 22.6, None, 51.0, "differs"),  # the logarithm alone would allow it
        (Gain(), 26.0, None, 51.0, "within"),
        (Gain(), 0.9, (0.7, 1.1), 1.2, "unjudged"),  # both schemes can win
        (Gain(), 0.9, (0.85, 0.95), 1.2, "differs"),
        (Gain(), 0.6, None, 0.69, "within"),
        (Gain(), 1.3, (0.9, 1.6), 1.2, "unjudged"),
        (Gain(), 0.9, None, 0.69, "differs"),
        (Gain(), 1.1, None, 0.69, "differs"),
        (Gain(), 2_510.0, (839.0, 2_547.0), Range(1_000.0, 10_000.0), "within"),
        # exceeding the paper counts as "beyond" only for its own scheme
        (Gain(better="higher"), 3.3, (3.0, 3.7), 1.45, "beyond"),
        (Gain(), 3.3, (3.0, 3.7), 1.45, "differs"),
        # a rare event that never occurred is judged only if its interval excludes the paper
        (Factor(), 0.0, (0.0, 3e-9), 1e-9, "unjudged"),
        (Factor(), 0.0, (0.0, 1e-11), 1e-9, "differs"),
        (Shape(holds=True, statement="A below B"), None, None, None, "match"),
        (Shape(holds=False, statement="A below B"), None, None, None, "differs"),
        # an interval decides whether a ratio is above one, and whether a share is small; rimm/fig7: 1.0008 is certainly
        # above 1, but not a gain
        (above_one("larger"), 1.0008, (1.0005, 1.001), None, "differs"),
        (above_one("larger"), 1.08, (1.01, 1.15), None, "unjudged"),
        (above_one("larger"), 1.2, (1.01, 1.4), None, "match"),
        (above_one("larger"), 2.0, (1.2, 3.0), None, "match"),
        (above_one("larger", apart=0.0), 1.01, (1.005, 1.015), None, "match"),
        (above_one("larger"), 1.0, (0.9, 1.2), None, "unjudged"),
        (above_one("larger"), 1.05, (1.0, 1.1), None, "unjudged"),
        (above_one("larger"), 1.0, (0.98, 1.05), None, "differs"),
        (above_one("larger"), 1.0, (0.5, 0.9), None, "differs"),
        (at_most(0.25, "small"), 0.25, (0.0, 0.25), None, "match"),
        (at_most(0.25, "small"), 0.25, (0.2, 0.3), None, "unjudged"),
        (at_most(0.25, "small"), 0.25, (0.26, 0.3), None, "differs"),
    ],
)
def test_a_rule_and_what_it_says(judge, measured, interval, paper, verdict):
    assert said(judge, measured, paper, interval) == verdict


@given(st.floats(1.001, 1e6), st.floats(1e-3, 1e6))
def test_no_gain_is_allowed_for_the_other_winner_or_beyond_a_factor_of_two(paper, measured):
    assert said(Gain(), measured, paper) != "match", "a rule of factors tells no more than a factor"
    if said(Gain(), measured, paper) == "within":
        assert measured > 1.0
        assert paper / 2 * (1 - 1e-9) <= measured <= paper * 2 * (1 + 1e-9)
        assert math.log(measured) / math.log(paper) == pytest.approx(1.25, abs=0.7501)


@given(st.floats(1.001, 1e6), st.floats(1e-3, 1e6))
def test_a_ratio_and_its_inverse_have_one_verdict(paper, measured):
    rounding = 1 + 1e-9
    inside, outside = said(Gain(), measured * rounding, paper), said(Gain(), measured / rounding, paper)
    assert said(Gain(), 1 / measured, 1 / paper) in {inside, outside}


@pytest.mark.parametrize("judge", [Exact(), Factor(), Gain()])
@given(paper=st.floats(1.1, 1e3), measured=st.floats(0.1, 1e4), width=st.floats(0.0, 0.2))
def test_every_rule_can_fail_and_no_interval_makes_a_number_agree(judge, paper, measured, width):
    alone = said(judge, measured, paper)
    with_interval = said(judge, measured, paper, (measured * (1 - width), measured * (1 + width)))
    assert alone in {"match", "within", "differs"}
    assert with_interval in {alone, "unjudged"}


@pytest.mark.parametrize("paper", [1.0, Range(0.9, 1.1)])
def test_a_ratio_of_one_has_no_winner_to_judge(paper):
    with pytest.raises(ValueError, match="no winner"):
        Gain().judge(1.0, paper, None)


def test_unjudged_says_why():
    judgement = Unjudged("a calibration").judge(1.0, 1.0, None)
    assert (judgement.verdict, judgement.reason) == ("unjudged", "a calibration")


@pytest.mark.parametrize(
    ("shares", "verdict", "words"),
    [
        ((Share("AFQ", 100, 100), Share("DCTCP", 96, 100)), "within", "DCTCP: 96 % of 100 flows finished"),
        (
            (Share("AFQ", 94, 100), Share("DCTCP", 100, 100)),
            "unjudged",
            "not judged: fewer than 95% of the flows finished: AFQ",
        ),
        ((Share("AFQ", 0, 0, "queries"),), "unjudged", "AFQ: 0 of 0 queries"),
        ((Share("AFQ", 9_499, 10_000),), "unjudged", "94.9 %"),
    ],
)
def test_a_number_that_leaves_out_what_did_not_finish_is_not_judged(shares, verdict, words):
    row = Row("AFQ", "", "mean FCT", "us", 10.0, 10.0, judge=Factor(), completed=shares)
    assert row.verdict == verdict
    assert words in row.full_note


def test_a_statement_is_judged_once():
    rows = [Row("A", str(x), "m", "", float(x), judge=Shape(holds=True, statement="A below B")) for x in range(3)]
    assert [row.verdict for row in counted_once(rows)] == ["match", "unjudged", "unjudged"]
    other = [*rows, Row("A", "3", "m", "", 3.0, judge=Shape(holds=True, statement="B below C"))]
    assert [row.verdict for row in counted_once(other)] == ["match", "unjudged", "unjudged", "match"]


@pytest.mark.parametrize(
    ("holds", "expected"),
    [
        (rising([1, 2, 2, 3]), True),
        (rising([1, 2, 1.9]), False),
        (rising([1, 2, 1.9], slack=0.1), True),
        (falling([3, 2, 1]), True),
        (falling([3, 2, 2.1]), False),
        (close(9.5, 9.47, slack=0.01), True),
        (close(9.7, 9.47, slack=0.01), False),
    ],
)
def test_predicates(holds, expected):
    assert holds is expected


def test_a_row_as_json_has_the_fields_that_programs_read():
    row = Row(
        "LG",
        "100G 1e-3",
        "p99.9 FCT",
        "us",
        10.0,
        12.0,
        interval=Interval(9.0, float("inf")),
        judge=Factor(),
        note="a note",
    )
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
        "verdict": "within",
        "note": "a note; 100 trials instead of 1,000",
    }


@pytest.mark.parametrize(
    ("paper", "text"),
    [(TWO_TO_FOUR, "2 to 4"), (Range(low=1_000.0), "over 1,000"), (Range(high=60.0), "at most 60"), (None, None)],
)
def test_a_range_of_the_paper_is_text(paper, text):
    assert Row("A", "", "m", "", 3.0, paper).as_json()["paper"] == text


def test_every_judge_says_its_rule():
    assert Exact().rule == "within 2% of the paper"
    assert Factor().rule == "within a factor of 2 of the paper"
    assert Gain().rule.startswith("the same winner: within a factor of 2")
    assert Row("A", "", "m", "", None, judge=Shape(holds=True, statement="A below B")).as_json()["note"] == "A below B"
    assert set(VERDICTS) == {"match", "within", "beyond", "differs", "unjudged"}
