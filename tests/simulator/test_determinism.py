"""The release build that Python loads gives the same events as the test build of Rust's tests."""

from pathlib import Path

import pytest

from hitless import _native

GOLDEN = Path(__file__).parents[2] / "crates/simulation/tests/simulation/golden_hashes.txt"


def golden():
    lines = [line for line in GOLDEN.read_text().splitlines() if not line.startswith("#")]
    return [tuple(line.split()) for line in lines]


@pytest.mark.parametrize(("name", "expected"), golden())
def test_the_release_build_repeats_the_events_of_the_test_build(name, expected):
    text = _native.scenario_example(name)
    assert text is not None
    simulation = _native.Simulation(_native.CheckedScenario(text, name))
    simulation.run()
    assert f'"trace_hash":"{expected}"' in simulation.summary.replace(" ", "")
