"""Uncertainty of numbers: over seeds, of values within a run, and of percentiles of few values."""

import math

import numpy as np
import pytest

from hitless.analysis import (
    enough_for,
    mean_in_order,
    mean_interval,
    mean_over_seeds,
    paired_difference,
    paired_ratio,
    percentile_in_order,
    percentile_interval,
    percentile_ratio_in_order,
)
from hitless.analysis.seeds import SEEDS_CHANGE_NOTHING, ratio_over_seeds, statistic_over_seeds
from hitless.analysis.serial import repeats, statistic_in_order
from hitless_papers.estimates import mean_in_run, mean_of, percentile_of, ratio_of


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([], "no seed"),
        ([0.5], "one seed"),
        ([0.5, 0.6], "2 seeds, and an interval takes 3"),
        ([0.50828] * 5, SEEDS_CHANGE_NOTHING),
        ([0.50828] * 2, SEEDS_CHANGE_NOTHING),
        ([0.0] * 5, ""),  # counts can be equal
        ([7.0] * 3, ""),
    ],
)
def test_seeds_that_are_few_or_change_nothing_give_no_interval(values, why):
    assert mean_over_seeds(values) == statistic_over_seeds(values, np.median)
    assert (mean_over_seeds(values).interval, mean_over_seeds(values).why) == (None, why)


def test_three_seeds_that_differ_in_the_last_bit_have_an_interval():
    values = [0.5, 0.5, math.nextafter(0.5, 1.0)]
    assert 0.5 in mean_over_seeds(values).interval
    assert ratio_over_seeds([1.0, 2.0, 4.0]).interval.low < 2.0 < ratio_over_seeds([1.0, 2.0, 4.0]).interval.high
    assert ratio_over_seeds([1.5] * 3).why == SEEDS_CHANGE_NOTHING


@pytest.mark.parametrize("values", [[1.0], [1.0, 2.0], [0.5, 0.5, 0.5]])
def test_an_interval_of_a_mean_is_refused_where_there_is_none(values):
    with pytest.raises(ValueError, match="interval"):
        mean_interval(values)


def test_pairs_that_are_few_or_equally_far_apart_have_no_interval():
    for found in (
        paired_ratio([1.0, 2.0], [1.1, 2.3]),
        paired_difference([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]),
        paired_ratio([1.0, 1.0, 1.0], [1.5, 1.5, 1.5]),
    ):
        assert found.interval is None
        assert not found.is_significant


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([3.25] * 200, "1 distinct value among 200: the run repeats itself"),
        ([float(number % 63) + 0.5 for number in range(3_200)], "63 distinct values among 3,200"),
        ([1.5, 1.5], "1 distinct value among 2"),
        ([float(number % 160) for number in range(3_200)], ""),
        ([1.5, 2.5], ""),
        ([1.5], ""),
        ([], ""),
    ],
)
def test_a_run_that_repeats_itself_says_how_many_values_are_distinct(values, words):
    assert words in repeats(values)
    assert bool(words) == bool(repeats(values))


def test_200_identical_queries_are_not_200_samples():
    queries = [3.25] * 200
    for found in (
        mean_in_order(queries),
        percentile_in_order(queries, 50),
        percentile_ratio_in_order(queries, queries, 50),
        statistic_in_order(queries, np.std),
    ):
        assert found.interval is None
        assert "1 distinct value among 200" in found.why
    assert mean_in_run(queries).value == 3.25
    assert "no interval: 1 distinct value" in mean_in_run(queries).row("s", "x", "m").full_note


def _process(random, dependence, size):
    """A stationary normal process of order 1 with mean 0 and variance 1."""
    steps = random.normal(size=size) * math.sqrt(1.0 - dependence**2)
    values, value = np.empty(size), random.normal()
    for place, step in enumerate(steps):
        value = dependence * value + step
        values[place] = value
    return values


@pytest.mark.parametrize("dependence", [0.0, 0.9])
def test_intervals_of_values_that_depend_on_each_other_cover_as_often_as_they_say(dependence):
    random, hits, independent = np.random.default_rng(5), {"mean": 0, "median": 0, "ratio": 0}, 0
    for _ in range(200):
        values, others = (10.0 + _process(random, dependence, 2_000) for _ in range(2))
        mean, median = mean_in_order(values).interval, percentile_in_order(values, 50).interval
        ratio = percentile_ratio_in_order(values, others, 50, resamples=400).interval
        hits["mean"] += mean is None or 10.0 in mean
        hits["median"] += median is None or 10.0 in median
        hits["ratio"] += ratio is None or 1.0 in ratio
        independent += 10.0 in percentile_interval(values, 50)
    assert min(hits.values()) >= 180, hits
    assert dependence == 0.0 or independent < 120, "these are worth a fraction of independent values"


@pytest.mark.parametrize(
    ("values", "percent", "words"),
    [
        (np.random.default_rng(1).random(99), 50, "99 values of one run: an interval takes 100"),
        (np.random.default_rng(1).random(999), 99, "9.99 of 999 values lie beyond p99: an interval takes 10"),
        (np.random.default_rng(1).random(999), 1, "9.99 of 999 values lie beyond p1"),
        (np.arange(1_000.0), 50, "values correlate from batch to batch"),
        (np.random.default_rng(1).random(1_000), 99, ""),
    ],
)
def test_a_run_that_cannot_tell_says_why(values, percent, words):
    found = percentile_in_order(values, percent)
    assert (found.interval is None) == bool(words)
    assert words in found.why


@pytest.mark.parametrize(
    ("percent", "count", "enough"),
    [(99, 27, False), (99, 99, False), (99, 100, True), (50, 1, False), (50, 2, True), (1, 99, False), (100, 9, False)],
)
def test_a_percentile_of_few_values_is_their_largest_and_no_number(percent, count, enough):
    values = np.random.default_rng(2).random(count)
    found, ratio = percentile_of(values, percent), ratio_of(values, np.ones(5_000), percent)
    assert enough_for(percent, count) is enough
    assert (found.value is not None) is (ratio.value is not None) is enough
    assert found.interval is None
    assert enough or f"p{percent} of {count} values is merely their extreme value" in found.row("s", "x", "m").full_note


def test_a_mean_of_seeds_says_why_it_has_no_interval():
    assert mean_of([0.50828] * 5).row("s", "x", "m").full_note == f"no interval: {SEEDS_CHANGE_NOTHING}"
    assert mean_of([1.0, 2.0, 3.0]).row("s", "x", "m").full_note == ""
