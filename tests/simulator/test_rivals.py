"""LinkGuardian's competitors: estimates of rare losses, and the exhibit's report on the runs."""

from dataclasses import replace

import polars as pl
import pytest

from hitless.analysis import poisson_interval
from hitless.simulation import Simulation
from hitless_papers import Context
from hitless_papers.linkguardian import goodput, rivals


def run(scenario, seed=1):
    return Simulation(scenario, file_name="rivals", seed=seed).run()


def agree(counted, estimated):
    return counted.low <= estimated.high and estimated.low <= counted.high


def test_a_flush_of_link_layer_retry_is_as_rare_as_estimated():
    """At a loss of 0.1, one frame in ten thousand is lost four times in a row: enough to count."""
    cell = rivals.Cell(100, 0.1, "LLR")
    direct = run(rivals.line_rate(cell, 600_000))
    frames = direct.counter("frames_numbered", "sw2")
    flushes = poisson_interval(direct.counter("flushes", "sw2"), frames, confidence=0.999)
    each = direct.counter("packets_lost", "sw6") / direct.counter("flushes", "sw2")
    found = rivals.effective_loss(run(rivals.rare_losses(cell, 100_000), seed=2), cell)
    assert agree(flushes.scaled(each), found.interval)
    assert found.value == pytest.approx(0.1**4 * each, rel=0.3)


@pytest.mark.parametrize("loss", [1e-3, 1e-2])
def test_wharf_leaves_what_its_code_leaves(loss):
    cell = rivals.Cell(400, loss, "Wharf")
    found = rivals.effective_loss(run(rivals.rare_losses(cell, 1_000_000)), cell)
    theory = rivals.wharf_theory(loss)
    assert found.interval.low <= theory * 1.2
    assert found.interval.high >= theory / 1.2
    assert found.value > 0.0


def test_below_a_thousandth_two_losses_of_a_block_are_what_is_left():
    for loss in (1e-5, 1e-4):
        raised = rivals.wharf_theory(1e-3) * (loss / 1e-3) ** 2
        assert raised == pytest.approx(rivals.wharf_theory(loss), rel=0.03)


def test_a_message_that_meets_no_loss_is_delayed_by_the_mechanism_alone():
    clean = run(rivals.messages(100, 0.0, [], 2_000))
    none = rivals.added_ns(run(rivals.messages(100, 0.0, [], 2_000)), clean)
    assert none == [0.0] * 2_000
    retried = rivals.added_ns(run(rivals.messages(100, 0.01, rivals.mechanisms("LLR", 0.01), 2_000)), clean)
    # A control ordered set can come before the acknowledgement that frees the connection, never before a message.
    assert sum(added == 0.0 for added in retried) > 1_500
    assert 900.0 < max(retried) < 20_000.0
    lost = rivals.added_ns(run(rivals.messages(100, 0.01, [], 2_000)), clean)
    assert max(lost) > 0.9e6, "the card's timeout"


def test_the_exhibit_has_a_run_for_each_row_it_shows():
    exhibit = rivals.Rivals()
    keys = [point.key for point in exhibit.points(Context(effort="quick"))]
    assert len(keys) == len(set(keys))
    for cell in rivals.cells():
        assert cell.key("line rate") in keys
        assert cell.key("delay") in keys
        assert cell.scheme == "none" or cell.loss_key(rivals._copies_for(cell)) in keys


def test_a_shared_run_is_the_same_for_all_that_share_it():
    of_key = {}
    for cell in rivals.cells():
        if cell.scheme != "none":
            scenario = rivals.rare_losses(cell, 1_000)
            assert of_key.setdefault(cell.loss_key(rivals._copies_for(cell)), scenario) == scenario


def test_table_3_shows_wharf_where_the_paper_does():
    keys = {point.key for point in goodput.Table3().points(Context(effort="quick"))}
    assert {"Wharf 1e-5", "Wharf 1e-4", "Wharf 1e-3", "Wharf 1e-2"} <= keys
    assert "Wharf 0" not in keys


def test_buffers_are_those_that_the_ends_report():
    cell = rivals.Cell(100, 1e-2, "Wharf")
    done = run(rivals.line_rate(cell, 20_000))
    sender, receiver = rivals.buffers_bytes(done, "Wharf")
    assert sender == 5 * 1_518
    assert sender < receiver <= 2 * sender, "the block that is open and the one before it"
    retry = run(rivals.line_rate(replace(cell, scheme="LLR"), 20_000))
    sender, receiver = rivals.buffers_bytes(retry, "LLR")
    assert (0 < sender <= 33_605 + 1_518, receiver) == (True, 0.0)
    assert retry.table("flows").select(pl.col("packets_reordered").sum()).item() == 0
