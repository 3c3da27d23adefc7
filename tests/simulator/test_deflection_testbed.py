"""The testbed of figure 5 end to end, port choices and control packets: the basis of the exhibits, in short runs."""

import polars as pl
import pytest

from hitless.analysis import chi_square_p_value
from hitless.simulation import Simulation
from hitless_papers.deflection import bursts, control_packets, port_choice, priorities, response_times, testbed
from hitless_papers.deflection.response_times import TABLES, Responses
from hitless_papers.deflection.statistics import complete_share


def simulated(scenario, seed=1, keep=None):
    return Simulation(scenario, file_name="testbed", seed=seed).run(keep=keep)


@pytest.fixture(scope="module", params=testbed.COMPARED, ids=lambda scheme: scheme.name)
def responses(request):
    run = simulated(response_times.scenario(request.param, 30), keep=TABLES)
    return request.param, Responses(run)


def test_the_queue_to_the_busy_server_is_the_one_that_packets_are_deflected_from(responses):
    scheme, of = responses
    if scheme.mechanism:
        busy = of.run.table("mechanisms").filter(pl.col("counter") == "packets_detoured")
        by_switch = dict(busy.group_by("switch").agg(pl.col("value").sum()).iter_rows())
        assert by_switch[testbed.NEAR] > 100
        assert by_switch[testbed.FAR] < by_switch[testbed.NEAR] / 10


def test_the_background_takes_what_the_paper_says(responses):
    scheme, of = responses
    table = of.run.table("throughput").filter(pl.col("time_ps") > response_times.BACKGROUND_MS * 10**9)
    gbps = float(table["value_bytes"].sum()) * 8 / (30e-3 * 1e9)
    assert gbps > 0.9 * testbed.LINK_GBPS, scheme.name


def test_requests_are_answered(responses):
    scheme, of = responses
    expected = response_times.REQUESTS_PER_SECOND * 30e-3
    assert 0.95 * expected < of.times.is_complete.size < 1.05 * expected
    assert complete_share(of.times) > 0.8, scheme.name


@pytest.mark.parametrize("load", bursts.LOADS)
def test_bursts_of_high_priority_arrive_with_preemptive_deflection(load):
    share = {}
    for scheme in (testbed.DROP_TAIL, testbed.QUANTILE, testbed.DISTRIBUTION):
        run = simulated(bursts.scenario(scheme, load, 5), keep=("flows",))
        sent = run.table("flows").filter(pl.col("group") == testbed.HIGH)["packets_sent"].to_list()
        assert sent == [bursts.PACKETS] * bursts.BURSTS
        share[scheme] = bursts.delivered_percent(run)
    assert share[testbed.DROP_TAIL] < 95
    assert min(share[testbed.QUANTILE], share[testbed.DISTRIBUTION]) > 99


@pytest.mark.parametrize("spines", port_choice.PORTS)
def test_a_simulated_switch_deflects_to_all_free_ports_alike(spines):
    found = port_choice.deflected(simulated(port_choice.overload(spines, "uniform"), seed=3), spines)
    assert sum(found) > 10_000
    assert chi_square_p_value(found) > 1e-4


def test_the_choice_of_the_program_prefers_the_first_port():
    found = port_choice.deflected(simulated(port_choice.overload(8, "five-bit")), 8)
    assert chi_square_p_value(found) < 1e-12
    assert found[0] == max(found)


def test_control_packets_wait_for_each_other_beyond_what_the_port_takes():
    few, many = (control_packets.gaps_us(simulated(control_packets.scenario(n, 1, 200)))[0] for n in (16, 512))
    assert few < 0.6
    assert many == pytest.approx(512 * 92 * 8 / 100e3, rel=0.03)


def test_control_packets_take_nothing_from_the_traffic():
    without, with_them = (
        control_packets.delivered_gbps(simulated(control_packets.scenario(n, 1, 200))) for n in (0, 64)
    )
    assert with_them == without


def test_ranks_are_recorded_for_table_2():
    sample = priorities.ranks(simulated(priorities.case(10).scenario(2), keep=("histograms",)))
    assert sample.size > 10_000
    assert 0 < sample.least < sample.mean < sample.values.max() <= 4e6


@pytest.mark.parametrize("start", ["uniform", "five-bit"])
def test_the_mechanisms_own_choice_is_that_of_the_equations(start):
    full = [0.9, 0.1, 0.5, 0.1]
    found = port_choice.counts(full, 100_000, 1, start)
    assert sum(found) < 100_000
    p_value = chi_square_p_value(found, port_choice.circular_shares(full))
    assert p_value > 1e-4 if start == "uniform" else p_value < 1e-12
