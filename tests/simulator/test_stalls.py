"""Runs that stand still, at their end and while they run."""

import json
import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

import hitless as hl
from hitless.cli.execute import execute
from hitless.results import ResultsFolder
from hitless.runs.pool import Pool
from waiting import wait_until
from warm import PROGRAM, hitless

STUCK = """
name = "stuck"
duration = "DURATION"
[topology]
kind = "dumbbell"
hosts_left = 2
hosts_right = 2
host_link = { rate = "10 Gbps", delay = "1 us" }
bottleneck = { rate = "10 Gbps", delay = "1 us" }
[[link]]
name = "right->h3"
schedule = [{ at = "20 us", state = "down" }]
[[transport]]
name = "t"
kind = "tcp"
rto_min = "1 ms"
[[flows]]
name = "bulk"
kind = "long"
transport = "t"
sources = ["h0"]
destinations = ["h2"]
[[flows]]
name = "stuck"
kind = "schedule"
transport = "t"
sources = ["h1"]
destinations = ["h3"]
sizes = { kind = "fixed", bytes = "1 MB" }
period = "1 us"
count = 1
"""
NEEDS = "flow 1 (stuck, h1->h3) needs right->h3, which has been down since 20 us, and repeats at "


def stuck(duration: str) -> str:
    return STUCK.replace("DURATION", duration)


def catches_quit(process: "subprocess.Popen[str]") -> bool:
    """Has the process a handler of SIGQUIT? Without one the signal ends it."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt:")).split()[1], 16)
    return bool(caught >> (signal.SIGQUIT - 1) & 1)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_sigquit_prints_who_waits_for_whom_and_the_run_goes_on_as_if_nothing_had_happened(tmp_path, threads):
    (tmp_path / "stuck.toml").write_text(stuck("400 ms"))
    command = [PROGRAM, "run", "stuck.toml", "--json", "--out", "out", "--threads", threads]
    log = tmp_path / "stderr"
    with (
        log.open("w") as stderr,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=tmp_path) as process,
    ):
        wait_until(lambda: catches_quit(process), 60, process)
        process.send_signal(signal.SIGQUIT)  # perhaps before the run begins

        def has_answered() -> bool:
            process.send_signal(signal.SIGQUIT)
            return "events/s" in log.read_text()

        wait_until(has_answered, 60, process)
        stdout, _ = process.communicate(timeout=300)
    said = log.read_text()
    assert process.returncode == 0, said
    for part in ("run/stuck stuck: ", "% done, ", "stuck: 1 unfinished, 1 of them stalled", NEEDS, "  since "):
        assert part in said
    summary = json.loads(stdout)["summary"]
    quiet = hl.run(stuck("400 ms"))
    assert summary["trace_hash"] == quiet.summary["trace_hash"]
    assert summary["unfinished"] == quiet.summary.unfinished


class Quitting:
    """A source of results and a renderer that ask for the state at each step."""

    interrupted = False

    def __init__(self):
        self.asked, self.told = 0, []

    def ask(self):
        self.asked += 1
        os.kill(os.getpid(), signal.SIGQUIT)

    def tell(self):
        self.told.append(threading.current_thread().name)

    def stop(self):
        pass

    def results(self, look):
        self.ask()
        yield from ()
        self.ask()

    def render_report(self, results, manifest):
        self.ask()
        return ""

    def named_plots(self, results):
        self.ask()
        return {}


def test_sigquit_before_and_after_the_runs_asks_for_the_state_and_ends_nothing(tmp_path):
    source, lost = Quitting(), []

    def make_folder():
        source.ask()
        return ResultsFolder("quitting", tmp_path / "out")

    before = signal.signal(signal.SIGQUIT, lambda *_: lost.append(1))
    try:
        execution = execute(source, make_folder, "quitting", source)
    finally:
        signal.signal(signal.SIGQUIT, before)
    execution.folder.close()
    assert (tmp_path / "out/manifest.json").exists()
    wait_until(lambda: len(source.told) == source.asked == 5)
    assert not lost


def test_sigquit_says_that_runs_on_an_executor_have_no_report(capsys):
    with ThreadPoolExecutor(1) as executor:
        pool = Pool(executor=executor)
        pool.tell()
        assert "runs on the executor have no report" in capsys.readouterr().err
    Pool(1).tell()
    assert "no run in progress has a report" in capsys.readouterr().err


def test_the_end_of_a_run_says_who_waits_for_whom_on_the_screen_and_in_a_table(tmp_path):
    (tmp_path / "stuck.toml").write_text(stuck("20 ms"))
    done = hitless("run", "stuck.toml", "--out", "out", cwd=tmp_path)
    run = hl.run(stuck("20 ms"))
    assert run.summary.unfinished.startswith(f"1 flow stalled: {NEEDS}")
    assert run.summary.unfinished in " ".join(done.stdout.split())
    table = run.table("stalls")
    assert pl.read_parquet(tmp_path / "out/run-stuck/stalls.parquet").equals(table)
    [row] = table.to_dicts()
    assert (row["state"], row["cause"], row["place"], row["flow"]) == ("stalled", "link down", "right->h3", 1)
    assert row["since_ps"] < 20_000_000_000 < row["until_ps"]
    assert run.summary.unfinished.endswith(row["reason"])


def test_a_run_in_which_every_flow_ended_has_neither_sentence_nor_table():
    run = hl.run(stuck("20 ms").replace('state = "down" }', 'state = "down" }, { at = "40 us", state = "up" }'))
    assert run.summary.unfinished == ""
    assert "unfinished" not in run.summary.values
    assert "stalls" not in run.tables


def test_a_run_in_steps_reports_between_two_steps():
    steps = hl.Scenario.from_text(stuck("20 ms")).start()
    steps.advance("10 ms")
    report = steps.report()
    assert report.startswith("10,000 us simulated: 2 flows started, 0 completed\n")
    assert NEEDS in report
    assert steps.finish().summary["trace_hash"] == hl.run(stuck("20 ms")).summary["trace_hash"]
