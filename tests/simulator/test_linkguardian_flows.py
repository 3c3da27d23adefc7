"""Exhibits of LinkGuardian about flows and losses: their arithmetic, and the totals of small runs."""

import math

import numpy as np
import polars as pl
import pytest

from hitless.simulation import Run, Simulation, Summary
from hitless_papers import Context, Runs
from hitless_papers.estimates import ratio_of
from hitless_papers.linkguardian import ablation, bursts, completion, recovery, reordering, testbed
from hitless_papers.linkguardian.ablation import COLUMNS, web_search

MSS = 1_448


def flow(number, *, peak, gap=0, pending=0):
    """A row of the table of flows, with the columns that classes need: segments."""
    sacks = {"sacked_peak_bytes": peak * MSS, "sack_gap_offset_bytes": gap * MSS, "sack_pending_bytes": pending * MSS}
    return {"flow": number, "fast_recoveries": 0, **sacks}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"peak": 0}, []),
        ({"peak": 1, "gap": 5}, ["A"]),
        ({"peak": 2, "gap": 13}, ["A"]),
        ({"peak": 2, "gap": 14}, ["B"]),
        ({"peak": 1, "gap": 15}, ["B"]),
        ({"peak": 3, "gap": 13}, ["C"]),
        ({"peak": 9, "gap": 0, "pending": 5}, ["D"]),
    ],
)
def test_affected_flows_are_classified_as_figure_13_does(record, expected):
    flows = pl.DataFrame([flow(1, **record)])
    messages = pl.DataFrame(
        {"flow": [1], "started_ps": [0], "delivered_ps": [98_000_000], "acknowledged_ps": [99_000_000]}
    )
    run = Run("", Summary({}), {"flows": flows, "messages": messages})
    assert reordering.affected(run)["group_of"].to_list() == expected


@pytest.mark.parametrize("window", [4, 10])
def test_senders_record_what_link_local_recovery_out_of_order_shows_them(window):
    """Without loss no flow is affected; LG keeps the order; with LG_NB a gap shows in one flow of sixty.

    Pending data is the end of the flow, including its last and shorter packet.
    """
    keep = ("flows", "messages")

    def affected(scheme, loss):
        made = web_search(scheme, loss, {}, 3_000)
        made = {**made, "transport": [{**testbed.DCTCP, "name": "transport", "initial_window": window}]}
        return reordering.affected(Simulation(made, file_name="web-search", seed=1).run(keep=keep))

    assert affected("none", 0.0).is_empty()
    assert affected("LG", testbed.MEASURED_LOSS).is_empty()
    found = affected("LG_NB", testbed.MEASURED_LOSS)
    assert 25 < len(found) < 80
    assert (found["sack_gap_offset_bytes"] < testbed.WEB_SEARCH_BYTES).all()
    assert (found["sacked_peak_bytes"] < testbed.WEB_SEARCH_BYTES).all()
    pending = found.filter(pl.col("sack_pending_bytes") > 0)
    assert len(pending)
    last_bytes = testbed.WEB_SEARCH_BYTES - (testbed.WEB_SEARCH_PACKETS - 1) * MSS
    assert ((pending["sack_pending_bytes"] - last_bytes) % MSS == 0).all()
    assert (pending["pending_mss"] <= testbed.WEB_SEARCH_PACKETS - window).all()
    in_recovery = found.filter(pl.col("fast_recoveries") > 0)
    assert not in_recovery["group_of"].is_in(["A", "B"]).any()
    assert len(in_recovery)


def test_columns_of_table_2_differ_in_what_they_switch_off():
    mechanisms = {
        name: web_search(scheme, loss, more, 1).get("mechanism") for name, (scheme, loss, more) in COLUMNS.items()
    }
    assert mechanisms["No Loss"] is mechanisms["Loss"] is None
    chosen = {
        name: (of[0]["mode"], of[0].get("tail_detection", True)) for name, of in mechanisms.items() if of is not None
    }
    assert chosen == {
        "ReTx": ("non-blocking", False),
        "ReTx+Order": ("blocking", False),
        "ReTx+Tail": ("non-blocking", True),
        "ReTx+Tail+Order": ("blocking", True),
    }


