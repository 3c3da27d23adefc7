"""Exhibits of LinkGuardian about flows and losses: their arithmetic, and that small runs add up."""

import math

import polars as pl
import pytest

from hitless.exhibits import Context, Runs
from hitless.exhibits.linkguardian import ablation, bursts, recovery, reordering, testbed
from hitless.exhibits.linkguardian.ablation import COLUMNS, web_search
from hitless.simulation import Run, Simulation, Summary

MSS = 1_448


def flow(number, *, peak, gap=0, pending=0):
    """A row of the table of flows, as far as classes need it: segments."""
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
    messages = pl.DataFrame({"flow": [1], "started_ps": [0], "acknowledged_ps": [99_000_000]})
    run = Run("", Summary({}), {"flows": flows, "messages": messages})
    assert reordering.affected(run)["group_of"].to_list() == expected


def test_senders_record_what_link_local_recovery_out_of_order_shows_them():
    """Without loss nobody is affected; with LG the order is kept; with LG_NB a gap shows in one flow of sixty."""
    keep = ("flows", "messages")

    def affected(scheme, loss):
        made = web_search(scheme, loss, {}, 3_000)
        return reordering.affected(Simulation(made, file_name="web-search", seed=1).run(keep=keep))

    assert affected("none", 0.0).is_empty()
    assert affected("LG", testbed.MEASURED_LOSS).is_empty()
    found = affected("LG_NB", testbed.MEASURED_LOSS)
    assert 25 < len(found) < 80
    assert (found["sack_gap_offset_bytes"] < testbed.WEB_SEARCH_BYTES).all()
    assert (found["sacked_peak_bytes"] < testbed.WEB_SEARCH_BYTES).all()
    assert (found["pending_mss"] <= 7).all()
    assert found.filter(pl.col("fast_recoveries") > 0)["group_of"].is_in(["A", "B", "C", "D"]).all()


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


def sample(around_us):
    return [around_us + spread for spread in range(-50, 50)] * 300


@pytest.mark.parametrize(
    ("middles_us", "verdict", "note"),
    [
        ((150, 3_400, 212, 193, 195, 168), "match", ""),
        ((150, 3_400, 212, 193, 150, 150), "match", "not told apart: ReTx+Tail and No Loss"),
        ((150, 160, 212, 193, 195, 168), "differs", "reversed: Loss and ReTx"),
    ],
)
def test_the_order_of_columns_is_that_of_the_paper_unless_one_is_reversed(middles_us, verdict, note):
    row = ablation._order("99.9%", [sample(middle) for middle in middles_us], 99.9)
    assert row.paper == 11.0
    assert row.verdict == verdict
    assert note in row.note


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
