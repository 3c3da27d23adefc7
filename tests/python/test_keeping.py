"""Campaigns that continue after an interruption, and the identity of cached points."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from hitless.fleet.comparison import Comparison
from hitless.runs import batch, keeping
from hitless.runs.keeping import KeptPoints
from hitless.runs.point import Point
from hitless.runs.pool import Pool, Task
from hitless.simulation import PacketSimulation, Run, Summary
from waiting import wait_until
from warm import fake_hitless

HERE = Path(__file__).parent
RUN = Run(
    "a = 1\n",
    Summary({"seed": 3, "share": 0.1, "drops": {"loss": 2}}),
    {"t": pl.DataFrame({"x": pl.Series([1, 2**63], dtype=pl.UInt64), "name": ["a", "b"], "y": [0.1, 1e-300]})},
    1.5,
)


COMMAND = ["reproduce", "demo/long", "--json", "--jobs", "1", "--seeds", "1"]


def _environment(folder):
    return os.environ | {"HITLESS_FAKE_LOG": str(folder / "log")}


def _run(folder, *more, code=0):
    return fake_hitless(*COMMAND, *more, cwd=folder, env=_environment(folder), code=code)


def _start(folder):
    command, environment = [sys.executable, HERE / "fake_hitless.py", *COMMAND], _environment(folder)
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, env=environment)


def _rows(stdout):
    [exhibit] = json.loads(stdout)["exhibits"]
    return exhibit["rows"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_an_interrupted_campaign_goes_on_where_it_was(tmp_path, number, code):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    broken.mkdir()
    expected = _run(whole).stdout

    first = _start(broken)
    wait_until(lambda: len(list(broken.glob("results/points/*/run.json"))) >= 2, 100)
    first.send_signal(number)
    assert first.wait(timeout=300) == code
    there = len(list(broken.glob("results/points/*/run.json")))
    begun = (broken / "log").read_text().splitlines()
    assert 2 <= there < 6
    (broken / "log").unlink()

    second = _run(broken)
    assert f"{there} of 6 points are there already" in second.stderr
    again = (broken / "log").read_text().splitlines()
    assert len(again) == 6 - there
    assert not set(again) & set(begun[:there])
    assert _rows(second.stdout) == _rows(expected)
    assert len(_rows(expected)) == 7


def test_fresh_runs_every_point_again(tmp_path):
    for more, count in (((), 6), ((), 0), (("--fresh",), 6), (("--seed", "2"), 6)):
        (tmp_path / "log").write_text("")
        stderr = _run(tmp_path, *more).stderr
        assert len((tmp_path / "log").read_text().splitlines()) == count
        assert ("6 of 6 points are there already" in stderr) == (count == 0)


def test_quick_keeps_nothing_and_refuses_to_forget(tmp_path):
    _run(tmp_path, "--quick")
    assert not (tmp_path / "results/points").exists()
    refused = _run(tmp_path, "--quick", "--fresh", code=2)
    assert "--quick keeps no points" in refused.stderr


def test_a_folder_of_the_users_keeps_its_own_points(tmp_path):
    _run(tmp_path, "--out", "mine")
    assert len(list(tmp_path.glob("mine/points/*/run.json"))) == 6
    assert not (tmp_path / "results").exists()


def test_a_run_is_read_as_it_was_kept(tmp_path):
    points = KeptPoints(tmp_path / "points")
    points.keep("d", RUN)
    assert "d" in points
    read = points.load("d")
    assert (read.effective, read.summary, read.wall_s) == (RUN.effective, RUN.summary, RUN.wall_s)
    assert read.tables["t"].equals(RUN.tables["t"])
    assert read.tables["t"].schema == RUN.tables["t"].schema
    points.keep("d", Run("b = 2\n", Summary({})))
    assert points.load("d").effective == "b = 2\n"
    points.forget("d")
    assert "d" not in points
    assert points.load("d") is None


@pytest.mark.parametrize("damaged", ["run.json", "t.parquet", "effective.toml"])
def test_a_damaged_point_is_run_again_and_replaced(tmp_path, damaged):
    points = KeptPoints(tmp_path)
    point = Point("p", PacketSimulation({"messages": 10}))
    digest = points.digest(point, 1, "p")
    points.keep(digest, RUN)
    (tmp_path / digest / damaged).write_bytes(b"\xff{")
    assert points.load(digest) is None
    task = Task("demo", Point("p", keeping.KeptWork(point.work, points, digest)), 1)
    list(Pool(1).run([task], lambda _: None))
    assert task.failure is None
    assert points.load(digest).summary == task.run.summary


def test_what_changes_results_changes_the_digest(tmp_path, monkeypatch):
    points = KeptPoints(tmp_path)
    base = Point("p", {"messages": 10}, keep=("messages",))
    digest = points.digest(base, 1, "p")
    same = (Point("other key", {"messages": 10}, keep=["messages"]), Point("p", "messages = 10\n", keep={"messages"}))
    assert {points.digest(point, 1, "p") for point in same} == {digest}
    others = [
        points.digest(Point("p", {"messages": 11}, keep=("messages",)), 1, "p"),
        points.digest(Point("p", {"messages": 10}, keep=("messages", "queues")), 1, "p"),
        points.digest(Point("p", {"messages": 10}), 1, "p"),
        points.digest(base, 2, "p"),
        points.digest(base, None, "p"),
        points.digest(Point("p", Comparison(("lg",), (1.0,))), 1, "p"),
        points.digest(Point("p", Comparison(("lg",), (0.5,))), 1, "p"),
    ]
    monkeypatch.setattr(keeping, "program_identity", lambda: "another build")
    others.append(points.digest(base, 1, "p"))
    assert len({digest, *others}) == len(others) + 1


def _short(run):
    return replace(run, tables={name: table.head(1) for name, table in run.tables.items()})


def test_a_run_is_reduced_before_it_is_kept(tmp_path):
    point = Point("p", PacketSimulation({"messages": 10}), reduce=_short)
    task = Task("demo", point, 1)
    list(Pool(1).run([task], lambda _: None))
    assert task.run.table("messages").height == 1

    points = KeptPoints(tmp_path)
    assert points.digest(point, 1, "p") != points.digest(replace(point, reduce=None), 1, "p")
    for _ in range(2):
        task = Task("demo", point, 1)
        batch._keep(task, points, fresh=False)
        list(Pool(1).run([task], lambda _: None))
        assert task.run.table("messages").height == 1
    [kept] = tmp_path.iterdir()
    assert points.load(kept.name).table("messages").height == 1


def test_two_threads_with_one_point_run_it_once(tmp_path, monkeypatch):
    monkeypatch.setenv("HITLESS_FAKE_LOG", str(tmp_path / "log"))
    points = KeptPoints(tmp_path / "points")
    tasks = [Task("demo", Point(key, PacketSimulation({"messages": 10, "seconds": 0.3})), 1) for key in ("a", "b")]
    for task in tasks:
        batch._keep(task, points, fresh=False)
    list(Pool(2).run(tasks, lambda _: None))
    assert points.trouble is None
    assert len((tmp_path / "log").read_text().splitlines()) == 1
    first, second = (task.run for task in tasks)
    assert first.summary == second.summary
    assert first.table("messages").equals(second.table("messages"))
    assert len(list((tmp_path / "points").iterdir())) == 1


def test_threads_that_write_one_point_do_not_disturb_each_other(tmp_path):
    points = KeptPoints(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: points.keep("d", RUN), range(64)))
    assert points.trouble is None
    assert points.load("d").summary == RUN.summary
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_what_a_process_left_that_is_no_more_is_removed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / f".d.{ended.pid}.1").mkdir()
    (tmp_path / f".d.{os.getpid()}.1").mkdir()
    KeptPoints(tmp_path).tidy()
    assert [path.name for path in tmp_path.iterdir()] == [f".d.{os.getpid()}.1"]


def test_a_refused_scenario_fails_its_own_point(tmp_path):
    points = KeptPoints(tmp_path)
    tasks = [Task("demo", Point("bad", {"nonsense": 1}), 1), Task("demo", Point("good", {"messages": 10}), 1)]
    for task in tasks:
        batch._keep(task, points, fresh=False)
    list(Pool(1).run(tasks, lambda _: None))
    assert "unknown field" in str(tasks[0].failure)
    assert tasks[1].run is not None


def test_a_damaged_point_is_shown_as_it_runs(tmp_path):
    points = KeptPoints(tmp_path)
    shown = []
    for damaged in (False, False, True):
        task = Task("demo", Point("p", {"messages": 10}), 1)
        batch._keep(task, points, fresh=False)
        if damaged:
            [path] = tmp_path.glob("*/effective.toml")
            path.unlink()
        list(Pool(1).run([task], lambda _: None))
        shown.append(task.was_there)
    assert shown == [False, True, False]


def test_work_that_cannot_say_what_it_depends_on_is_not_kept(tmp_path):
    class Anything:
        def job(self, *, file_name, seed):
            raise NotImplementedError

    assert KeptPoints(tmp_path).digest(Point("p", Anything()), 1, "p") is None


def test_a_folder_that_takes_nothing_costs_no_run(tmp_path):
    (tmp_path / "points").write_text("a file where the folder should be")
    done = _run(tmp_path, "--out", tmp_path)
    assert len(_rows(done.stdout)) == 7
    assert "points could not be kept" in done.stderr
