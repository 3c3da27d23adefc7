"""RIMM and DIBS end to end: microbursts in the testbed of figure 6, and the users' first example."""

import json
import re

import polars as pl
import pytest

from hitless.simulation import Simulation
from hitless_papers import Factor, Row
from hitless_papers.estimates import Estimate
from hitless_papers.rimm import testbed
from hitless_papers.rimm.events import TABLES, Event, completed, completions_ms, measure, ratio_of_means
from warm import hitless

LENGTH_MS = 50
SEEDS = (1, 2)


def event(scheme, seed, size_bytes=testbed.BURST_BYTES):
    flows = [testbed.background(LENGTH_MS), testbed.burst(size_bytes)]
    scenario = testbed.scenario("event", flows, scheme, measure=measure())
    return Event(Simulation(scenario, file_name="event", seed=seed).run(keep=TABLES))


@pytest.fixture(scope="module", params=SEEDS)
def basic(request):
    return event(testbed.BASIC, request.param)


@pytest.fixture(scope="module", params=SEEDS)
def rimm(request):
    return event(testbed.RIMM, request.param)


def test_without_rimm_the_queue_overflows_and_what_is_lost_is_sent_again(basic):
    assert basic.lost > 0
    assert basic.retransmitted >= basic.lost
    assert basic.reordered == 0
    assert basic.peak_segments() > 0.99 * testbed.QUEUE_SEGMENTS


def test_with_rimm_nothing_is_lost_reordered_or_sent_again(rimm):
    assert rimm.counter("packets_detoured") > 100, "the burst was none: nothing was tried"
    assert (rimm.lost, rimm.reordered, rimm.retransmitted) == (0, 0, 0)
    assert rimm.peak_segments() < 1.04 * testbed.ALARM_SEGMENTS
    assert rimm.completion_ms("burst") is not None


def test_all_that_was_numbered_is_released_in_its_order(rimm):
    assert rimm.counter("packets_released_in_order") == rimm.counter("packets_detoured")
    for name in ("packets_released_early", "packets_released_late", "packets_forced", "numbers_skipped"):
        assert rimm.counter(name) == 0, name


def test_the_exact_release_ends_the_detour_of_the_background():
    # With the first three seeds the background is not detoured.
    exact, by_gap = event(testbed.EXACT, 4), event(testbed.RIMM, 4)
    assert (exact.lost, exact.retransmitted) == (0, 0)
    assert exact.counter("packets_detoured") < by_gap.counter("packets_detoured") / 4


def test_detours_without_numbers_cost_more_retransmissions_than_losses_do(basic):
    unordered = event(testbed.UNORDERED, SEEDS[0])
    assert unordered.reordered > 500
    assert unordered.retransmitted > 5 * basic.retransmitted


def test_dibs_loses_less_than_basic_forwarding_and_reorders(basic):
    dibs = event(testbed.DIBS, SEEDS[0])
    assert dibs.lost < basic.lost
    assert dibs.reordered > 0
    assert dibs.counter("packets_detoured") > 0


def test_a_burst_that_fits_is_left_alone():
    small = event(testbed.RIMM, 1, size_bytes=1_000_000)
    assert small.counter("packets_detoured") == 0
    assert (small.lost, small.retransmitted) == (0, 0)


def test_retransmissions_over_time_end_where_the_flow_table_does(basic):
    progress = basic.run.table("flow_progress").sort("time_ps")
    for flow, total in basic.flows.select("flow", "packets_retransmitted").iter_rows():
        seen = progress.filter(pl.col("flow") == flow)["packets_retransmitted"]
        assert seen.is_sorted()
        assert seen.max() <= total


def test_a_burst_that_does_not_complete_is_not_judged():
    flows = [testbed.background(LENGTH_MS), testbed.burst()]
    scenario = testbed.scenario("event", flows, duration=f"{testbed.BURST_MS + 2} ms", measure=measure())
    cut = [Event(Simulation(scenario, file_name="event", seed=1).run(keep=TABLES))]
    assert completions_ms(cut, "burst") == []
    share = completed(cut, "burst", "RIMM")
    assert (share.finished, share.begun) == (0, 1)
    row = Row("RIMM", "1 event", "mean FCT", "ms", 7.0, 290.0, judge=Factor(), completed=[share])
    assert row.verdict == "unjudged"


def test_the_ratio_of_means_is_of_the_same_events():
    ratio = ratio_of_means([2.0, 20.0, 200.0], [1.0, 10.0, 100.0])
    assert (ratio.value, ratio.interval.low, ratio.interval.high) == pytest.approx((2.0, 2.0, 2.0))
    assert ratio_of_means([0.0, 3.0], [0.0, 0.0]) == Estimate(None)
    none = ratio_of_means([0, 0, 0], [31, 0, 62])
    assert (none.value, none.interval.high) == (0.0, 0.0)


def test_the_example_is_the_testbed(tmp_path):
    scenario = tmp_path / "microburst.toml"
    scenario.write_text(hitless("scenario", "example", "microburst").stdout)
    run = Event(Simulation(scenario.read_text(), file_name="microburst", seed=1).run())
    assert run.lost == 0
    assert run.counter("packets_detoured") > 100


def test_the_most_packets_away_at_once_are_in_the_json_and_in_the_report(tmp_path):
    scenario, out = tmp_path / "microburst.toml", tmp_path / "out"
    scenario.write_text(hitless("scenario", "example", "microburst").stdout)
    counters = json.loads(hitless("run", str(scenario), "--json", "--out", str(out)).stdout)["mechanisms"]
    assert all(row["value"] > 0 and not row["counter"].startswith("resources_") for row in counters)
    [most] = [row for row in counters if row["counter"] == "packets_away_max"]
    # The report shows the row, and its numbers have thousands separators.
    row = "".join(rf"<td[^>]*>{value}</td>\s*" for value in ("S2-3", "rimm", "switch", most["label"]))
    [shown] = re.findall(rf"{row}<td[^>]*>([\d,]+)</td>", (out / "report.html").read_text())
    assert int(shown.replace(",", "")) == most["value"]
    [detoured] = [row["value"] for row in counters if row["counter"] == "packets_detoured"]
    assert 0 < most["value"] < detoured
