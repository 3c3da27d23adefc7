"""SQR end to end: scenarios as users write them, and the analytical exhibit."""

import itertools
import json
import math
from pathlib import Path

import polars as pl
import pytest

from hitless.simulation import Simulation
from hitless_papers import Context, Runs
from hitless_papers.estimates import Estimate, percent_of
from hitless_papers.sqr import fct, testbed, workloads
from hitless_papers.sqr.fct import CHECKED, GIVEN_UP, checked
from warm import hitless


def short_flows(scheme, count=300, **sqr):
    """Return the run of a number of web search flows while the link fails every 20 ms."""
    recovery, has_sqr = testbed.SCHEMES[scheme]
    scenario = testbed.scenario(
        "short-flows",
        [fct.short_flows("web search", count)],
        failures=[testbed.failures(recovery)],
        recovery=testbed.recovery(recovery),
        sqr=sqr if has_sqr else None,
        measure={"order": True},
    )
    return Simulation(scenario, file_name="short-flows", seed=1).run()


@pytest.fixture(scope="module", params=["SB'+SQR", "LRR+SQR"])
def masked(request):
    return short_flows(request.param)


@pytest.fixture(scope="module")
def alone():
    return short_flows("SB'")


def test_without_sqr_failures_cost_packets_and_timeouts(alone):
    assert len(alone.table("failures")) > 20
    assert checked(alone, "network_packets_lost") > 0
    assert alone.table("flows")["timeouts"].sum() > 0


def test_with_sqr_nothing_is_lost_or_reordered_and_nobody_times_out(masked):
    assert masked.table("flows")["frames_lost_to_failures"].sum() > 0, "no failure met a packet: nothing was tried"
    for column in ("network_packets_lost", "network_packets_reordered"):
        assert checked(masked, column) == 0
    for column in ("timeouts", "packets_retransmitted"):
        assert masked.table("flows")[column].sum() == 0


def test_the_switches_agree_with_the_checker_at_the_hosts(masked):
    assert [masked.counter(name) for name in GIVEN_UP] == [0] * len(GIVEN_UP)
    assert masked.counter("cached_bytes") == 0
    died = masked.table("flows")["frames_lost_to_failures"].sum()
    twice = masked.counter("packets_sent_from_cache") - masked.counter("packets_kept_back") - died
    assert checked(masked, "network_packets_duplicated") == twice


def test_packets_that_are_not_marked_are_not_protected():
    run = short_flows("SB'+SQR", ports=[testbed.PORT + 1])
    assert run.counter("copies_made") == 0
    assert checked(run, "network_packets_lost") > 0


def test_a_clock_that_wraps_often_changes_nothing():
    tables = [short_flows("SB'+SQR", clock_bits=bits).table("flows").select(CHECKED) for bits in (21, 32)]
    assert tables[0].equals(tables[1])


def test_flows_take_the_path_of_the_paper(alone):
    links = alone.table("links").filter(pl.col("frames_sent") > 0)["link"].to_list()
    path = ["h2", "sw8", "sw4", "sw2", "sw6", "sw10", "h4"]
    there = {f"{a}->{b}" for a, b in itertools.pairwise(path)}
    back = {f"{b}->{a}" for a, b in itertools.pairwise(path)}
    assert set(links) == there | back


def test_flows_that_start_in_an_outage_are_told_from_those_that_a_failure_hits():
    failures = pl.DataFrame({"down_ps": [100, 300], "from_recovered_ps": [150, 340], "to_recovered_ps": [160, -1]})
    outages = fct.Outages(failures)
    first = pl.Series([10, 10, 120, 155, 161, 290, 350]).to_numpy()
    last = pl.Series([99, 100, 120, 200, 299, 310, 400]).to_numpy()
    assert outages.meet(first, last).tolist() == [False, True, True, True, False, True, False]


def test_what_begins_in_an_outage_is_delivered_after_the_repair():
    run = short_flows("SB'+SQR")
    flows = fct.all_flows(run, holds_back=True).filter(pl.col("starts_in_outage"))
    assert flows.height >= 5, "no flow began in an outage: nothing was tried"
    clean_us = fct.times_us(fct.flows(run, holds_back=True).filter(~pl.col("is_hit"))).max()
    for until_down_us, fct_us in flows.select("until_down_us", "fct_us").iter_rows():
        wait_us = testbed.ROUTE_FAILURE_US + until_down_us
        assert 0 <= wait_us <= testbed.ROUTE_FAILURE_US
        assert wait_us < fct_us < wait_us + 2 * clean_us


