"""Deflection end to end: the small network for a few milliseconds, and every scenario that an exhibit uses."""

from dataclasses import replace

import polars as pl
import pytest

from hitless.checking import check_scenario
from hitless.simulation import Simulation
from hitless_papers import Context
from hitless_papers.deflection import beyond, incasts, load_sweep, networks, outcomes, parameters, schemes, small
from hitless_papers.deflection.load_sweep import TRANSPORTS
from hitless_papers.deflection.schemes import FAIR, PAPER
from hitless_papers.deflection.setting import QUERIES, TABLES

LENGTH_MS = 60
ALL = (*schemes.COMPARED, schemes.NAIVE, schemes.PABO, schemes.TRIMMING, schemes.LAS)


@pytest.fixture(scope="module")
def runs():
    made = {}
    for scheme in (schemes.ECMP, schemes.DIBS, schemes.VERTIGO, schemes.QUANTILE):
        scenario = small.case(scheme, 75).scenario(LENGTH_MS)
        made[scheme.name] = Simulation(scenario, file_name=scheme.name, seed=1).run(keep=TABLES)
    return made


def dropped(run):
    return sum(run.summary.drops.values())


def test_the_load_is_that_which_was_asked_for(runs):
    case = small.case(schemes.ECMP, 75)
    asked = case.background_percent + case.incast.percent(case.fabric)
    (load,) = {outcomes.offered_percent(run, case.fabric.core_bps) for run in runs.values()}
    assert abs(load - asked) < 2 * _deviation_percent(runs["ECMP"], case), (load, asked)


def _deviation_percent(run, case):
    """The standard deviation of the load: arrivals are Poisson, so the variance of a sum is the sum of squares."""
    messages = run.table("messages").with_columns(pl.col("bytes").cast(pl.Float64))
    is_query = pl.col("group") == QUERIES
    queries = messages.filter(is_query).group_by("query").agg(pl.col("bytes").sum())["bytes"]
    squares = (queries**2).sum() + (messages.filter(~is_query)["bytes"] ** 2).sum()
    return 100 * 8 * squares**0.5 / run.summary["simulated_s"] / case.fabric.core_bps


def test_simple_deflection_drops_less_than_none_while_its_neighbours_have_room(runs):
    assert 0 < dropped(runs["DIBS"]) < dropped(runs["ECMP"]) / 2


def test_a_query_begins_with_its_request_and_not_with_the_handshake(runs):
    messages = runs["ECMP"].table("messages").filter(pl.col("requested_ps") >= 0)
    # Opening a connection takes a round trip over four links of 1 us or more.
    assert (messages["requested_ps"] - messages["started_ps"]).min() > 4_000_000


def test_order_is_measured_where_packets_spread_and_where_they_do_not(runs):
    shares = {name: outcomes.reordered_percent(run) for name, run in runs.items()}
    assert shares["Quantile-PD"] > 0
    assert shares["ECMP"] < shares["Vertigo"]


def test_the_same_seed_gives_the_same_run():
    scenario = small.case(schemes.QUANTILE, 95).scenario(5)
    first, second = (Simulation(scenario, file_name="q", seed=3).run(keep=()) for _ in range(2))
    assert first.summary["trace_hash"] == second.summary["trace_hash"]


@pytest.mark.parametrize("scheme", ALL, ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("preset", [PAPER, FAIR], ids=lambda preset: preset.name)
def test_every_scheme_is_a_sound_scenario_with_every_transport(scheme, transport, preset):
    case = replace(load_sweep.at(scheme, 95, transport), preset=preset)
    effective = check_scenario(_text(case), case.key)
    assert ("mechanism" in effective) == (scheme.mechanism is not None or transport == "Bolt")


SWEEPS = [networks.Figure10, networks.Figure11, parameters.Figure12, parameters.Figure13, parameters.Figure14]


@pytest.mark.parametrize("sweep", [*SWEEPS, incasts.Figure9, beyond.Future])
def test_every_case_of_an_exhibit_is_a_sound_scenario(sweep):
    for case in sweep().cases(Context(effort="full")):
        check_scenario(_text(case), case.key)


def _text(case):
    import tomli_w

    return tomli_w.dumps(case.scenario(10))


def test_a_shared_buffer_is_small_enough_for_schemes_to_differ():
    runs = {}
    for scheme in (schemes.ECMP, schemes.QUANTILE):
        scenario = beyond.shared(scheme, dynamic=True).scenario(3)
        runs[scheme.name] = Simulation(scenario, file_name=scheme.name, seed=1).run(keep=["mechanisms"])
    assert runs["ECMP"].summary.drops["shared buffer full"] > 1_000
    assert runs["Quantile-PD"].summary["trace_hash"] != runs["ECMP"].summary["trace_hash"]
    table = runs["Quantile-PD"].table("mechanisms")
    assert table.filter(pl.col("counter") == "packets_over_threshold")["value"].sum() > 1_000
