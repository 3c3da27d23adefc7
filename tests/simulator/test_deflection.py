"""Exhibits of deflection without a simulator: statistics of unfinished queries, presets, claims that can be judged."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitless.simulation import Run, Summary
from hitless_papers import Context, Runs, registry
from hitless_papers.deflection import load_sweep, metrics, outcomes, schemes, small, statistics
from hitless_papers.deflection.fabrics import FAT_TREE, LEAF_SPINE, LEAF_SPINE_1G, LEAF_SPINE_100G
from hitless_papers.deflection.metrics import Measured
from hitless_papers.deflection.schemes import FAIR, PAPER
from hitless_papers.deflection.setting import FabricCase, Incast
from hitless_papers.deflection.statistics import Durations
from hitless_papers.deflection.sweep import Sweep

SWEEPS = [entry.make for entry in registry.select(["pd"]) if issubclass(entry.make, Sweep)]


def durations(lasted, complete):
    lasted = np.array(lasted, dtype=float)
    return Durations(np.arange(lasted.size, dtype=float), lasted, np.array(complete, dtype=bool))


def survivors_slowly(lasted, complete, moment):
    """Return the product-limit estimate by its definition: at each end, multiply by the share at risk that survives."""
    share = 1.0
    for time in sorted({x for x, done in zip(lasted, complete, strict=True) if done and x <= moment}):
        at_risk = sum(x >= time for x in lasted)
        ended = sum(x == time and done for x, done in zip(lasted, complete, strict=True))
        share *= 1 - ended / at_risk
    return share


def test_the_authors_statistics_see_complete_queries_only():
    sample = durations([1, 2, 3, 100], [True, True, True, False])
    assert statistics.mean(sample) == 2
    assert sample.percentile_s(50) == 2
    assert statistics.complete_share(sample) == 0.75
    nothing = durations([5, 6], [False, False])
    assert (statistics.mean(nothing), nothing.percentile_s(99)) == (None, None)


def test_without_unfinished_queries_both_statistics_agree():
    values = np.random.default_rng(1).lognormal(size=1_000)
    sample = durations(values, [True] * 1_000)
    assert statistics.whole_mean(sample) == pytest.approx(statistics.mean(sample))
    assert sample.whole_percentile_s(99) == pytest.approx(np.sort(values)[989])


def test_a_query_that_was_unfinished_counts_at_least_as_long_as_it_had_lasted():
    sample = durations([1, 2, 3, 100], [True, True, True, False])
    assert statistics.whole_mean(sample) == pytest.approx((1 + 2 + 3 + 100) / 4)
    assert sample.whole_percentile_s(99) == 100
    # A query that began late says nothing about long ones, and does not make them look short.
    late = durations([1, 2, 3, 100, 0.5], [True, True, True, True, False])
    assert statistics.whole_mean(late) == pytest.approx((1 + 2 + 3 + 100) / 4)


cases = st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=30)


@given(cases, st.integers(1, 99))
def test_percentiles_with_unfinished_queries_are_those_of_the_definition(pairs, percent):
    lasted, complete = zip(*pairs, strict=True)
    found = durations(lasted, complete).whole_percentile_s(percent)
    reached = [x for x in sorted(set(lasted)) if survivors_slowly(lasted, complete, x) <= 1 - percent / 100 + 1e-12]
    assert found == (reached[0] if reached else max(lasted))


@given(cases)
def test_the_mean_with_unfinished_queries_is_the_area_of_the_definition(pairs):
    lasted, complete = zip(*pairs, strict=True)
    area = sum(survivors_slowly(lasted, complete, second) for second in range(max(lasted)))
    assert statistics.whole_mean(durations(lasted, complete)) == pytest.approx(area)


def test_an_interval_holds_the_mean_of_a_steady_sample_and_repeats():
    values = np.random.default_rng(2).exponential(1.0, 2_000)
    sample = durations(values, [True] * 2_000)
    interval = sample.interval(statistics.mean)
    assert 1.0 in interval
    assert interval.high - interval.low < 0.25
    assert interval == durations(values, [True] * 2_000).interval(statistics.mean)
    twice = statistics.ratio_interval(durations(2 * values, [True] * 2_000), sample, statistics.mean)
    assert 2.0 in twice
    assert durations([1.0, 2.0], [True, True]).interval(statistics.mean) is None


def test_published_numbers_are_sixty():
    numbers = [x for table in (small.MEAN_S, small.P99_S) for values in table.values() for x in values]
    assert len(numbers) == 60
    assert {scheme.name for scheme in small.SCHEMES} == set(small.MEAN_S) == set(small.P99_S)


@pytest.mark.parametrize(
    ("fabric", "bps"), [(LEAF_SPINE, 1.28e12), (LEAF_SPINE_100G, 3.2e12), (LEAF_SPINE_1G, 32e9), (FAT_TREE, 1.28e12)]
)
def test_loads_are_of_the_links_from_leaves_to_spines(fabric, bps):
    assert fabric.core_bps == bps
    # 4,000 queries a second of 100 times 40 KB are 128 Gbps.
    assert FabricCase(schemes.ECMP, Incast(4_000), fabric).incast.percent(fabric) == pytest.approx(100 * 128e9 / bps)


def test_the_authors_multipliers_are_the_loads_that_they_name():
    assert [small.case(schemes.ECMP, load).percent for load in small.LOADS] == list(small.LOADS)
    assert [load_sweep.at(schemes.ECMP, load).percent for load in small.LOADS] == list(small.LOADS)


def test_under_fair_only_the_switches_reaction_differs():
    made = [load_sweep.at(scheme, 95, preset=FAIR).scenario(10) for scheme in schemes.COMPARED]
    without = [{key: value for key, value in scenario.items() if key != "mechanism"} for scenario in made]
    assert all(scenario == without[0] for scenario in without)
    assert len({str(scenario.get("mechanism")) for scenario in made}) == len(made)


def test_under_paper_each_scheme_has_what_the_authors_gave_it():
    made = {s.name: load_sweep.at(s, 95, preset=PAPER).scenario(10) for s in schemes.COMPARED}
    spread = {name for name, scenario in made.items() if scenario["routing"]["choice"] == "two-choices"}
    assert spread == {"Vertigo", "Quantile-PD", "Distribution-PD"}
    assert {name for name, scenario in made.items() if "reorder_buffer" in scenario["host"]} == spread
    assert {name for name, scenario in made.items() if "priority_tagger" in scenario["host"]} == {*spread, "AIFO"}
    slow = {name for name, scenario in made.items() if scenario["transport"][0].get("fast_retransmit") is False}
    assert slow == {"DIBS", "Simple"}


@pytest.mark.parametrize("sweep", SWEEPS)
def test_every_claim_is_judged_in_a_full_run_and_each_quick_run_judges_something(sweep: type[Sweep]):
    exhibit = sweep()
    cases = exhibit.cases(Context(effort="full"))
    full = {case.key for case in cases}
    scenarios = {case.key: case.scenario(10) for case in cases}
    assert all(case.scenario(10) == scenarios[case.key] for case in cases), "a key stands for one scenario"
    for claim in exhibit.claims():
        assert {claim.above.key, claim.below.key} <= full, claim
    normal = {case.key for case in exhibit.cases(Context(effort="normal"))}
    quick = {case.key for case in exhibit.cases(Context(effort="quick"))}
    assert quick <= normal <= full
    claims = list(exhibit.claims())
    assert not claims or any({claim.above.key, claim.below.key} <= quick for claim in claims)


def test_flows_under_way_at_the_end_are_counted_and_their_queries_from_the_first_request():
    second = 10**12
    rows = [
        ("queries", 1, 0, second // 10, second // 2),
        ("queries", 1, 0, -1, -1),
        ("queries", 2, second // 2, -1, -1),
    ]
    names = ["group", "query", "started_ps", "requested_ps", "delivered_ps"]
    run = Run("", Summary({"simulated_s": 1.0}), {"messages": pl.DataFrame(rows, schema=names, orient="row")})
    answers = outcomes.flows(run, "queries")
    assert answers.lasted_s.tolist() == pytest.approx([0.4, 1.0, 0.5])
    assert answers.is_complete.tolist() == [True, False, False]
    # The second query has sent nothing, and the first is not complete.
    assert outcomes.queries(run, 2).lasted_s.tolist() == pytest.approx([0.9])


def _run(answers, *, simulated_s=1.0):
    """A run with a query of three answers for each tuple of delivery times in seconds; None for missing answers."""
    rows = [
        ("queries", query, 1_000, int(1e11 * query), int(1e11 * query), -1 if at is None else int(1e12 * at))
        for query, times in enumerate(answers)
        for at in times
    ]
    names = ["group", "query", "bytes", "started_ps", "requested_ps", "delivered_ps"]
    messages = pl.DataFrame(rows, schema=names, orient="row")
    return Run("", Summary({"simulated_s": simulated_s}), {"messages": messages})


def test_a_query_is_complete_with_its_last_answer():
    found = outcomes.queries(_run([(0.2, 0.3, 0.1), (0.4, None, 0.2)]), 3)
    assert found.is_complete.tolist() == [True, False]
    assert found.lasted_s.tolist() == pytest.approx([0.3, 0.9])


def test_a_sample_is_worked_out_once_and_in_milliseconds():
    case = FabricCase(schemes.ECMP, Incast(1.0, fan_in=3))
    measured = Measured(Runs({case.key: _run([(0.2, 0.3, 0.1)])}))
    assert measured.value(metrics.MEAN_QCT, case) == pytest.approx(300)
    assert measured.sample(metrics.MEAN_QCT, case) is measured.sample(metrics.P99_QCT, case)


def test_what_hosts_discard_was_not_dropped_in_switches():
    drops = {"queue full": 5, "given up by a mechanism": 2, "arrived after the end of the flow": 70}
    assert outcomes.dropped_in_switches(drops) == 7
