"""TCP before RFC 6582 and RFC 3465, and DCTCP like two published simulators, in whole scenarios with incast."""

import json
import re

import pytest

from hitless import _native


def trace_hash(settings: str = "", parameters: str = "", example: str = "incast") -> str:
    """The trace of a short example with more settings of TCP, and parameters of its congestion control."""
    text = _native.scenario_example(example)
    assert text is not None
    short = text.replace('duration = "50 ms"', 'duration = "4 ms"').replace("rto_min =", f"{settings}\nrto_min =")
    changed = re.sub('congestion = ("[a-z]+")', rf"congestion = {{ kind = \1{parameters} }}", short)
    simulation = _native.Simulation(_native.CheckedScenario(changed, example))
    simulation.run()
    return str(json.loads(simulation.summary)["trace_hash"])


@pytest.fixture(scope="module")
def usual() -> str:
    return trace_hash()


@pytest.mark.parametrize(
    ("settings", "parameters"),
    [('recovery = "newreno"', ""), ("", ', window_growth = "byte-counting"'), ("", ", window_validation = true")],
)
def test_the_default_written_out_changes_nothing(usual, settings, parameters):
    assert trace_hash(settings, parameters) == usual


@pytest.mark.parametrize(
    ("settings", "parameters"),
    [('recovery = "reno"', ""), ("", ', window_growth = "per-ack"'), ("", ", window_validation = false")],
)
def test_each_setting_changes_what_happens(usual, settings, parameters):
    assert trace_hash(settings, parameters) != usual


@pytest.mark.parametrize(("estimate", "changes"), [("each-window", False), ("at-echoes", True)])
def test_when_dctcp_estimates_changes_what_happens(estimate, changes):
    made = trace_hash("", f', estimate = "{estimate}"', "incast-deflection")
    assert (made != trace_hash(example="incast-deflection")) == changes
