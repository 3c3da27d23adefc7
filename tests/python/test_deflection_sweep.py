"""The conditions for judging a number of deflection's exhibits, on hand-written samples."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from hitless.simulation import Run, Summary
from hitless_papers import Context, Exact, Range, Row, Runs
from hitless_papers.deflection import (
    beyond,
    incasts,
    load_sweep,
    metrics,
    networks,
    outcomes,
    parameters,
    schemes,
    side_effects,
    small,
    statistics,
)
from hitless_papers.deflection.load_sweep import at
from hitless_papers.deflection.metrics import Measured
from hitless_papers.deflection.setting import BACKGROUND, reduced
from hitless_papers.deflection.sweep import Claim, Sweep, before, judgeable, quotient
from hitless_papers.model import Share
from hitless_papers.seeds import over_seeds
from hitless_papers.statements import counted_once, judged_once, near_one

SWEEPS = [
    made
    for module in (beyond, incasts, load_sweep, networks, parameters, side_effects)
    for name, made in vars(module).items()
    if isinstance(made, type) and issubclass(made, Sweep) and made is not Sweep and not name.startswith("_")
]
assert len(SWEEPS) >= 13, "the sweeps of the modules are not found"
ECMP, SIMPLE, QUANTILE, VERTIGO, DIBS = (
    at(scheme, 95) for scheme in (schemes.ECMP, schemes.SIMPLE, schemes.QUANTILE, schemes.VERTIGO, schemes.DIBS)
)
PS = 1e12
SIMULATED_S = 1.0


def run(mean_s, *, complete=1.0, queries=200, spread=0.0, fan_in=100, background=40, elephant_bytes=20_000_000):
    """Queries with nearly equal times, and background flows likewise; a share of both completes."""
    random = np.random.default_rng(7)
    rows = []
    for group, count, answers, size in (
        ("queries", queries, fan_in, 40_000),
        ("background", background, 1, elephant_bytes),
    ):
        for number in range(count):
            begin = 0.5 * number / count
            took = mean_s * (1 + spread * random.standard_normal())
            end = int(PS * (begin + took)) if number % 10 < 10 * complete else -1
            row = (group, number, size, int(PS * begin), int(PS * begin), end)
            rows += [row] * answers
    names = ["group", "query", "bytes", "started_ps", "requested_ps", "delivered_ps"]
    messages = pl.DataFrame(rows, schema=names, orient="row")
    flows = messages.select(
        "group",
        delivered_bytes="bytes",
        packets_sent=pl.lit(30),
        packets_received=pl.lit(28),
        packets_reordered=pl.col("query") % 3,
    )
    return Run("", Summary({"simulated_s": SIMULATED_S, "drops": {"full": 11}}), {"messages": messages, "flows": flows})


def measured(**runs):
    cases = {"ecmp": ECMP, "simple": SIMPLE, "quantile": QUANTILE, "vertigo": VERTIGO, "dibs": DIBS}
    return Measured(Runs({cases[name].key: made for name, made in runs.items()}))


@pytest.mark.parametrize("sweep", SWEEPS)
def test_a_claim_names_the_larger_first(sweep):
    """A quotient of 1 or less would be on the wrong side for its judge."""
    for claim in sweep().claims():
        assert (claim.paper.low if isinstance(claim.paper, Range) else claim.paper) > 1


@pytest.mark.parametrize("sweep", SWEEPS)
def test_being_better_is_granted_to_the_papers_own_schemes_alone(sweep):
    own = {schemes.SIMPLE.name, schemes.QUANTILE.name, schemes.DISTRIBUTION.name}
    for claim in sweep().claims():
        more_is_better = claim.metric is metrics.ELEPHANT_GOODPUT
        if claim.better is not None:
            favoured = claim.above if (claim.better == "lower") != more_is_better else claim.below
            assert favoured.scheme.name in own, claim
        if claim.better is not None:
            assert claim.above.scheme.name != claim.below.scheme.name, claim


def test_goodput_that_parallels_is_near_one_on_either_side():
    assert _parallel(simple=0.10, dibs=0.11).verdict == "match"
    assert _parallel(simple=0.11, dibs=0.10).verdict == "match"
    assert _parallel(simple=0.20, dibs=0.10).verdict == "differs"
    assert _parallel(simple=0.10, dibs=0.10, complete=0.5).verdict == "unjudged"


def _parallel(simple, dibs, complete=1.0):
    figure = side_effects.Figure7()
    runs = {figure.case(schemes.SIMPLE).key: run(simple), figure.case(schemes.DIBS).key: run(dibs, complete=complete)}
    [row] = figure.further_rows(Measured(Runs(runs)), {})
    assert row.measured == pytest.approx(dibs / simple, rel=1e-6)
    return row


def test_elephants_are_flows_from_10_mb_on():
    of = run(0.1, elephant_bytes=9_999_999)
    assert outcomes.elephant_goodput_bps(of) is None
    assert outcomes.requested(of, BACKGROUND, outcomes.IS_ELEPHANT).is_complete.size == 0
    assert outcomes.elephant_goodput_bps(run(0.1, elephant_bytes=10_000_000)) == pytest.approx(800e6)


@pytest.mark.parametrize("metric", [metrics.MEAN_QCT, metrics.P99_ANSWER, metrics.ELEPHANT_GOODPUT])
def test_a_claim_about_complete_ones_is_not_judged_where_few_are(metric):
    above, below = (SIMPLE, ECMP) if metric is metrics.ELEPHANT_GOODPUT else (ECMP, SIMPLE)
    claim = Claim(metric, above, below, 2.0)
    first, *_ = claim.rows(measured(ecmp=run(0.2), simple=run(0.1)))
    assert (first.measured, first.verdict) == (pytest.approx(2.0, rel=1e-6), "within")
    first, *others = claim.rows(measured(ecmp=run(0.2), simple=run(0.1, complete=0.5)))
    assert first.verdict == "unjudged"
    assert "finished: Simple DCTCP" in first.judgement.reason
    assert "ECMP" not in first.judgement.reason
    assert all(row.verdict == "unjudged" for row in others)


def test_a_quotient_says_what_share_of_either_run_it_saw():
    of = measured(ecmp=run(0.1), simple=run(0.1, complete=0.7))
    shares = quotient(of, metrics.MEAN_QCT, ECMP, SIMPLE, "it").completed
    assert [(share.series, share.finished, share.begun) for share in shares] == [
        ("ECMP DCTCP", 200, 200),
        ("Simple DCTCP", 140, 200),
    ]
    for metric in (metrics.REORDERED, metrics.MEAN_QCT.whole, metrics.COMPLETE):
        assert quotient(of, metric, ECMP, SIMPLE, "it").completed == ()


def test_with_9_of_10_complete_the_number_with_unfinished_ones_is_judged_instead():
    claim = Claim(metrics.MEAN_QCT, ECMP, SIMPLE, 2.0)
    first, whole = claim.rows(measured(ecmp=run(0.2), simple=run(0.1, complete=0.9)))
    assert (first.verdict, whole.paper) == ("unjudged", 2.0)
    assert "unfinished queries counted" in whole.metric
    assert whole.verdict == "differs", "a tenth of Simple's queries lasted longer than all of ECMP's"
    of = measured(ecmp=run(0.2), simple=run(0.1, complete=0.9))
    assert judgeable(of, metrics.MEAN_QCT, ECMP, SIMPLE, "it").metric == whole.metric.replace("Simple DCTCP", "it")
    of = measured(ecmp=run(0.2), simple=run(0.1))
    assert judgeable(of, metrics.MEAN_QCT, ECMP, SIMPLE, "it").metric == "mean QCT, over it"


def test_the_share_of_complete_queries_is_in_percent_and_needs_no_share():
    of = measured(ecmp=run(0.1, complete=0.8), simple=run(0.1))
    assert of.value(metrics.COMPLETE, ECMP) == pytest.approx(80.0)
    assert quotient(of, metrics.COMPLETE, SIMPLE, ECMP, "it").measured == pytest.approx(1.25)
    assert of.completed(metrics.COMPLETE, ECMP) == ()


def _rows(*measured_values, begun=100, finished=100):
    share = Share("x", finished, begun)
    return [Row("x", str(n), "m", "", value, completed=(share,)) for n, value in enumerate(measured_values)]


def test_a_statement_about_several_numbers_is_judged_by_the_worst():
    rows = list(counted_once(near_one(_rows(1.01, 1.4, 0.9), 0.15, "steady")))
    assert [row.verdict for row in rows] == ["unjudged", "differs", "unjudged"]
    rows = list(counted_once(near_one(_rows(1.01, 1.1, 0.8), 0.15, "steady")))
    assert [row.verdict for row in rows] == ["unjudged", "unjudged", "differs"]
    rows = list(counted_once(near_one([*_rows(1.1), *_rows(3.0, finished=50)], 0.15, "steady")))
    assert [row.verdict for row in rows] == ["match", "unjudged"], "a row of half the flows speaks for nothing"
    assert [row.verdict for row in counted_once(near_one(_rows(3.0, finished=50), 0.15, "steady"))] == ["unjudged"]
    assert not list(judged_once([], Exact(), abs))
    assert [row.verdict for row in counted_once(judged_once(_rows(None), Exact(), abs))] == ["unjudged"]


def _table_1(complete):
    cases = [at(scheme, 95) for scheme in load_sweep._TABLE_1_SCHEMES]
    seconds = {case.key: load_sweep.TABLE_1[case.scheme.name][-1] for case in cases}
    short = cases[-1].key
    runs = {key: run(paper_s, complete=complete if key == short else 1.0) for key, paper_s in seconds.items()}
    rows = load_sweep.Table1().further_rows(Measured(Runs(runs)), {case.key: case for case in cases})
    return {row.series: row for row in rows}


def test_table_1_judges_runs_in_which_most_queries_are_complete():
    rows = _table_1(1.0)
    assert {row.verdict for name, row in rows.items() if name != "all"} == {"within"}
    assert rows["all"].verdict == "match"
    assert (rows["all"].measured, rows["all"].paper) == (12, 12)
    rows = _table_1(0.9)
    assert rows[schemes.LAS.name].verdict == "unjudged"
    assert (rows["all"].verdict, rows["all"].measured, rows["all"].paper) == ("match", 9, 9)
    assert rows[schemes.QUANTILE.name].verdict == "within"


def test_a_scheme_that_completes_nothing_is_not_the_fastest():
    rows = _table_1(0.0)
    assert rows["all"].paper == 9
    assert rows[schemes.LAS.name].measured is None
    assert load_sweep._order(Measured(Runs({})), {}).verdict == "unjudged"


@pytest.mark.parametrize(("factor", "verdicts"), [(0.2, {"beyond", "differs"}), (1.0, {"within"}), (5.0, {"differs"})])
def test_the_authors_table_grants_being_faster_to_the_papers_schemes_alone(factor, verdicts):
    paper_s = small.MEAN_S
    found = {}
    for scheme in small.SCHEMES:
        times = outcomes.queries(run(factor * paper_s[scheme.name][-1], fan_in=40), 40)
        found[scheme.name] = next(iter(small._judged(scheme.name, 95, times))).verdict
    assert set(found.values()) == verdicts
    own = {schemes.SIMPLE.name, schemes.QUANTILE.name, schemes.DISTRIBUTION.name}
    assert all((verdict == "beyond") == (factor < 1 and name in own) for name, verdict in found.items())


def test_who_is_before_whom_is_what_the_interval_shows():
    def verdict(worse_s, spread):
        of = measured(ecmp=run(worse_s, spread=spread), quantile=run(0.1, spread=spread))
        return before(of, metrics.MEAN_QCT.whole, QUANTILE, ECMP).verdict

    assert verdict(0.13, 0.05) == "match"
    assert verdict(0.102, 0.9) == "unjudged"
    assert verdict(0.08, 0.05) == "differs"


def test_an_order_without_an_interval_is_for_several_seeds_to_judge():
    of = measured(quantile=run(0.1, fan_in=40), vertigo=run(0.1, background=0))
    row = before(of, metrics.REORDERED, QUANTILE, VERTIGO)
    assert row.interval is None
    assert row.verdict == "unjudged"
    seen = [(seed, [replace(row, measured=measured)]) for seed, measured in enumerate((1.9, 2.0, 2.1))]
    assert [one.verdict for one in over_seeds(seen, takes_one=False)] == ["match"]


def test_the_largest_incast_has_more_answers_than_hosts():
    figure = incasts.Figure9()
    far = [claim for claim in figure.claims() if "450" in claim.above.label]
    assert len(far) == 3
    for claim in far:
        queries = claim.above.scenario(10)["flows"][-1]
        assert (queries["fan_in"], queries["servers_repeat"]) == (450, True)
    assert "servers_repeat" not in at(schemes.ECMP, 95).scenario(10)["flows"][-1]


@pytest.mark.parametrize(("simulated_s", "verdicts"), [(1.0, ["unjudged", "unjudged"]), (1.2, ["differs", "beyond"])])
def test_more_complete_queries_are_judged_in_runs_of_the_papers_length(simulated_s, verdicts):
    figure = networks.Figure10()
    made = {scheme.name: run(0.1, complete=1.0) for scheme in (schemes.DIBS, schemes.SIMPLE)}
    made["ECMP"] = run(0.1, queries=1000, complete=0.9)
    cases = {name: networks._TREE[95].case(scheme) for name, scheme in _BY_NAME.items() if name in made}
    runs = {cases[name].key: _of_length(made[name], simulated_s) for name in made}
    rows = list(figure.further_rows(Measured(Runs(runs)), {}))
    assert [row.verdict for row in rows] == verdicts
    assert all(row.measured == pytest.approx(1 / 0.9) for row in rows)


_BY_NAME = {scheme.name: scheme for scheme in (schemes.ECMP, schemes.DIBS, schemes.SIMPLE)}


def _of_length(made, simulated_s):
    return Run("", Summary({**made.summary.values, "simulated_s": simulated_s}), made.tables)


@pytest.mark.parametrize("complete", [1.0, 0.6])
def test_a_reduced_run_says_the_same(complete):
    whole = run(0.1, complete=complete, spread=0.2)
    small = reduced(whole)
    assert small.table("flows").height == 2
    assert small.table("messages").estimated_size() < whole.table("messages").estimated_size()
    for number in (
        lambda of: outcomes.offered_percent(of, 1e9),
        lambda of: of.table("flows")["delivered_bytes"].sum(),
        outcomes.dropped_percent,
        outcomes.reordered_percent,
        outcomes.elephant_goodput_bps,
        lambda of: statistics.whole_mean(outcomes.queries(of, 100)),
        lambda of: outcomes.flows(of, "queries").percentile_s(99),
        lambda of: statistics.mean(outcomes.flows(of)),
    ):
        assert number(small) == number(whole)
    assert reduced(small).table("flows").equals(small.table("flows"))


def test_points_of_a_sweep_are_reduced():
    points = list(load_sweep.Figure6().points(Context(effort="quick")))
    assert all(point.reduce is reduced for point in points)


def test_the_panel_of_one_forwarding_has_the_schemes_that_always_had_it():
    figure = load_sweep.Figure6()
    points = list(figure.points(Context(effort="normal")))
    made = run(0.1, queries=20)
    runs = Runs({point.key: made for point in points})
    next(iter(figure.rows(runs, Context(effort="normal"))))  # plots use the values of the rows
    panels = {plot.title: {series.name for series in plot.series} for plot in figure.plots(runs, Context())}
    compared = {scheme.name for scheme in schemes.COMPARED}
    assert panels["Mean QCT, DCTCP 10/40G"] == compared
    assert panels[f"Mean QCT, DCTCP 10/40G {schemes.FAIR.note}"] == {*compared, schemes.TRIMMING.name}


def test_points_that_did_not_run_cost_the_others_no_row():
    figure = load_sweep.Figure1()
    context = Context(effort="quick")
    points = list(figure.points(context))
    ran = {point.key for point in points if point.key.startswith("ECMP")}
    rows = list(figure.rows(Runs({key: run(0.1, queries=20) for key in ran}), context))
    assert {(row.series, row.metric) for row in rows} >= {("ECMP DCTCP", "mean QCT"), ("ECMP DCTCP", "p99 QCT")}
    assert len({row.x for row in rows}) == len(ran) == 2
    assert list(figure.plots(Runs({}), context))


def test_shared_buffers_and_liars_have_a_panel_each():
    figure = beyond.Future()
    by_panel = {}
    for case in figure.cases(Context(effort="full")):
        by_panel.setdefault(figure.panel(case), []).append(case)
    assert {case.lie_divisor for case in by_panel.pop("liars")} == {beyond.LIE}
    [others] = by_panel.values()
    assert {case.lie_divisor for case in others} == {1}


def _lies(honest_s, liars_s):
    """Background of honest flows and liars in turn, with network variation common to both."""
    rows = []
    for number in range(2_000):
        begin = number / 2_000
        swing = 1 + 0.9 * np.sin(7 * begin)
        for group, took in (("background", honest_s), ("liars", liars_s)):
            rows.append((group, number, 1, int(PS * begin), int(PS * begin), int(PS * (begin + took * swing))))
    names = ["group", "query", "bytes", "started_ps", "requested_ps", "delivered_ps"]
    return Run("", Summary({"simulated_s": 2.0}), {"messages": pl.DataFrame(rows, schema=names, orient="row")})


@pytest.mark.parametrize(("guarded_s", "verdict"), [(0.01, "match"), (0.02, "match"), (0.005, "differs")])
def test_a_guard_that_leaves_liars_a_gain_differs(guarded_s, verdict):
    cases = {guarded: beyond.lying(schemes.QUANTILE, guarded=guarded) for guarded in (False, True)}
    runs = {cases[False].key: _lies(0.01, 0.002), cases[True].key: _lies(0.01, guarded_s)}
    ran = {case.key: case for case in cases.values()}
    plain, with_guard, share = beyond.Future().further_rows(Measured(Runs(runs)), ran)
    assert (plain.measured, plain.verdict) == (pytest.approx(5.0), "unjudged")
    assert (with_guard.measured, with_guard.verdict) == (pytest.approx(0.01 / guarded_s), verdict)
    assert share.measured == pytest.approx(5 * guarded_s / 0.01)


def test_samples_of_one_run_are_resampled_together():
    honest, liars = (outcomes.flows(_lies(0.01, 0.005), group) for group in ("background", "liars"))
    together = statistics.ratio_interval_within(honest, liars, statistics.mean)
    apart = statistics.ratio_interval(honest, liars, statistics.mean)
    assert together.low == pytest.approx(2.0, rel=1e-6)
    assert together.high - together.low < 0.01 < apart.high - apart.low
