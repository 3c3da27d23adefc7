"""The inputs of rows in the testbed's exhibits, on hand-written tables."""

import json

import numpy as np
import polars as pl
import pytest

from hitless.simulation import Run, Summary
from hitless_papers import Context, Runs
from hitless_papers.deflection import bursts, control_packets, priorities, response_times, testbed
from hitless_papers.deflection.bursts import Bursts
from hitless_papers.deflection.response_times import Responses, ResponseTimes
from hitless_papers.deflection.statistics import complete_share
from hitless_papers.estimates import Estimate, mean_of

MS = 10**9


def run(simulated_s=1.0, **tables):
    return Run("", Summary({"simulated_s": simulated_s}), {name: pl.DataFrame(table) for name, table in tables.items()})


def test_a_request_without_an_answer_has_waited_to_the_end():
    started = [MS * ms for ms in range(100)]
    delivered = [at + MS for at in started[:98]] + [-1, -1]
    messages = {"group": [testbed.HIGH] * 100, "requested_ps": started, "delivered_ps": delivered}
    times = Responses(run(messages=messages)).times
    assert complete_share(times) == pytest.approx(0.98)
    assert times.lasted_s[0] == pytest.approx(1e-3)
    assert times.lasted_s[98:] == pytest.approx([1 - 0.098, 1 - 0.099])


def test_p99_is_of_the_group_with_priority_alone_and_counts_what_waits():
    groups = [testbed.HIGH] * 1_000 + [testbed.LOW] * 50
    delivered = [50_000_000] * 985 + [-1] * 15 + [MS] * 50
    messages = {"group": groups, "requested_ps": [0] * 1_050, "delivered_ps": delivered}
    of = Responses(run(0.2, messages=messages))
    assert of.median_us == pytest.approx(50.0)
    # 1.5 % lack an answer after 200 ms: this is the minimum of p99.
    assert of.p99_us == pytest.approx(200_000.0)


def test_the_background_is_payload_over_the_whole_run():
    flows = {"group": [testbed.LOW, testbed.LOW, testbed.HIGH], "delivered_bytes": [10**9, 10**9, 10**9]}
    assert Responses(run(0.5, flows=flows)).background_gbps == pytest.approx(32.0)


def test_packets_that_arrive_are_counted_by_group():
    flows = {
        "group": [testbed.HIGH, testbed.HIGH, testbed.LOW],
        "packets_sent": [100, 100, 1_000],
        "network_packets_lost": [0, 50, 990],
    }
    assert bursts.delivered_percent(run(flows=flows)) == pytest.approx(75.0)
    assert bursts.delivered_percent(run(flows=flows), testbed.LOW) == pytest.approx(1.0)


def test_the_mean_of_runs_has_an_interval_where_there_are_several():
    assert mean_of([3.0]) == Estimate(3.0, why="one seed")
    assert mean_of([3.0, 4.0]).interval is None
    mean, interval = mean_of([1.0, 2.0, 3.0]).value, mean_of([1.0, 2.0, 3.0]).interval
    assert mean == 2.0
    assert interval is not None
    assert 2.0 in interval


def test_gaps_are_weighed_by_how_often_they_were():
    histograms = {
        "switch": ["switch1"] * 3,
        "quantity": [control_packets.GAP, control_packets.GAP, "something else"],
        "value": [3_000, 1_000, 9_000],
        "count": [1, 199, 5],
    }
    mean, p99 = control_packets.gaps_us(run(histograms=histograms))
    assert mean == pytest.approx(1.01)
    assert p99 == pytest.approx(1.0)


def test_ranks_of_all_ports_are_one_sample_without_unmarked_packets():
    histograms = {
        "quantity": [priorities.QUANTITY] * 4 + ["detours"],
        "value": [0, 7, 5, 7, 9],
        "count": [50, 1, 2, 3, 4],
    }
    found = priorities.ranks(run(histograms=histograms))
    assert found.values.tolist() == [5.0, 7.0]
    assert found.counts.tolist() == [2.0, 4.0]


def test_the_numbers_of_table_2_are_those_of_its_text():
    """46.18 %, 34.70 % and 21.98 % below uniform, normal and Pareto at 35 % load."""
    paper = priorities.SSE[10]
    for name, percent in (("normal", 34.70), ("Pareto", 21.98)):
        assert 100 * (1 - paper["exponential"] / paper[name]) == pytest.approx(percent, abs=0.01)


@pytest.mark.parametrize("scheme", [*testbed.COMPARED, testbed.ALONE], ids=lambda scheme: scheme.name)
def test_schemes_differ_in_buffer_and_mechanism_alone(scheme):
    made, plain = (response_times.scenario(of, 100.0) for of in (scheme, testbed.DROP_TAIL))
    if scheme.has_background:
        differing = {key for key in made if made[key] != plain.get(key)}
        assert differing <= {"mechanism", "switch"}
    else:
        assert [flow["name"] for flow in made["flows"]] == [testbed.HIGH]
    json.dumps(made)


