"""Percentiles and intervals compared with exact sums, with published tables, and with their definition by coverage."""

import math
import time
import tomllib
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
import scipy.special  # noqa: F401 - imported here, and not in the time of the first test
from hypothesis import given
from hypothesis import strategies as st

from hitless import setting_paths
from hitless.analysis import (
    Interval,
    bootstrap_interval,
    cdf,
    chi_square_p_value,
    fairness_over_time,
    jain_index,
    mean_interval,
    paired_difference,
    paired_ratio,
    percentile,
    percentile_interval,
    percentile_ratio,
    poisson_interval,
    proportion_interval,
)
from hitless.analysis.distributions import binomial_cdf, chi_square_tail, poisson_limits, student_t_quantile
from hitless.errors import BadInput

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


@pytest.mark.parametrize(
    ("counts", "expected", "p_value"),
    [
        # Two cells: the square of a normal variable, which exceeds 3.841 once in 20 times (any table).
        ([50, 50], None, 1.0),
        ([60, 40], None, math.erfc(math.sqrt(4.0 / 2.0))),
        # Two degrees of freedom: exp(-x/2).
        ([30, 20, 10], None, math.exp(-5.0)),
        ([30, 20, 10], [3, 2, 1], 1.0),
        # Mendel's peas, 9:3:3:1: 0.470 with three degrees, p about 0.925.
        ([315, 108, 101, 32], [9, 3, 3, 1], 0.9254),
    ],
)
def test_known_values(counts, expected, p_value):
    assert chi_square_p_value(counts, expected) == pytest.approx(p_value, abs=1e-4)


def test_of_fair_dice_the_p_value_is_uniform():
    random = np.random.Generator(np.random.PCG64(7))
    values = [chi_square_p_value(random.multinomial(600, [1 / 6] * 6).tolist()) for _ in range(400)]
    assert 0.44 < float(np.mean(values)) < 0.56
    assert 0.05 < float(np.mean(np.array(values) < 0.1)) < 0.15


@pytest.mark.parametrize(("counts", "expected"), [([3], None), ([0, 0], None), ([1, 2], [1.0]), ([1, 2], [1.0, 0.0])])
def test_what_cannot_be_tested_is_refused(counts, expected):
    with pytest.raises(ValueError, match="chi-square"):
        chi_square_p_value(counts, expected)


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


def test_a_ratio_and_its_inverse_say_the_same():
    a, b = [10.0, 12.0, 9.0, 11.0], [21.0, 22.0, 20.0, 21.5]
    there, back = paired_ratio(a, b), paired_ratio(b, a)
    assert there.estimate * back.estimate == pytest.approx(1.0)
    assert there.interval.low * back.interval.high == pytest.approx(1.0)
    assert there.is_significant
    assert 1.9 < there.estimate < 2.2


def test_pairs_take_out_what_a_seed_has_in_common():
    random = np.random.Generator(np.random.PCG64(1))
    common = random.lognormal(0.0, 2.0, 10)
    b = common * 1.05 * random.lognormal(0.0, 0.01, 10)
    assert paired_ratio(common, b).is_significant


def test_intervals_of_paired_ratios_cover_as_often_as_they_say():
    random = np.random.Generator(np.random.PCG64(7))
    covered = 0
    for _ in range(1_000):
        a = random.lognormal(0.0, 1.0, 5)
        found = paired_ratio(a, a * 1.3 * random.lognormal(0.0, 0.2, 5))
        covered += 1.3 in found.interval
    assert 930 <= covered <= 970


def test_how_many_seeds_would_be_enough():
    found = paired_difference([0.0] * 4, [3.0, -2.0, 2.5, -1.0])
    assert not found.is_significant
    spread = float(np.std([3.0, -2.0, 2.5, -1.0], ddof=1))
    assert found.seeds_needed == math.ceil((2.8 * spread / 0.625) ** 2)


def test_one_seed_and_no_difference_claim_nothing():
    assert paired_ratio([1.0], [2.0]).interval is None
    assert not paired_ratio([1.0], [2.0]).is_significant
    same = paired_difference([5.0, 5.0, 5.0], [5.0, 5.0, 5.0])
    assert (same.estimate, same.is_significant, same.seeds_needed) == (0.0, False, None)


SCENARIO = """
[switch.ecn]
threshold = "65 packets"
[[flows]]
name = "bulk"
load = 0.5
[[flows]]
name = "rpc"
load = 0.1
"""


@pytest.mark.parametrize(
    ("setting", "path", "value"),
    [
        ("switch.ecn.threshold=20 packets", ("switch", "ecn", "threshold"), "20 packets"),
        ("flows.rpc.load=0.8", ("flows", 1, "load"), 0.8),
        ("flows.0.load = 1", ("flows", 0, "load"), 1),
        ("measure.order=true", ("measure", "order"), True),
        ('flows.bulk.sources=["h0", "h1"]', ("flows", 0, "sources"), ["h0", "h1"]),
    ],
)
def test_a_setting_by_its_path(setting, path, value):
    scenario = tomllib.loads(SCENARIO)
    setting_paths.assign(scenario, *setting_paths.read(setting))
    found = scenario
    for step in path:
        found = found[step]
    assert found == value


@pytest.mark.parametrize(
    ("setting", "message"),
    [("flows.rcp.load=1", "did you mean rpc"), ("load", "is not a setting"), ("switch.ecn.threshold.x=1", "no table")],
)
def test_a_setting_that_means_nothing_is_refused(setting, message):
    with pytest.raises(BadInput, match=message):
        setting_paths.assign(tomllib.loads(SCENARIO), *setting_paths.read(setting))