def test_when_in_a_flow_the_link_fails_is_told_by_the_rows_of_figure_11():
    run = short_flows("SB'+SQR", count=1_000)
    table = fct.all_flows(run, holds_back=True)
    clean_us = fct.times_us(table.filter(~pl.col("is_hit") & ~pl.col("starts_in_outage")))
    added = {row.x: row.measured for row in workloads.added_by_moment(table, clean_us)}
    early, late = added["570 to 760 us before the start"], added["0 to 190 us before the start"]
    assert early < added["any time, flows that begin before the repair"] < late
    assert late < testbed.ROUTE_FAILURE_US < added["any time, flows in progress"] + 100


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [
        ((10, 100), (10, 100), 1.0),
        ((10, 100), (5, 100), 2.0),
        ((10, 50), (5, 100), 4.0),
        ((10, 100), (0, 100), math.inf),
    ],
)
def test_the_ratio_of_two_shares_lies_in_its_interval(first, second, ratio):
    found = workloads.ratio_of_shares(first, second)
    assert found.value == pytest.approx(ratio)
    assert 0 < found.interval.low < found.value <= found.interval.high


def test_of_nothing_there_is_no_share():
    assert percent_of(0, 0) == Estimate(None)
    assert math.isnan(workloads.ratio_of_shares((0, 10), (0, 10)).value)


def test_one_number_has_one_judge_in_figures_10_and_11():
    cases = [fct.FlowCase("web search", scheme) for scheme in testbed.SCHEMES]
    runs = Runs({point.key: run_of(point) for point in fct.points(cases, 600)})
    rows = {}
    for figure in (workloads.Figure10(), workloads.Figure11()):
        found = {row.metric: row for row in figure.rows(runs, Context(effort="quick"))}
        rows[type(figure).__name__] = found["median FCT above no failure"]
        assert all(row.completed for row in found.values() if row.paper is not None)
    first, second = rows["Figure10"], rows["Figure11"]
    assert (first.measured, first.paper, first.judge, first.verdict) == (
        second.measured, second.paper, second.judge, second.verdict
    )  # fmt: skip


def run_of(point):
    return Simulation(point.what, file_name=point.key, seed=1).run(keep=point.keep)


def test_figures_6_and_13_judge_what_the_paper_has_a_number_for(tmp_path):
    done = hitless("reproduce", "sqr/fig6", "sqr/fig13", "--quick", "--json", "--out", tmp_path / "out")
    sizes, exhibit = json.loads(done.stdout)["exhibits"]
    for row in sizes["rows"] + exhibit["rows"]:
        # The interval of the buffer during a repair extends beyond the rule.
        assert row["paper"] is None or row["verdict"] != "unjudged" or row["x"] == "10 Gbps, repair", row
    assert [row["verdict"] for row in sizes["rows"] if row["metric"] == "largest flow"] == ["match", "match"]
    rows = {(row["series"], row["x"], row["metric"]): row for row in exhibit["rows"]}
    for key, paper in ((("SQR", "10 Gbps", "buffer used"), 37.5), (("delay-queue", "100 Gbps", "buffer used"), 375.0)):
        assert rows[key]["paper"] == paper
        assert rows[key]["verdict"] == "match", rows[key]
    repair = rows["SB'+SQR", "10 Gbps, repair", "most buffer used"]
    assert repair["measured"] == pytest.approx(repair["paper"], rel=0.06)
    assert rows["SQR", "all", "largest over least buffer per Gbps"]["verdict"] == "match"


def test_the_example_of_the_guide_runs_and_masks_its_failures():
    guide = (Path(__file__).parents[2] / "docs/how-to/sqr.md").read_text()
    text = guide.split("```toml\n")[1].split("```")[0]
    run = Simulation(text, file_name="docs/how-to/sqr.md").run()
    flows = run.table("flows")
    assert flows["frames_lost_to_failures"].sum() == 14
    assert flows["network_packets_lost"].sum() == flows["network_packets_reordered"].sum() == 0
    bare = Simulation(text.replace('links = ["spine1<->leaf1"]', 'links = ["spine0<->leaf1"]'), file_name="bare").run()
    assert bare.table("flows")["network_packets_lost"].sum() == 23
