"""A scenario over a grid: the same rows with any executor, and every point runs once."""

import json
import signal
import subprocess
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import polars as pl
import pytest
import sweeping
from python_mechanisms import EgressOnly, two_flows
from sweeping import GRID, LG, MARKER, SEEDS, base, contents, mortal, sweep

import hitless as hl
from hitless.sweeps.frames import intervals
from waiting import wait_until
from warm import PROGRAM, hitless

FILE = """
scenario = "base.toml"
seeds = 3
keep = ["messages"]

[axes]
"link[0].loss.rate" = [1e-3, 1e-2]

[axes.mechanism]
none = []
LG = [{ kind = "linkguardian", link = "sw2->sw6", target_loss_rate = 1e-8 }]
LG_NB = [{ kind = "linkguardian", link = "sw2->sw6", target_loss_rate = 1e-8, mode = "non-blocking" }]
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    return sweep(tmp_path_factory.mktemp("swept") / "threads")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(FILE)
    (tmp_path / "base.toml").write_text(base().text)
    return path


def test_a_row_says_what_a_run_with_that_seed_says(swept):
    assert swept.is_complete
    rows = swept.rows
    assert rows.columns == ["point", "link[0].loss.rate", "mechanism", "seed", "of", "metric", "unit", "value"]
    assert rows.select("link[0].loss.rate", "mechanism", "seed").unique().height == 2 * 3 * SEEDS
    run = base().with_("link[0].loss.rate", 1e-2).with_("mechanism", []).run(seed=2)
    [value] = rows.filter(
        (pl.col("link[0].loss.rate") == 1e-2)
        & (pl.col("mechanism") == "none")
        & (pl.col("seed") == 2)
        & (pl.col("metric") == "p99 FCT")
    )["value"]
    assert value == hl.percentile(run.messages["fct_us"].to_list(), 99.0)


def test_intervals_are_those_of_the_seeds(swept):
    table = swept.intervals("mean FCT", of="trials, all sizes")
    assert table.height == 6
    row = table.row(3, named=True)
    values = swept.rows.filter((pl.col("point") == 3) & (pl.col("metric") == "mean FCT"))["value"].to_list()
    interval = hl.mean_interval(values)
    assert row["seeds"] == SEEDS
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((interval.low, interval.high), rel=1e-12)
    with pytest.raises(hl.BadInput, match="did you mean mean FCT"):
        swept.intervals("mean FTC")


@pytest.mark.parametrize(
    ("values", "low", "note"),
    [
        ([20.0, 25.0, 30.0], 12.579, ""),
        ([42.0, 50.0, 3_472.0], None, "from 42 to 3472: too far apart for an interval"),
        ([0.0, 0.0, 3.0], 0.0, ""),
        ([-5.0, 0.0, 3.0], -10.706, ""),
    ],
)
def test_an_interval_of_values_that_are_not_negative_is_not_negative(values, low, note):
    rows = {"point": 0, "loss": 1e-3, "of": "all", "metric": "p99 FCT", "unit": "us", "value": values}
    frame = pl.DataFrame(rows | {"seed": list(range(len(values)))}).select(
        "point", "loss", "seed", "of", "metric", "unit", "value"
    )
    row = intervals(frame).row(0, named=True)
    assert row["ci_low"] == (low if low is None else pytest.approx(low, abs=1e-3))
    assert (row["ci_high"] is None, row["note"], row["mean"]) == (low is None, note, pytest.approx(sum(values) / 3))


def test_kept_tables_are_one_data_set_with_the_axes_in_front(swept):
    messages = swept.table("messages")
    counted = messages.group_by("mechanism", "seed").len().collect()
    assert counted.height == 3 * SEEDS
    assert set(counted["len"]) == {2 * 300}
    with pytest.raises(hl.BadInput, match="kept: messages"):
        swept.table("flows")


def test_a_sweep_gives_axes_of_matplotlib(swept):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    ax = swept.axes("p99 FCT", labels={"none": "bare"}, width=3.0)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("loss rate of link 1", "p99 FCT (us)")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["bare", "LG", "LG_NB"]
    assert swept.axes("mean FCT", ax=ax) is ax


def test_a_plot_has_a_curve_for_each_scheme(swept):
    assert [series.name for series in swept.plot("p99 FCT").plot.series] == ["none", "LG", "LG_NB"]
    assert [series.name for series in swept.plot("p99 FCT", x="mechanism").plot.series] == [
        "loss rate of link 1 = 0.001",
        "loss rate of link 1 = 0.01",
    ]
    report = (swept.folder / "report.html").read_text(encoding="utf-8")
    assert report.count("<svg") >= 4


@pytest.mark.parametrize("workers", ["processes", "threads of the caller's"])
def test_the_bytes_are_the_same_whatever_runs_it(swept, tmp_path, workers):
    processes = workers == "processes"
    executor = ProcessPoolExecutor(2, mp_context=get_context("spawn")) if processes else ThreadPoolExecutor(3)
    with executor:
        assert contents(sweep(tmp_path / "other", executor=executor).folder) == contents(swept.folder)


def test_shards_in_any_order_are_the_same_bytes_once_merged(swept, file, tmp_path):
    for shard, out in (("3/3", "a"), ("1/3", "b"), ("2/3", "a")):
        hitless("sweep", file, "--shard", shard, "--out", out, cwd=tmp_path)
    early = hitless("sweep", "merge", "a", cwd=tmp_path, code=2)
    assert "shards are missing: 1/3" in early.stderr
    hitless("sweep", "merge", "a", "b", "--out", "whole", cwd=tmp_path)
    assert contents(tmp_path / "whole") == contents(swept.folder)
    assert (tmp_path / "whole/report.html").is_file()


def kill_when(holds, file, folder):
    process = subprocess.Popen([PROGRAM, "sweep", file, "-j", "1", "--out", "out"], cwd=folder)
    wait_until(holds, 100, process)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_a_sweep_killed_with_9_goes_on_with_what_is_missing(swept, file, tmp_path):
    (tmp_path / "base.toml").write_text(base(20_000).text)
    kill_when(lambda: len(list(tmp_path.glob("out/points/*/run.json"))) >= 3, file, tmp_path)
    done = {path: path.stat().st_mtime_ns for path in tmp_path.glob("out/points/*/run.json")}
    assert 3 <= len(done) < 18
    again = hitless("sweep", file, "--out", "out", "--json", cwd=tmp_path)
    assert f"{len(done)} of 18 runs are there already" in again.stderr
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert len(list(tmp_path.glob("out/points/*/run.json"))) == 18
    assert json.loads(again.stdout)["complete"]


def test_a_sweep_of_short_runs_killed_with_9_goes_on_with_what_is_missing(file, tmp_path):
    """Runs without tables are lines of a file; the next process adds its own file."""
    (tmp_path / "base.toml").write_text(base(5_000).text)
    file.write_text(FILE.replace('keep = ["messages"]', "").replace("seeds = 3", "seeds = 10"))

    def done():
        return sum(path.read_bytes().count(b"\n") for path in tmp_path.glob("out/points/*.jsonl"))

    kill_when(lambda: done() >= 5, file, tmp_path)
    there = done()
    assert 5 <= there < 60
    again = hitless("sweep", file, "--out", "out", "--json", cwd=tmp_path)
    assert f"{there} of 60 runs are there already" in again.stderr
    assert done() == 60
    assert len(list(tmp_path.glob("out/points/*.jsonl"))) == 2


def test_a_worker_that_dies_takes_no_finished_run_with_it(tmp_path, monkeypatch):
    monkeypatch.setenv(MARKER, str(tmp_path / "marker"))
    monkeypatch.setenv("PYTHONPATH", str(Path(sweeping.__file__).parent))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor, pytest.raises(hl.HitlessError) as lost:
        sweep(tmp_path / "out", executor=executor, measure=mortal)
    assert "the executor has lost the run: BrokenProcessPool" in str(lost.value)
    swept = sweep(tmp_path / "out", measure=mortal)
    assert swept.is_complete
    assert swept.intervals("slowest").height == 6


def test_fresh_runs_all_again_and_otherwise_nothing(tmp_path):
    out = tmp_path / "out"

    def times():
        return {path: path.stat().st_mtime_ns for path in out.glob("points/*/run.json")}

    sweep(out)
    first = times()
    sweep(out)
    assert times() == first
    sweep(out, fresh=True)
    assert all(times()[path] > at for path, at in first.items())


@pytest.mark.parametrize(
    ("grid", "options", "words"),
    [
        ({"link[0].loss.rate": [0.1, 2.0]}, {}, "link[0].loss.rate = 2.0: must be between 0 and 1"),
        ({"link[3].loss.rate": [0.1]}, {}, "a number from 0 to 0"),
        ({"mechanism": [[LG]]}, {}, "without labels"),
        ({"seed": [1, 2]}, {}, "columns of results are"),
        ({"link[0].loss.rate": []}, {}, "has no values"),
        ({"link[0].loss.rate": [0.1, "0.2"]}, {}, "of several types"),
        ({}, {"seeds": [1, 1]}, "distinct seeds"),
        ({}, {"seeds": 0}, "a number of seeds"),
        ({}, {"keep": "messages"}, "keep=['messages']"),
    ],
)
def test_what_is_wrong_with_a_sweep_is_said_before_anything_runs(tmp_path, grid, options, words):
    with pytest.raises(hl.BadInput) as refused:
        hl.sweep(base(), grid, out=tmp_path / "out", progress=False, **options)
    assert words in str(refused.value)
    assert not list(tmp_path.glob("out/points/*"))


def test_a_table_that_runs_do_not_have_fails_them_and_says_which_there_are(tmp_path):
    with pytest.raises(
        hl.HitlessError, match="1 of 1 runs failed, the first of them with: the run has no table 'masages'"
    ):
        hl.sweep(base(), {}, keep=["masages"], out=tmp_path / "out", progress=False)


def test_another_sweep_has_another_folder(tmp_path):
    hl.sweep(base(), {}, out=tmp_path / "out", progress=False)
    with pytest.raises(hl.BadInput, match="there is another sweep in the folder"):
        hl.sweep(base(), GRID, out=tmp_path / "out", progress=False)


def test_files_that_a_scenario_names_are_beside_it_wherever_the_command_is_typed(tmp_path):
    """Regression: they were searched in the folder of the shell, and next to a label with a slash."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "sizes.txt").write_text("0 0\n2000 1\n")
    own = hl.example("leaf-spine-lossy").with_("flows[0].sizes.table", "sizes.txt").with_("duration", "300 us")
    (folder / "own.toml").write_text(own.with_("warmup", None).text)
    axes = '[axes.mechanism]\nnone = []\n"LG/NB" = [{ kind = "linkguardian", link = "spine0->leaf0" }]\n'
    (folder / "sweep.toml").write_text(f'scenario = "own.toml"\n{axes}')
    for words in (["sweep", "elsewhere/sweep.toml"], ["compare", "elsewhere/own.toml", "--with", "linkguardian"]):
        hitless(*words, cwd=tmp_path)
    assert hl.Scenario.from_file(folder / "own.toml").with_("flows[0].load", 0.2).run(seed=1).messages.height > 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seeds = 3", "which scenario?"),
        ('example = "dumbbell"\nseed = 3', "did you mean seeds?"),
        ('example = "dumbbel"', "did you mean dumbbell?"),
        ("example = ", "not valid TOML"),
        ('scenario = "missing.toml"', "No such file"),
    ],
)
def test_a_sweep_file_that_is_wrong_is_told_with_its_place(tmp_path, text, words):
    (tmp_path / "sweep.toml").write_text(text)
    done = hitless("sweep", "sweep.toml", cwd=tmp_path, code=2)
    assert words in done.stderr
    assert "  where: " in done.stderr


def test_only_a_scenario_that_names_a_class_of_python_is_refused_elsewhere(tmp_path):
    """Regression: any class that had ever been used in the process was refused, as in a notebook."""
    named = hl.Scenario.from_text(two_flows("egress-only-py"))
    named.run(seed=1, mechanisms=[EgressOnly])
    with ThreadPoolExecutor(2) as executor:
        hl.sweep(base(), {}, seeds=2, out=tmp_path / "without", executor=executor, progress=False)
        with pytest.raises(hl.BadInput, match="only run in this process: egress-only-py"):
            hl.sweep(named, {}, seeds=2, out=tmp_path / "with", executor=executor, progress=False)
    assert not (tmp_path / "with").exists()
