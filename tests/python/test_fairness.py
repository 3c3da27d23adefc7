"""Jain's index compared with its definition, and over time with manual sums."""

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitless.analysis import fairness_over_time, jain_index


@pytest.mark.parametrize(
    ("shares", "index"),
    [([1.0], 1.0), ([3.0, 3.0, 3.0], 1.0), ([5.0, 0.0, 0.0, 0.0], 0.25), ([1.0, 3.0], 0.8), ([1e9, 3e9], 0.8)],
)
def test_the_index_of_shares_that_can_be_reckoned(shares, index):
    assert jain_index(shares) == pytest.approx(index)


def test_nobody_has_anything():
    assert math.isnan(jain_index([]))
    assert math.isnan(jain_index([0.0, 0.0]))


@given(st.lists(st.floats(0.001, 1e9), min_size=1, max_size=50), st.floats(0.01, 100.0))
def test_the_index_lies_between_one_flow_and_all_and_has_no_unit(shares, unit):
    index = jain_index(shares)
    assert 1.0 / len(shares) - 1e-9 <= index <= 1.0 + 1e-9
    assert jain_index([share * unit for share in shares]) == pytest.approx(index)


def _progress(*rows: tuple[int, str, int, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["time_ps", "group", "flow", "delivered_bytes"], orient="row")


def test_each_interval_has_the_flows_that_were_under_way_at_both_of_its_ends():
    progress = _progress(
        (10, "long", 0, 100),
        (10, "long", 1, 0),
        (10, "other", 9, 0),
        (20, "long", 0, 200),
        (20, "long", 1, 100),
        (20, "long", 2, 700),
        (20, "other", 9, 5_000),
        (30, "long", 0, 500),
        (30, "long", 1, 200),
        (30, "long", 2, 1_100),
        (40, "long", 2, 1_500),
        (50, "long", 2, 1_500),
    )
    found = fairness_over_time(progress, "long")
    assert found["time_ps"].to_list() == [20, 30]
    assert found["flows"].to_list() == [2, 3]
    assert found["jain"].to_list() == pytest.approx([1.0, 64 / (3 * 26)])
    assert fairness_over_time(progress, "nobody").is_empty()


def test_counters_without_sign_may_stand_still():
    unsigned = _progress((10, "a", 0, 7), (10, "a", 1, 7), (20, "a", 0, 7), (20, "a", 1, 9)).cast(
        {"delivered_bytes": pl.UInt64}
    )
    assert fairness_over_time(unsigned, "a")["jain"].to_list() == [0.5]