def sample(around_us, trials=30_000):
    return (around_us + np.random.default_rng(round(around_us)).uniform(-50.0, 50.0, trials)).tolist()


@pytest.mark.parametrize(
    ("middles_us", "verdict", "note"),
    [
        ((100, 3_400, 612, 493, 495, 268), "match", ""),
        ((100, 3_400, 612, 493, 495, 100), "differs", "not in that order: ReTx+Tail+Order and No Loss"),
        ((100, 160, 612, 493, 495, 268), "differs", "not in that order: Loss and ReTx"),
    ],
)
def test_the_order_of_columns_is_that_of_the_paper_or_not(middles_us, verdict, note, monkeypatch):
    # From a paper with distinct columns.
    monkeypatch.setitem(ablation._PAPER_US, 99.9, (100.0, 3400.0, 612.0, 493.0, 494.0, 268.0))
    row = ablation._order("99.9%", [sample(middle) for middle in middles_us], 99.9)
    assert row.paper == 14.0
    assert row.verdict == verdict
    assert note in row.note


def test_columns_that_cannot_be_told_apart_are_not_judged():
    """An unbounded percentile proves nothing, nor does an interval that covers both orders."""
    middles_us = (150, 3_400, 612, 493, 495, 268)
    row = ablation._order("99.999%", [sample(middle) for middle in middles_us], 99.999)
    assert (row.measured, row.verdict) == (0.0, "unjudged")
    # The 99.9th of 12,000 is the 13th largest value: here between 150 and 300 us.
    random = np.random.default_rng(1)
    wide, narrow = random.uniform(149.0, 151.0, 12_000), random.uniform(167.0, 169.0, 12_000)
    wide[random.choice(12_000, 20, replace=False)] = np.linspace(152.0, 300.0, 20)
    ratio = ratio_of(wide, narrow, 99.9)
    assert ratio.value in ratio.interval
    assert ratio.interval.low < 1 < ratio.interval.high
    assert completion.slower(wide, narrow, 99.9, 0.1).judge(None, None, None).verdict == "unjudged"


def test_a_percentile_that_the_trials_do_not_bound_is_not_judged():
    verdict = {row.x: row.verdict for row in ablation._column("ReTx", 2, sample(150.0, 10_000))}
    assert verdict["99%"] == verdict["99.9%"] == "within"
    assert verdict["99.99%"] == verdict["99.999%"] == "unjudged"
    slow = {row.x: row.verdict for row in ablation._column("ReTx", 2, sample(2_000.0, 10_000))}
    assert slow["99.9%"] == "differs"
    calibrated = [row.judgement.reason for row in ablation._column("No Loss", 0, sample(150.0, 10_000))]
    assert calibrated == ["calibrated on this number"] * 5


def test_the_price_of_disorder_is_judged_by_the_papers_own_ratio():
    """Equal columns do not match the paper's 1.16 and 1.62, however few the trials."""
    alike = sample(200, 1_000_000)
    rows = [
        ablation._price_of_disorder(share, {"ReTx+Tail": alike, "ReTx+Tail+Order": alike}) for share in (99.9, 99.99)
    ]
    assert [row.paper for row in rows] == [pytest.approx(1.163, abs=1e-3), pytest.approx(1.619, abs=1e-3)]
    assert [row.verdict for row in rows] == ["differs", "differs"]


class Tiny(Context):
    """Runs that are too short to say much."""

    def length(self, what, *, full, quick, normal=None):
        return {"trials": self.trials}.get(what, 60_000)


