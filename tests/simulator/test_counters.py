"""Counters over several places, and warnings about mechanisms that did nothing."""

import re

import polars as pl
import pytest

import hitless as hl
from hitless.outcome.counters import by_mechanism, is_maximum
from hitless.outcome.mechanisms import counters_above_zero
from hitless.outcome.scenario import with_reasons
from warm import hitless

ROWS = [
    ("left", "own", "port 0", "packets_seen", "packets seen", 3),
    ("left", "own", "port 1", "packets_seen", "packets seen", 4),
    ("right", "own", "port 0", "packets_seen", "packets seen", 5),
    ("left", "own", "port 0", "peak_bytes", "most bytes", 70),
    ("left", "own", "port 1", "peak_bytes", "most bytes", 90),
    ("right", "own", "port 0", "peak_bytes", "most bytes", 80),
]
TABLE = pl.DataFrame(ROWS, schema=["switch", "mechanism", "scope", "counter", "label", "value"], orient="row")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("packets_seen", False),
        ("almost_full", False),
        ("most_bytes", True),
        ("replay_buffer_peak_bytes", True),
        ("longest_stall_ns", True),
    ],
)
def test_a_maximum_is_known_by_its_key(key, expected):
    assert is_maximum(key) is expected


def test_a_maximum_over_places_is_the_largest_and_a_count_the_sum():
    run = hl.Run("", hl.Summary({}), {"mechanisms": TABLE})
    assert run.counter("packets_seen") == 12
    assert run.counter("packets_seen", "left") == 7
    assert run.counter("peak_bytes") == 90
    assert run.counter("peak_bytes", "right") == 80
    assert by_mechanism(TABLE).rows() == [
        ("own", "packets_seen", "packets seen", 12),
        ("own", "peak_bytes", "most bytes", 90),
    ]


def scenario(*changes):
    off = [{"at": at, "active": active} for at, active in changes]
    return hl.example("lossy-link").with_("duration", "10 ms").with_("mechanism[0].activation", off)


@pytest.mark.parametrize(
    ("changes", "told"),
    [([("0 s", False)], "its activation never switches it on"), ([("9 ms", True)], None), ([], None)],
)
def test_a_mechanism_that_its_activation_keeps_off_is_said_to_be_off(changes, told):
    warnings = scenario(*changes).run(keep=()).summary.warnings
    off = [warning for warning in warnings if " is off at " in warning]
    expected = [f"linkguardian is off at {name} during the whole run: {told}" for name in ("sw1", "sw2") if told]
    assert off == expected
    assert not any("never acted" in warning for warning in warnings)


def test_a_run_can_end_before_its_mechanism_is_switched_on():
    idle = "linkguardian was switched on at sw1 and never acted"
    told = "linkguardian is off at sw1 during the whole run: its activation switches it on at 9 ms, after the end"
    effective = scenario(("9 ms", True)).effective
    assert with_reasons([idle], effective, 0.001) == [told]
    assert with_reasons([idle], effective, 0.010) == [idle]


def test_only_the_entries_at_the_switch_are_the_reason():
    effective = scenario(("0 s", False)).effective
    idle = "linkguardian was switched on at {} and never acted"
    assert with_reasons([idle.format("sw9"), "other"], effective, 1.0) == [idle.format("sw9"), "other"]
    both = effective + '\n[[mechanism]]\nkind = "linkguardian"\nlink = "sw2->sw1"\nactivation = []\n'
    assert with_reasons([idle.format("sw1")], both, 1.0) == [idle.format("sw1")]


def test_the_report_says_how_many_counters_it_leaves_out_and_where_they_are(tmp_path):
    lossy = hl.example("leaf-spine-lossy").with_("duration", "1 ms").with_("warmup", None).with_("switch.ecn", None)
    (tmp_path / "all.toml").write_text(lossy.with_("mechanism", [{"kind": "afq", "ecn_rounds": 8}]).text)
    hitless("run", "all.toml", "--out", "out", cwd=tmp_path)
    file = "run-all/mechanisms.parquet"
    count = counters_above_zero(pl.read_parquet(tmp_path / "out" / file)).height
    page = (tmp_path / "out/report.html").read_text()
    assert count > 40
    told = re.search(r"(\d+) of (\d+) rows are not shown; <code>([^<]+)</code>", page)
    assert told.groups() == (str(count - 40), str(count), file)
