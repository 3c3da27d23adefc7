"""Seeds without effect in real runs, and the remarks about them."""

import json
import re

import polars as pl
import pytest

import hitless as hl
from warm import hitless
from worlds import dumbbell, flows, ideal, tcp, world

EIGHT_NEWRENO = world(
    "eight-newreno",
    dumbbell(8, 1, ("10 Gbps", "1.667 us"), ("10 Gbps", "1.667 us")),
    ideal("512 KB"),
    tcp("newreno", congestion="newreno", rto_min="1 ms"),
    flows("long", ["h0..h7"], ["h8"] * 8, name="long", transport="newreno"),
    duration="20 ms",
)


def _shares(run):
    """Return the share of the first host, and the payload of a frame over its size, which is the same in every run."""
    delivered = run.flows["delivered_bytes"].to_list()
    return {"share": delivered[0] / sum(delivered), "payload of a frame": 1_460 / 1_538}


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    scenario = hl.Scenario.from_text(EIGHT_NEWRENO)
    return hl.sweep(
        scenario, {}, seeds=5, measure=_shares, out=tmp_path_factory.mktemp("swept") / "out", progress=False
    )


def test_five_seeds_that_give_one_share_give_no_interval_and_say_so(swept):
    table, values = swept.intervals(), swept.rows.group_by("of", "metric").agg("value")
    seen = {(of, metric): value for of, metric, value in values.iter_rows()}
    notes = {}
    for row in table.iter_rows(named=True):
        of = seen[row["of"], row["metric"]]
        is_same, is_count = len(set(of)) == 1, float(of[0]).is_integer()
        assert (row["seeds"], row["ci_low"] is None) == (5, is_same), row
        assert row["note"] == ("seeds change nothing here" if is_same and not is_count else ""), row
        assert not is_same or row["mean"] == of[0], "to the bit"
        notes[row["metric"]] = row["note"]
    assert notes["payload of a frame"] == "seeds change nothing here"
    assert notes["packets dropped"] == "", "a count"
    report = (swept.folder / "report.html").read_text(encoding="utf-8")
    assert "5 seeds; seeds change nothing here" in report


def test_two_seeds_give_no_interval(tmp_path):
    scenario = hl.Scenario.from_text(EIGHT_NEWRENO).with_("duration", "1 ms")
    two = hl.sweep(scenario, {}, seeds=2, out=tmp_path / "two", progress=False).intervals()
    assert two["ci_low"].is_null().all()
    assert set(two["note"]) <= {"2 seeds, and an interval takes 3", "seeds change nothing here", ""}
    one = hl.sweep(scenario, {}, seeds=1, out=tmp_path / "one", progress=False).intervals()
    assert set(one["note"]) == {"one seed"}


def test_the_command_line_says_what_seeds_do_not_change(tmp_path):
    (tmp_path / "eight.toml").write_text(EIGHT_NEWRENO.replace('"20 ms"', '"1 ms"'))
    (tmp_path / "sweep.toml").write_text('scenario = "eight.toml"\nseeds = 3\n')
    shown = hitless("sweep", "sweep.toml", cwd=tmp_path).stdout
    rows = json.loads(hitless("sweep", "sweep.toml", "--json", cwd=tmp_path).stdout)["rows"]
    for row in rows:
        [line] = [line for line in shown.splitlines() if f"{row['of']}: {row['metric']} " in line]
        assert ("(seeds change nothing here)" in line) == (row["note"] == "seeds change nothing here")
        assert ("[" in line) == (row["ci_low"] is not None)


def test_a_comparison_says_where_each_seed_gives_the_same_difference(tmp_path):
    """The additional data in a longer run is not random: a burst of a fixed size is complete in both."""
    (tmp_path / "eight.toml").write_text(EIGHT_NEWRENO.replace('"20 ms"', '"1 ms"'))
    done = hitless("compare", "eight.toml", "--set", "duration=2 ms", "--seeds", "3", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    for metric in document["metrics"]:
        assert (metric["ci_low"] is None) == (metric["finding"] in {"equal", "same each seed"}), metric
    told = any(re.match("Seeds change nothing in ", sentence) for sentence in document["conclusion"])
    assert told == any(metric["finding"] == "same each seed" for metric in document["metrics"])
    few = hitless("compare", "eight.toml", "--set", "duration=2 ms", "--seeds", "2", cwd=tmp_path).stdout
    assert "Two seeds tell nothing of chance" in few
    assert "too few seeds" in few


@pytest.mark.parametrize("seeds", ["1", "3"])
def test_a_recorded_verdict_is_of_several_seeds(tmp_path, seeds):
    hitless("reproduce", "sqr/fig13", "--quick", "--seeds", seeds, "--out", "out", cwd=tmp_path)
    (tmp_path / "docs").mkdir()
    hitless("results", "add", "out", cwd=tmp_path)
    [exhibit] = json.loads((tmp_path / "docs/results.json").read_text(encoding="utf-8"))["exhibits"]
    judged = [row for row in exhibit["rows"] if row["judge"] != "none"]
    assert judged
    assert ({row["verdict"] for row in judged} == {"unjudged"}) is (seeds == "1")
    assert seeds == "1" or "match" in {row["verdict"] for row in judged}
    assert all(len(row["seeds"]) == int(seeds) for row in judged)
    assert pl.read_parquet(tmp_path / "out/rows.parquet").height >= len(judged)
