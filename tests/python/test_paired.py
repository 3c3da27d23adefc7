"""Comparisons of two sides with the same seeds: statistics, sides and setting_paths."""

import math
import tomllib

import numpy as np
import pytest

from hitless import setting_paths
from hitless.analysis import paired_difference, paired_ratio
from hitless.errors import BadInput


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
