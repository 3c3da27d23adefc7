"""TCP before RFC 6582 and RFC 3465, and DCTCP like two published simulators, in whole scenarios with incast."""

import json

import pytest

from hitless import _native


def trace_hash(settings: str, example: str = "incast") -> str:
    text = _native.scenario_example(example)
    assert text is not None
    short = text.replace('duration = "50 ms"', 'duration = "4 ms"').replace("rto_min =", f"{settings}\nrto_min =")
    simulation = _native.Simulation(short, example)
    simulation.run()
    return str(json.loads(simulation.summary)["trace_hash"])


@pytest.fixture(scope="module")
def usual() -> str:
    return trace_hash("")


@pytest.mark.parametrize(
    "settings", ['recovery = "newreno"', 'window_growth = "byte-counting"', "window_validation = true"]
)
def test_the_default_written_out_changes_nothing(usual, settings):
    assert trace_hash(settings) == usual


@pytest.mark.parametrize("settings", ['recovery = "reno"', 'window_growth = "per-ack"', "window_validation = false"])
def test_each_setting_changes_what_happens(usual, settings):
    assert trace_hash(settings) != usual


@pytest.mark.parametrize(("estimate", "changes"), [("each-window", False), ("at-echoes", True)])
def test_when_dctcp_estimates_changes_what_happens(estimate, changes):
    made = trace_hash(f'dctcp_estimate = "{estimate}"', "incast-deflection")
    assert (made != trace_hash("", "incast-deflection")) == changes
