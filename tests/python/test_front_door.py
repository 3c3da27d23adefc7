"""Stumbling blocks of users, each with the original message."""

import errno
import functools
import os

import pytest

import warm
from hitless.errors import RefusedScenario, reason
from hitless.outcome.times import enough_for


@pytest.fixture
def hitless(tmp_path):
    return functools.partial(warm.hitless, cwd=tmp_path)


@pytest.mark.parametrize(
    "command", [["run"], ["reproduce"], ["compare"], ["lab", "up"], ["fleet", "compare"], ["switch"]]
)
def test_flags_in_help_have_no_bool(hitless, command):
    done = hitless(*command, "--help")
    assert "<bool>" not in done.stdout


def test_lab_corrupt_with_a_rate_below_zero_is_no_unknown_option(hitless):
    """Regression: "No such option: -1"."""
    done = hitless("lab", "corrupt", "sw1-sw2", "-1", code=2)
    assert "No such option" not in done.stderr
    assert "is not in the range 0.0<=x<=1.0" in done.stderr


def test_a_text_that_is_no_scenario_is_refused_in_a_few_lines():
    """Regression: 170 lines."""
    faults = [
        f"error: README.md:{line}:4: not valid TOML: key with no value\n  |\n{line} | words" for line in range(40)
    ]
    shown = str(RefusedScenario("\n\n".join(faults)))
    assert len(shown.splitlines()) < 20
    assert "and 36 more errors" in shown
    assert "is this a scenario?" in shown
    assert str(RefusedScenario(faults[0])) == faults[0]


def test_a_missing_configuration_is_said_without_errno(hitless):
    """Regression: "[Errno 2] No such file or directory: ..."."""
    done = hitless("switch", "missing.toml", "--check", code=2)
    assert "missing.toml cannot be read: No such file or directory" in done.stderr
    assert "Errno" not in done.stderr


def test_a_reason_is_the_systems_words():
    assert reason(OSError(errno.EACCES, os.strerror(errno.EACCES), "file")) == "Permission denied"
    assert reason(ValueError("no number")) == "no number"


def test_no_percentile_is_that_of_a_single_message():
    """Regression: "p99.9 of one sample"."""
    assert [enough_for(50, 1), enough_for(50, 2), enough_for(99.9, 999), enough_for(99.9, 1_000)] == [
        False,
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(
    "words", [["fleet", "run", "--capacity", "nan"], ["lab", "corrupt", "sw1-sw2", "0.5", "--mean-burst", "nan"]]
)
def test_what_is_no_number_is_refused_by_its_option(hitless, words):
    done = hitless(*words, code=2)
    assert words[-2] in done.stderr
    assert "nan is not a number" in done.stderr