@pytest.mark.parametrize(
    ("exhibit", "without_power"),
    [
        (ablation.Table2(), ("all", "99.999%", "pairs of columns in the paper's order")),
        (completion.Figure12(), ("LG_NB", "DCTCP", "p99.9 FCT over LG's")),
        (reordering.Figure13(), None),
        (recovery.Figure19(), None),
        (bursts.Figure20(), ("LG, independent 5%", "5 registers", "loss events covered, by LG's counter")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_exhibit_runs_from_points_to_rows_and_plots(exhibit, without_power):
    context = Tiny()
    context.trials = 80 if isinstance(exhibit, completion.Figure12) else 400
    points = list(exhibit.points(context))
    runs = Runs({p.key: Simulation(p.what, file_name=p.key, seed=1).run(keep=p.keep) for p in points})
    rows = list(exhibit.rows(runs, context))
    verdicts = {(row.series, row.x, row.metric): row.verdict for row in rows}
    assert len(verdicts) == len(rows), "two rows say what they are in the same words"
    for row in rows:
        assert row.interval is None or row.measured is None or row.measured in row.interval, row
    assert without_power is None or verdicts[without_power] == "unjudged"
    assert list(exhibit.plots(runs, context))


def test_registers_that_are_too_few_are_counted():
    """LinkGuardian's own counter, with two registers, compared with the probability of consecutive losses."""
    made = bursts._line_rate(bursts.models()["independent 5%"], 300_000, registers=2)
    run = Simulation(made, file_name="bursts", seed=1).run(keep=("mechanisms",))
    row = bursts._registers("independent 5%", 2, run)
    assert row.verdict == "match"
    assert row.measured == pytest.approx(100 - 100 * 0.05**2 / 0.95, abs=0.15)
    wrong = bursts._counted("LG, independent 5%", 5, "", beyond=40, events=100_000)
    assert wrong.verdict == "differs"
    assert bursts._counted("LG, independent 5%", 5, "", beyond=0, events=100_000).verdict == "unjudged"
    assert bursts._counted("LG, independent 5%", 5, "", beyond=0, events=10_000_000).verdict == "match"


def test_five_registers_leave_out_one_loss_event_in_a_million_of_the_fitted_chain():
    models = bursts.models()
    assert bursts.longer_than(models["independent 5%"], 5) == pytest.approx(3.125e-7)
    assert bursts.longer_than(models["bursty, fitted 5%"], 5) == pytest.approx(1e-6)
    assert bursts.longer_than(models["bursty, 2 frames 5%"], 5) == pytest.approx(1 / 32)
    assert pytest.approx(1.067, abs=1e-3) == bursts.FITTED_BURST


@pytest.mark.parametrize("name", ["independent 5%", "bursty, 2 frames 5%"])
def test_losses_in_a_row_are_those_of_the_model(name):
    model = bursts.models()[name]
    run = Simulation(bursts._line_rate(model, 300_000), file_name="bursts", seed=3).run(keep=("corrupted_runs",))
    found = bursts.runs_of_losses(run)
    events = sum(found.values())
    for longest in (1, 2, 3):
        share = sum(count for frames, count in found.items() if frames > longest) / events
        expected = bursts.longer_than(model, longest)
        assert abs(share - expected) < 5 * math.sqrt(expected / events)


def test_retransmission_delays_form_clusters_a_packet_apart():
    made = recovery._line_rate(10, recovery._TRACE_LOSS, 300_000, copies=2)
    run = Simulation(made, file_name="recovery", seed=1).run(keep=("histograms", "mechanisms"))
    rows = {(row.x, row.metric): row.measured for row in recovery._trace_rows("two copies", run)}
    shares = [rows[f"10G, {late} packets late", "of the recoveries"] for late in (0, 1, 2)]
    assert sum(shares) == pytest.approx(100.0, abs=0.2)
    assert shares[0] > 97
    assert 0.4 < shares[1] < 1.6
    assert 0.4 < shares[2] < 1.6
    assert rows["10G", "largest distance from whole packets' times"] < 60
    assert list(recovery.Figure19().plots(Runs({"10G": run}), Context()))
