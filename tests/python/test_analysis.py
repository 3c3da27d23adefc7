"""Percentiles and intervals compared with exact sums, with published tables, and with their definition by coverage."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest
import scipy.special  # noqa: F401 - imported here, and not in the time of the first test
from hypothesis import given
from hypothesis import strategies as st

from hitless.analysis import (
    Interval,
    bootstrap_interval,
    cdf,
    mean_interval,
    percentile,
    percentile_interval,
    percentile_ratio,
    poisson_interval,
    proportion_interval,
)
from hitless.analysis.distributions import binomial_cdf, chi_square_tail, poisson_limits, student_t_quantile

samples = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=200)
percents = st.floats(0.1, 100.0)


@given(st.integers(0, 40), st.integers(1, 40), st.fractions(0, 1, max_denominator=97))
def test_binomial_cdf_is_the_exact_sum(successes, trials, share):
    exact = sum(
        Fraction(math.comb(trials, k)) * share**k * (1 - share) ** (trials - k)
        for k in range(min(successes, trials) + 1)
    )
    assert binomial_cdf(successes, trials, float(share)) == pytest.approx(float(exact), abs=1e-12)


def _poisson_below(count, mean):
    """Return the probability of fewer than ``count``."""
    return math.fsum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(count))


@given(st.integers(1, 60), st.floats(0.001, 0.499))
def test_poisson_limits_are_where_the_tails_are_so_heavy(count, tail):
    low, high = poisson_limits(count, tail)
    assert 1.0 - _poisson_below(count, low) == pytest.approx(tail, abs=1e-11)
    assert _poisson_below(count + 1, high) == pytest.approx(tail, abs=1e-11)


@given(st.integers(1, 30), st.floats(0.001, 100.0))
def test_chi_square_tail_of_even_degrees_is_a_poisson_sum(half, distance):
    assert chi_square_tail(distance, 2 * half) == pytest.approx(_poisson_below(half, distance / 2.0), abs=1e-11)


# Cornish and Fisher's expansion of the gamma quantiles; its error at such counts is far below a billionth.
@pytest.mark.parametrize("count", [10**8, 10**11, 10**13])
def test_poisson_intervals_of_very_large_counts_are_right_and_quick(count):
    poisson_interval(1)  # scipy is installed
    began_s = time.perf_counter()
    interval = poisson_interval(count)
    assert time.perf_counter() - began_s < 0.01
    z = 1.959963984540054
    for limit, shape, side in ((interval.low, count, -z), (interval.high, count + 1, z)):
        expected = shape + side * math.sqrt(shape) + (side**2 - 1) / 3 + (side**3 - 7 * side) / (36 * math.sqrt(shape))
        assert (limit - shape) / math.sqrt(shape) == pytest.approx((expected - shape) / math.sqrt(shape), abs=1e-7)


# Garwood's limits in every table of exact Poisson intervals.
@pytest.mark.parametrize(
    ("count", "low", "high"), [(0, 0.0, 3.689), (1, 0.0253, 5.572), (10, 4.795, 18.390), (100, 81.364, 121.627)]
)
def test_poisson_interval_as_tabulated(count, low, high):
    interval = poisson_interval(count)
    assert interval.low == pytest.approx(low, abs=5e-4)
    assert interval.high == pytest.approx(high, abs=5e-4)


def test_poisson_interval_of_a_rate():
    assert poisson_interval(10, exposure=1e9).high == pytest.approx(18.390e-9, rel=1e-4)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(0, 10, 0.0, 0.3085), (1, 10, 0.0025, 0.4450), (5, 10, 0.1871, 0.8129), (10, 10, 0.6915, 1.0)],
)
def test_proportion_interval_as_tabulated(successes, trials, low, high):
    interval = proportion_interval(successes, trials)
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


def test_proportion_interval_of_very_many_trials():
    interval = proportion_interval(100, 1_000_000_000)
    poisson = poisson_interval(100, exposure=1e9)
    assert interval.low == pytest.approx(poisson.low, rel=1e-4)
    assert interval.high == pytest.approx(poisson.high, rel=1e-4)


@pytest.mark.parametrize(("degrees", "quantile"), [(1, 12.706), (2, 4.303), (9, 2.262), (100, 1.984)])
def test_student_t_quantile_as_tabulated(degrees, quantile):
    assert student_t_quantile(0.975, degrees) == pytest.approx(quantile, abs=5e-4)


def test_mean_interval():
    interval = mean_interval([1.0, 2.0, 3.0])
    assert interval.low == pytest.approx(2.0 - 4.303 / math.sqrt(3), abs=1e-3)
    assert 2.0 in interval


@given(samples, percents)
def test_percentile_is_the_smallest_value_that_enough_do_not_exceed(sample, percent):
    value = percentile(sample, percent)
    needed = percent / 100 * len(sample)
    assert value in sample
    assert sum(other <= value for other in sample) >= needed - 1e-6
    assert sum(other < value for other in sample) < needed + 1e-6


@pytest.mark.parametrize(("percent", "value"), [(50, 500), (99, 990), (99.9, 999), (100, 1000), (0.1, 1), (1e-9, 1)])
def test_percentile_of_the_first_thousand_numbers(percent, value):
    assert percentile(range(1, 1001), percent) == value


@given(samples, percents)
def test_percentile_interval_contains_the_percentile(sample, percent):
    assert percentile(sample, percent) in percentile_interval(sample, percent)


def test_percentile_interval_of_a_small_sample_is_open():
    assert percentile_interval(range(100), 99.9).high == math.inf
    assert percentile_interval(range(100), 0.1).low == -math.inf


def test_percentile_interval_covers_as_often_as_it_says():
    random = np.random.Generator(np.random.PCG64(7))
    hits = sum(0.9 in percentile_interval(random.random(200), 90.0) for _ in range(400))
    assert hits >= 0.95 * 400 - 3 * math.sqrt(400 * 0.95 * 0.05)


def test_percentile_ratio_of_two_samples():
    random = np.random.Generator(np.random.PCG64(3))
    ratio, interval = percentile_ratio(random.exponential(5.0, 50_000), random.exponential(1.0, 50_000), 99.0)
    assert ratio in interval
    assert 5.0 in interval
    assert interval.high - interval.low < 1.0


def test_bootstrap_interval_of_a_mean_agrees_with_student():
    sample = np.random.Generator(np.random.PCG64(5)).normal(10.0, 2.0, 400)
    bootstrap, student = bootstrap_interval(sample, lambda values: float(values.mean())), mean_interval(sample)
    assert bootstrap.low == pytest.approx(student.low, abs=0.05)
    assert bootstrap.high == pytest.approx(student.high, abs=0.05)
    assert bootstrap == bootstrap_interval(sample, lambda values: float(values.mean()))


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=3000))
def test_cdf_rises_to_one_and_keeps_the_extremes(sample):
    values, shares = cdf(sample, points_max=100)
    assert len(values) <= max(100, 1)
    assert values == sorted(values)
    assert shares == sorted(shares)
    assert (values[0], values[-1], shares[-1]) == (min(sample), max(sample), 1.0)


def test_interval_scales():
    assert Interval(1.0, 2.0).scaled(100.0) == Interval(100.0, 200.0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: percentile([], 50),
        lambda: percentile([1.0], 0.0),
        lambda: percentile([1.0], 101.0),
        lambda: poisson_interval(-1),
        lambda: poisson_interval(1, confidence=1.0),
        lambda: proportion_interval(2, 1),
        lambda: mean_interval([1.0]),
    ],
)
def test_senseless_questions_are_refused(wrong):
    with pytest.raises(ValueError, match=r"\w"):
        wrong()