def test_the_load_of_the_background_is_a_share_of_the_busy_link():
    for load in bursts.LOADS:
        made = bursts.scenario(testbed.DROP_TAIL, load, 10.0)
        slow = next(transport for transport in made["transport"] if transport["name"] == "slow")
        senders = next(flow for flow in made["flows"] if flow["name"] == testbed.LOW)["sources"]
        rate_gbps = float(slow["rate"].removesuffix(" Gbps")) * len(senders)
        assert rate_gbps == pytest.approx(testbed.LINK_GBPS * load / 100)
        burst = next(flow for flow in made["flows"] if flow["name"] == testbed.HIGH)
        payload = int(burst["sizes"]["bytes"].removesuffix(" B"))
        assert payload / bursts.PACKETS == np.ceil(payload / bursts.PACKETS), "whole packets"


def responses(p99_us):
    """Return a run of instantaneous requests, except for the slowest 2 %."""
    delivered = [1_000] * 980 + [round(p99_us * 1e6)] * 20
    messages = {"group": [testbed.HIGH] * 1_000, "requested_ps": [0] * 1_000, "delivered_ps": delivered}
    return run(1.0, messages=messages, flows={"group": [testbed.LOW], "delivered_bytes": [10**9]})


def rows_of(part, made):
    runs = Runs({point.key: made(point.key) for point in part.points(Context(effort="quick"))})
    return {(row.series, row.x, row.metric): row for row in part.rows(runs, Context())}


def test_response_times_of_the_paper_match_it():
    p99_us = {
        testbed.DROP_TAIL: 425.0,
        testbed.SIMPLE: 51.0,
        testbed.LARGE: 199.0,
        **dict.fromkeys(testbed.QUANTILES, 1.0),
        **dict.fromkeys(testbed.DISTRIBUTIONS, 425 / 437),
        testbed.ALONE: 1 / 1.0059,
    }
    by_name = {scheme.name: value for scheme, value in p99_us.items()}
    rows = rows_of(ResponseTimes(), lambda key: responses(by_name.get(key.split(" ", 1)[1].rsplit(" ", 1)[0], 1.0)))
    judged = [row for row in rows.values() if row.verdict != "unjudged"]
    assert len(judged) == 11
    for row in judged:
        assert row.measured == pytest.approx(row.paper, rel=0.05), row.metric
        assert row.verdict == ("match" if row.judge.name == "exact" else "within")


def test_ratios_that_the_servers_time_was_calibrated_on_are_shown_and_never_judged():
    keys = set()
    for point in ResponseTimes().points(Context(effort="quick")):
        think = next(flow for flow in point.what["flows"] if flow["name"] == testbed.HIGH)["request"]["think"]["mean"]
        keys.add((point.key.startswith("slow servers"), think))
    assert keys == {(False, response_times.THINK["mean"]), (True, response_times.LONG_THINK["mean"])}
    rows = rows_of(ResponseTimes(), lambda _: responses(100.0))
    slow = [row for (_, x, _), row in rows.items() if response_times.LONG_THINK["mean"] in x]
    assert {row.paper for row in slow} == {425, 437, 51, 199, 8, 1.0059, None}
    assert {row.verdict for row in slow} == {"unjudged"}


def test_a_scheme_that_wins_where_the_papers_loses_differs():
    rows = rows_of(ResponseTimes(), lambda key: responses(100.0 if testbed.QUANTILE.name in key else 50.0))
    row = rows[testbed.DROP_TAIL.name, "500,000 requests/s", f"p99 response time over that of {testbed.QUANTILE.name}"]
    assert row.measured == pytest.approx(0.5)
    assert row.verdict == "differs"


@pytest.mark.parametrize(("quotient", "verdict"), [(1.0059, "match"), (1.05, "match"), (1.16, "differs")])
def test_bulk_flows_that_requests_notice_are_no_match(quotient, verdict):
    rows = rows_of(ResponseTimes(), lambda key: responses(1.0 if testbed.ALONE.name in key else quotient))
    row = rows[testbed.QUANTILE.name, "500,000 requests/s", f"p99 response time over that of {testbed.ALONE.name}"]
    assert row.measured == pytest.approx(quotient)
    assert row.verdict == verdict


def test_a_packet_in_fifty_that_is_lost_is_no_100_percent():
    def made(key):
        lost = 1_001 if testbed.QUANTILE.name in key else 25_000
        groups = [testbed.HIGH, testbed.LOW]
        return run(flows={"group": groups, "packets_sent": [50_000] * 2, "network_packets_lost": [lost, 0]})

    rows = rows_of(Bursts(), made)
    row = rows[testbed.QUANTILE.name, "90 % background", "packets of bursts that arrive"]
    assert row.measured == pytest.approx(97.998)
    assert row.verdict == "differs"
    row = rows[
        testbed.QUANTILE.name, "90 % background", f"packets of bursts that arrive, over {testbed.DROP_TAIL.name}"
    ]
    assert row.measured == pytest.approx(1.96, abs=0.01)
    assert row.verdict == "beyond"
