"""TCP of old in a whole scenario: an incast that overflows buffers, without selective acknowledgements."""

import json

import pytest

from hitless import _native


def trace_hash(settings: str) -> str:
    text = _native.scenario_example("incast")
    assert text is not None
    short = text.replace('duration = "50 ms"', 'duration = "4 ms"').replace("rto_min =", f"{settings}\nrto_min =")
    simulation = _native.Simulation(short, "incast")
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
