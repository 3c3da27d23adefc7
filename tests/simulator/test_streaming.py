"""Runs that free flows and messages early, and runs that stop early."""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import hitless as hl
from hitless.cli.answer import answer
from hitless.outcome.run import RunStopped
from hitless.outcome.times import goodputs_gbps, times_of
from hitless.simulation import RunCancelled, Simulation
from waiting import wait_until
from warm import PROGRAM
from worlds import dumbbell, fixed, flows, ideal, leaf_spine, tcp, websearch, world

ALL = ["h0..h7"]
SIZES = {"fixed": fixed("2 KB"), "mixed": websearch("1 MB")}


def short_flows(duration: str, load: float = 0.4) -> str:
    fabric = leaf_spine(2, 4), ideal("40 packets"), tcp(congestion="cubic")
    poisson = {"load": load / 2, "load_of": "source-host-links"}
    groups = [flows("poisson", ALL, ALL, name=name, sizes=sizes, **poisson) for name, sizes in SIZES.items()]
    return world("short", *fabric, *groups, duration=duration)


PILING_UP = world(
    "piling-up",
    dumbbell(4, 4, ("100 Gbps", "1 us"), ("10 Mbps", "1 us")),
    ideal("10 packets"),
    tcp(),
    flows("poisson", ["h0..h3"], ["h4..h7"], name="piling-up", flows_per_second=200_000.0, sizes=fixed("100 KB")),
    duration="10 s",
)
"""The links of the hosts can carry it, but not the link between them: this cannot be known before the run."""


def started(*arguments: str, cwd: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_on_disk_are_those_in_memory_and_say_the_same(tmp_path, monkeypatch, threads):
    monkeypatch.setenv("HITLESS_THREADS", str(threads))
    scenario = hl.Scenario.from_text(short_flows("60 ms"))
    kept, stored = scenario.run(seed=3), scenario.run(seed=3, rows=tmp_path)
    assert kept.summary["trace_hash"] == stored.summary["trace_hash"]
    assert kept.table("flows").height > 20_000, "too few to be handed over before the end"
    for name in ("flows", "messages"):
        assert_frame_equal(pl.read_parquet(tmp_path / f"{name}.parquet").drop("slowdown"), kept.table(name))
        assert_frame_equal(getattr(stored, name), getattr(kept, name), check_column_order=False)
        assert stored.table(name)["slowdown"].null_count() < kept.table(name).height
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flows.parquet", "messages.parquet"]
    assert_frame_equal(stored.table("groups"), kept.table("groups"))
    assert goodputs_gbps(stored) == goodputs_gbps(kept)
    of_kept, of_stored = times_of(kept), times_of(stored)
    assert [(one.group, one.sizes, one.unfinished) for one in of_stored] == [
        (one.group, one.sizes, one.unfinished) for one in of_kept
    ]
    for one, other in zip(of_stored, of_kept, strict=True):
        assert one.us.tolist() == other.us.tolist()
        assert one.slowdowns.tolist() == other.slowdowns.tolist()
    assert list(answer("short", stored)) == list(answer("short", kept))


def test_a_run_that_takes_too_much_memory_ends_with_an_error_and_what_there_is(tmp_path):
    (tmp_path / "piling-up.toml").write_text(PILING_UP)
    process = started("run", "piling-up.toml", "--memory", "600MB", "--out", "out", "--json", cwd=tmp_path)
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 1, stderr
    assert "error: the run was stopped, as it held" in stderr
    assert "--memory" in stderr
    summary = json.loads(stdout)["summary"]
    assert summary["ended_by"] == "memory limit"
    assert summary["incomplete"].startswith("the run was stopped, as it held")
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["incomplete"] == ["run/piling-up"]
    assert "incomplete" in manifest["runs"][0]
    flows = pl.read_parquet(tmp_path / "out/run-piling-up/flows.parquet")
    assert flows.height == summary["flows"]["started"]
    assert (flows["outcome"] == "unfinished").sum() == summary["flows"]["unfinished"] > 10_000


def test_ctrl_c_keeps_what_a_run_has_done_and_marks_it(tmp_path):
    (tmp_path / "long.toml").write_text(short_flows("20 s"))
    process = started("run", "long.toml", "--out", "out", "--json", cwd=tmp_path)
    parts = tmp_path / "out/run-long/.parts"
    wait_until(lambda: any(parts.glob("flows-*.parquet")), 240, process)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130, stderr
    assert "interrupted: partial results are kept" in stderr
    summary = json.loads(stdout)["summary"]
    assert (summary["ended_by"], summary["incomplete"]) == ("interrupted", "the run was interrupted before its end")
    flows = pl.read_parquet(tmp_path / "out/run-long/flows.parquet")
    assert flows.height == summary["flows"]["started"] > 10_000
    assert not parts.exists()


def test_a_run_in_python_that_takes_too_much_memory_raises_with_what_there_is(monkeypatch):
    held = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    # It ends at three quarters of the limit: 225 MB after the start, whatever earlier tests have left.
    monkeypatch.setenv("HITLESS_MEMORY", str(held * 4 // 3 + 300_000_000))
    with pytest.raises(RunStopped, match="as it held") as raised:
        hl.Scenario.from_text(PILING_UP.replace("10 s", "1 s")).run()
    run = raised.value.run
    assert run.summary.incomplete
    assert run.table("flows").height == run.summary["flows.started"] > 0


def test_a_folder_that_takes_no_rows_ends_the_run_with_its_name(tmp_path):
    place = tmp_path / "taken"
    place.write_text("a file")
    with pytest.raises(hl.HitlessError, match="rows cannot be written"):
        hl.Scenario.from_text(short_flows("5 ms")).run(rows=place)


def test_the_share_that_is_done_counts_flows_that_are_yet_to_come():
    text = short_flows("1000 s").replace('name = "fixed"\n', 'name = "fixed"\ncount = 2000000\n')
    text = text.replace('name = "mixed"\n', 'name = "mixed"\ncount = 200000\n').replace(
        'duration = "1000 s"', 'until = "all-flows-done"'
    )
    simulation = Simulation(text, file_name="counted")

    def stop_soon() -> None:
        time.sleep(2.0)
        shares.append(simulation.progress)
        simulation.cancel()

    shares: list[float] = []
    threading.Thread(target=stop_soon).start()
    with pytest.raises(RunCancelled):
        simulation.run()
    assert 0.0 < shares[0] < 0.6
