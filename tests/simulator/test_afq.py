"""AFQ end to end: the workloads of its exhibits, completion times, schedulers, and the data of figures."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import hitless as hl
from hitless.simulation import PacketSimulation, Simulation
from hitless_papers import Context, Factor, Gain, Range, Runs, Share
from hitless_papers.afq import (
    causes,
    cluster,
    flows,
    incast,
    load_sweep,
    one_link,
    open_settings,
    prototype,
    ratios,
    schedulers,
    schemes,
)
from hitless_papers.afq.cluster import ClusterCase
from hitless_papers.afq.sizes import ENTERPRISE, PARETO, PAYLOAD_SHARE, Sizes
from hitless_papers.statements import counted_once
from warm import hitless
from worlds import dumbbell, ideal
from worlds import flows as flows_of


class Fixed(Sizes):
    def __init__(self, size_bytes):
        self.name = "fixed"
        self.scenario = {"kind": "fixed", "bytes": f"{size_bytes} B"}
        self._size_bytes = size_bytes

    def quantiles(self, shares):
        return np.full(shares.shape, float(self._size_bytes))


def run(case, duration_ms, seed=1, measure=None, keep=None):
    return PacketSimulation(case.scenario(duration_ms, measure or {})).job(file_name=case.key, seed=seed).run(keep=keep)


def test_what_a_flow_can_send_before_the_end_is_the_mean_over_its_start():
    starts = (np.arange(10_000) + 0.5) / 10_000
    for sizes in (ENTERPRISE, PARETO, Fixed(100_000)):
        most = 10e9 * PAYLOAD_SHARE / 8 * 0.02
        size = sizes.quantiles(np.array([0.3, 0.9, 0.999]))
        slow = [np.minimum(one, most * starts).mean() for one in size]
        quick = np.interp([0.3, 0.9, 0.999], (np.arange(200_000) + 0.5) / 200_000, sizes.sent_bytes(10e9, 0.02))
        assert quick == pytest.approx(slow, rel=2e-3)


def test_sizes_are_those_that_the_simulator_draws():
    for sizes in (ENTERPRISE, PARETO):
        drawn = run(ClusterCase(sizes, 5, schemes.DROP_TAIL), 20).table("messages")["bytes"].to_numpy()
        assert drawn.size > 1_500
        for share in (0.1, 0.3, 0.5, 0.7, 0.9, 0.97):
            (limit,) = sizes.quantiles(np.array([share]))
            below, upto = (drawn < round(limit)).mean(), (drawn <= round(limit)).mean()
            assert below - 0.04 < share < upto + 0.04, (sizes.name, share)


def test_the_core_links_get_the_load_that_was_asked_for():
    made = run(ClusterCase(Fixed(20_000), 40, schemes.DCTCP_MARKING), 4)
    assert cluster.utilization(made) == pytest.approx(0.4, abs=0.02)


@pytest.mark.parametrize("size_bytes", [1, 1_448, 1_449, 14_480, 300_000])
def test_a_flow_alone_takes_what_the_idle_network_is_said_to_take(size_bytes):
    unhindered = replace(schemes.DROP_TAIL, transport={**schemes.TCP, "initial_window": 1_000})
    case = ClusterCase(Fixed(size_bytes), 1, unhindered)
    scenario = case.scenario(2, {})
    alone = {**scenario["flows"][0], "flows_per_second": 20_000, "count": 3}
    made = PacketSimulation({**scenario, "clocks": "ideal", "flows": [alone]}).job(file_name="alone", seed=1).run()
    done = cluster.completion(made)
    assert len(done) == 3
    assert done["fct_us"].to_numpy() == pytest.approx(done["idle_us"].to_numpy(), rel=1e-3)


def two_schemes():
    """Three flows began, but the last, a short one, did not finish under the second scheme."""
    columns = {"bytes": [10, 200_000, 30], "started_ps": [3, 1, 2], "idle_us": [1.0, 2.0, 3.0]}
    first = pl.DataFrame({"flow": [1, 2, 3], **columns, "number": 0, "fct_us": [5.0, 6.0, 7.0]})
    second = pl.DataFrame({"flow": [1, 2, 3], **columns, "number": 0, "fct_us": [1.0, 2.0, 3.0]}).filter(
        pl.col("flow") != 3
    )
    return flows.Compared({"first": first, "second": second}, pl.Series([10, 200_000, 30]))


def test_compared_are_the_flows_that_finished_under_every_scheme():
    compared = two_schemes()
    assert compared.table["flow"].to_list() == [2, 1]
    assert compared.short.table["flow"].to_list() == [1]
    assert compared.only("first").table["flow"].to_list() == [2, 3, 1]
    assert ratios.mean_ratio(compared.table, "first", "second")[0] == pytest.approx(11 / 3)


def test_a_comparison_says_what_finished_under_each_scheme_and_what_is_left_of_it():
    compared = two_schemes()
    said = {share.series: (share.finished, share.begun) for share in compared.shares}
    assert said == {"first": (3, 3), "second": (2, 3), flows.EVERY_SCHEME: (2, 3)}
    short = {share.series: (share.finished, share.begun) for share in compared.short.shares}
    assert short == {"first": (2, 2), "second": (1, 2), flows.EVERY_SCHEME: (1, 2)}
    assert [(share.finished, share.begun) for share in compared.of_sizes(1e6, 1e9).shares] == [(0, 0)] * 3


def test_a_scheme_that_finishes_little_is_not_called_faster():
    ratio = ratios.mean(two_schemes(), "first", "second")
    assert ratio.value == pytest.approx(11 / 3)
    row = ratio.row("second", "here", "mean FCT, first over it", 2.0, Gain(better="higher"))
    assert row.verdict == "unjudged"
    assert "second: 66.6 % of 3 flows finished" in row.full_note
    assert ratios.normalized_mean(two_schemes(), "first").row("first", "here", "mean", 4.0, Factor()).completed[1:] == (
        Share(flows.EVERY_SCHEME, 2, 3),
    )


def test_a_size_of_which_no_flow_finished_has_no_number():
    none = two_schemes().of_sizes(1e6, 1e9)
    for ratio in (ratios.mean(none, "first", "second"), ratios.tail(none, "first", "second")):
        assert ratio.value is None
        assert ratio.row("second", "here", "mean", 2.0, Gain()).verdict == "unjudged"


def test_runs_that_did_not_have_the_same_flows_are_not_compared():
    made = [PacketSimulation(ClusterCase(Fixed(size), 5, schemes.DROP_TAIL).scenario(1, {})) for size in (1_000, 2_000)]
    with pytest.raises(ValueError, match="the same flows"):
        flows.begun_bytes([one.job(file_name="one", seed=1).run() for one in made])


def test_a_change_of_the_prototype_reaches_the_schemes_that_it_is_about_and_changes_them():
    reached = {}
    for change in causes._CHANGES[1:]:
        keys = {scheme.name: change.key(scheme) for scheme in prototype.SCHEMES}
        reached[change.name] = {name for name, key in keys.items() if change.name in key}
        for scheme in prototype.SCHEMES:
            plain = prototype.scenario(scheme, 80, 10)
            changed = prototype.scenario(change.scheme(scheme), 80, 10, change.testbed)
            assert (changed != plain) == (scheme.name in reached[change.name])
    pair, both = {"packet-pair+AFQ"}, {"packet-pair+AFQ", "DCTCP+AFQ"}
    every = {scheme.name for scheme in prototype.SCHEMES}
    for name, of in reached.items():
        wide = "16 MB" in name or "connections" in name
        assert of == (every if wide else pair if "packet pair" in name else both), name


def test_senders_that_differ_by_a_burst_are_not_told_apart():
    for delivered, within in (([60_000, 90_000, 61_000], True), ([60_000, 90_001], False), ([0, 0], True)):
        made = Simulation.__new__(Simulation)  # anything with tables
        made.table = lambda _, values=delivered: pl.DataFrame({"delivered_bytes": values})
        assert one_link.within_a_burst(made) == within


def test_what_is_computed_from_flows_says_how_many_finished_and_what_it_hangs_on(monkeypatch):
    monkeypatch.setattr(cluster, "duration_ms", lambda *_: 1)
    monkeypatch.setattr(load_sweep, "_loads", lambda _: (30, 70))
    figure, context = load_sweep.Figure9(), Context(seed=1, effort="quick")
    runs = Runs({point.key: point.work.job(file_name="x", seed=1).run(point.keep) for point in figure.points(context)})
    rows = list(counted_once(figure.rows(runs, context)))
    computed = [row for row in rows if "FCT" in row.metric]
    assert len(computed) > 50
    assert all(row.completed for row in computed)
    gains = [row for row in computed if "over it" in row.metric and isinstance(row.paper, Range)]
    windows = {"TCP": "window of 1 ", "DCTCP": "window of 1 ", "window 10": "window of 10 "}
    for row in gains:
        assert row.series == "AFQ"
        assert "AFQ used the core links to" in row.note
        assert any(rival in row.metric and said in row.note for rival, said in windows.items())
    assert {(row.paper.low, row.paper.high) for row in gains} == {(2, 4), (3, 5), (4, 8)}
    assert sum("window 10" in row.metric for row in gains) == sum("window 10" not in row.metric for row in gains)
    assert list(figure.plots(runs, context))


def test_an_interval_covers_slices_that_go_together():
    started = np.repeat(np.arange(40) * 1_000, 50)
    slow = np.repeat(np.random.default_rng(1).uniform(1, 3, 40), 50)
    a_little = np.random.default_rng(2).uniform(0.99, 1.01, 2_000)
    table = pl.DataFrame({"started_ps": started, "slow": slow * a_little, "even": a_little})
    value, certainty = ratios.mean_ratio(table, "slow", "even")
    interval = certainty.interval
    assert interval.low < value < interval.high
    # 2,000 independent values would give a tenth of this.
    assert interval.high - interval.low > 0.2


@pytest.mark.parametrize("statistic", [ratios.mean_ratio, ratios._tail_ratio])
def test_flows_that_repeat_themselves_have_no_interval(statistic):
    table = pl.DataFrame({"started_ps": np.arange(2_000), "slow": np.full(2_000, 3.5), "even": np.ones(2_000)})
    value, certainty = statistic(table, "slow", "even")
    assert (value, certainty.interval) == (3.5, None)
    assert "1 distinct value among 2,000" in certainty.why


def test_an_incast_is_complete_with_its_last_answer():
    case = incast.IncastCase(schemes.DCTCP_MARKING, 8)
    made = PacketSimulation(case.scenario(3)).job(file_name=case.key, seed=1).run()
    times = incast.completion_ms(made)
    assert len(times) == 3
    assert times == pytest.approx([incast.ideal_ms(8)] * 3, rel=0.01)


def test_incasts_lose_packets_in_the_clients_buffer_and_to_no_round_of_afq():
    [plain, *_, large] = [one for one in open_settings._incasts() if one.senders == 128]
    rows = {}
    for one in (plain, large):
        made = PacketSimulation(one.case.scenario(2)).job(file_name=one.key, seed=1).run(flows.TABLES)
        rows[one.name] = {row.metric: row.measured for row in one.rows({one.key: made})}
    dropped, ahead = (f"packets dropped for each query: {why}" for why in ("shared buffer full", "too far ahead"))
    assert rows["as in figure 11"][dropped] > 100
    assert rows["as in figure 11"][ahead] == 0
    assert rows["1 MB for the client's port"][dropped] == 0
    assert rows["1 MB for the client's port"]["completion time over ideal"] < 1.15


def test_a_query_with_an_answer_missing_is_not_one_that_was_answered():
    columns = {"query": [0, 0, 1, 1], "started_ps": [0, 0, 5, 5]}
    made = Simulation.__new__(Simulation)  # anything with tables
    made.table = lambda _: pl.DataFrame({**columns, "delivered_ps": [10**9, 2 * 10**9, 10**9, -1]})
    assert incast.completion_ms(made).tolist() == [2.0]
    assert incast.queries_begun(made) == 2
    assert incast.share(incast.IncastCase(schemes.DCTCP_MARKING, 2), made) == Share("DCTCP", 1, 2, "queries")


def test_jains_index_is_one_for_equal_and_one_over_n_for_one_alone():
    for delivered, expected in (([5, 5, 5, 5], 0.0), ([7, 0, 0, 0], 0.75), ([3, 1], 0.2)):
        made = Simulation.__new__(Simulation)  # anything with tables
        made.table = lambda _, values=delivered: pl.DataFrame({"delivered_bytes": values})
        assert one_link.unfairness(made) == pytest.approx(expected)


@pytest.fixture(scope="module")
def at_high_load():
    """Run a few milliseconds of the cluster at 90 % load, by scheme."""
    made = {}
    names = (schedulers._ROTATING, schedulers._NAMED, schedulers._DEFICIT, schedulers._GROUPS, schedulers._IDEAL)
    for scheme in [scheme for scheme in schedulers._VARIANTS if scheme.name in names]:
        made[scheme.name] = run(ClusterCase(ENTERPRISE, 90, scheme), 1)
    return made


def test_deficit_round_robin_gives_the_schedule_of_rotating_strict_priority(at_high_load):
    differing, every = schedulers.differing_flows(at_high_load[schedulers._NAMED], at_high_load[schedulers._DEFICIT])
    assert every > 2_000
    assert differing == 0


def test_two_groups_give_another_schedule(at_high_load):
    differing, _ = schedulers.differing_flows(at_high_load[schedulers._ROTATING], at_high_load[schedulers._GROUPS])
    assert differing > 0


def test_short_flows_take_as_long_as_with_ideal_fair_queueing(at_high_load):
    names = (schedulers._ROTATING, schedulers._IDEAL)
    tables = {name: cluster.completion(at_high_load[name]) for name in names}
    compared = flows.Compared(tables, flows.begun_bytes(at_high_load[name] for name in names))
    assert ratios.mean(compared.short, *names).value == pytest.approx(1, abs=0.15)


def test_figure_11_says_how_long_incasts_take(tmp_path):
    done = hitless("reproduce", "afq/fig11", "--quick", "--json", "--out", tmp_path / "out")
    (exhibit,) = json.loads(done.stdout)["exhibits"]
    rows = {(row["series"], row["x"], row["metric"]): row for row in exhibit["rows"]}
    for senders in incast.SENDERS:
        beside_ideal = rows["AFQ", f"{senders} senders", "completion time over ideal"]
        assert (beside_ideal["paper"], beside_ideal["judge"]) == (1.0, "exact")
        is_open = "unjudged" if beside_ideal["ci_low"] <= 1.2 else "differs"
        assert beside_ideal["verdict"] == ("match" if beside_ideal["measured"] <= 1.2 else is_open)
        # A sender at the client's own leaf is nearer than the ideal's path through the fabric.
        assert rows["Ideal-FQ", f"{senders} senders", "completion time"]["measured"] > 0.99 * incast.ideal_ms(senders)


def test_runs_of_one_load_have_the_same_flows():
    first, second = (ClusterCase(ENTERPRISE, 50, scheme) for scheme in (schemes.DROP_TAIL, schemes.DCTCP_MARKING))
    tables = {case.scheme.name: cluster.completion(run(case, 2)) for case in (first, second)}
    joined = tables["TCP"].join(tables["DCTCP"], on="flow", suffix="_other")
    assert len(joined) > 500
    assert joined["bytes"].equals(joined["bytes_other"].rename("bytes"))
    assert joined["started_ps"].equals(joined["started_ps_other"].rename("started_ps"))
    compared = cluster.compared(Runs({c.key: run(c, 2) for c in (first, second)}), [first, second])
    *_, both = compared.shares
    assert both.begun >= len(joined) == both.finished


def test_on_off_senders_are_not_refused_for_bursts_that_there_is_no_time_for():
    scenario = one_link.Sharing(one_link.DCTCP_AFQ, 512).scenario(duration_ms=1_000)
    hl.Scenario.from_dict(scenario).check()


def classes_beside_each_other(classes):
    """Class 2 sends a fifth of the link, class 0 nearly all; two flows of class 1 send more than the rest."""
    senders = {"above": (2, "2 Gbps"), "loud": (1, "9 Gbps"), "less": (1, "6 Gbps"), "below": (0, "9 Gbps")}
    world = dumbbell(4, 4) | ideal("400 KB", scheduler="strict", queues_per_port=3)
    world["transport"] = [{"name": name, "kind": "udp", "rate": rate} for name, (_, rate) in senders.items()]
    world["flows"] = [
        flow
        for host, (name, (group, _)) in enumerate(senders.items())
        for flow in flows_of(
            "constant-rate", [f"h{host}"], [f"h{host + 4}"], name=name, transport=name, **{"class": group}
        )["flows"]
    ]
    afq = {"kind": "afq", "ports": ["left->right"], "classes": classes}
    return {"name": "classes", "duration": "10 ms", **world, "mechanism": [afq]}


def test_only_a_listed_class_is_fair_queued():
    made = PacketSimulation(classes_beside_each_other([1])).job(file_name="classes", seed=1).run()
    delivered = made.table("flows")["delivered_bytes"].to_list()
    above, loud, less, below = (value * 8 / 10e-3 / 10e9 for value in delivered)
    assert above == pytest.approx(0.2, rel=0.05)
    assert loud == pytest.approx(less, rel=0.02)
    assert above + loud + less > 0.95
    assert below < 0.02
    counters = {row["counter"]: row["value"] for row in made.table("mechanisms").iter_rows(named=True)}
    seen = counters["packets_assigned"] + counters["packets_dropped_too_far_ahead"]
    assert seen == pytest.approx((9 + 6) / 8 * 10e-3 * 1e9 / 1_500, rel=0.05)
    assert "above" not in made.table("drops")["group"].to_list()


@pytest.mark.parametrize(
    ("classes", "rule"), [([], "is empty"), ([3], "class 3 has no separate queue"), ([0, 2], "class 1 is between them")]
)
def test_classes_that_cannot_be_fair_queued_are_refused(classes, rule):
    with pytest.raises(hl.RefusedScenario, match=rule):
        hl.Scenario.from_dict(classes_beside_each_other(classes)).check()
