"""The statistics of a fleet's year, from series small enough to check by hand."""

import numpy as np
import polars as pl
import pytest

from hitless.fleet import statistics
from hitless.fleet.year import SCHEMA, write_published

BEGIN, END = statistics.YEAR_S


def states(times, penalties, capacities=None, paths=None):
    columns = {name: [0] * len(times) for name in SCHEMA} | {
        "time": times,
        "total_effective_penalty": penalties,
        "min_per_pod_capacity": capacities or [100.0] * len(times),
        "min_per_tor_paths": paths or [4] * len(times),
    }
    return pl.DataFrame(columns, schema=SCHEMA)


def test_a_state_lasts_until_the_next_event_and_the_last_until_the_end_of_the_window():
    made = states([0, 10, 30, 90], [1.0, 2.0, 3.0, 4.0])
    assert statistics.durations_s(made, (20, 100)).tolist() == [0, 10, 60, 10]
    mean = statistics.mean_over_time(made, "total_effective_penalty", (20, 100))
    assert mean == pytest.approx((2 * 10 + 3 * 60 + 4 * 10) / 80)


def test_a_gain_counts_changes_within_the_year_once_each():
    times = [0, BEGIN, BEGIN + 10, BEGIN + 40, BEGIN + 50, END + 1]
    bare = states(times, [1.0, 8.0, 8.0, 6.0, 1.0, 9.0], [100.0, 90.0, 90.0, 90.0, 100.0, 100.0])
    protected = states(times, [1.0, 2.0, 2.0, 1.0, 1.0, 1.0], [100.0, 90.0, 90.0, 80.0, 100.0, 100.0])
    found = statistics.gain(bare, protected, statistics.YEAR_S)
    # The state at BEGIN + 10 is the previous one; the first is before the year, the last after it.
    assert found.times.tolist() == [4.0, 6.0, 1.0]
    assert found.lasted_s.tolist() == [40.0, 10.0, float(END - BEGIN - 50)]
    assert found.median == 4.0
    assert found.median_by_time == 1.0
    assert found.share_without == pytest.approx(1 / 3)
    assert found.share_without_by_time == pytest.approx((END - BEGIN - 50) / (END - BEGIN))
    assert found.worst_capacity_loss_gbps == 10.0


def test_a_change_of_any_metric_is_a_change():
    times = [0, BEGIN, BEGIN + 10]
    bare, protected = states(times, [1.0, 2.0, 2.0], paths=[4, 4, 3]), states(times, [1.0, 2.0, 2.0])
    assert statistics.gain(bare, protected, statistics.YEAR_S).times.tolist() == [1.0, 1.0]


def test_years_of_different_events_have_no_gain_event_by_event():
    with pytest.raises(ValueError, match="same events"):
        statistics.gain(states([0, BEGIN], [1.0, 2.0]), states([0, BEGIN + 1], [1.0, 2.0]), statistics.YEAR_S)


def test_quantiles_reach_from_the_least_to_the_greatest():
    found = statistics.Gain(np.array([3.0, 1.0, 2.0]), np.ones(3), np.array([0.0, 5.0, 1.0]))
    shares, gains, lost = found.quantiles(4)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert (gains[0], gains[-1], lost[-1]) == (1.0, 3.0, 5.0)


def test_the_week_begins_with_the_state_that_holds_then():
    day = 86_400
    made = states([0, 2 * day, 4 * day, 6 * day, 9 * day], [1.0, 2.0, 3.0, 4.0, 5.0])
    assert statistics.week(made, (3.0, 7.0))["total_effective_penalty"].to_list() == [2.0, 3.0, 4.0]
    assert statistics.week(made, (10.0, 12.0))["total_effective_penalty"].to_list() == [5.0]


def test_a_series_survives_being_written_and_read(tmp_path):
    made = states([-345_600, 3, 4], [1.00224e-13, 1e-3 + 1e-18, 5.97e-10])
    write_published(made, tmp_path / "series.tsv")
    assert (tmp_path / "series.tsv").read_text().splitlines()[0].split("\t") == list(SCHEMA)
    assert pl.read_csv(tmp_path / "series.tsv", separator="\t", schema=SCHEMA).equals(made)
