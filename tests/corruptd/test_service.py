"""The process as users run it: `hitless corruptd`, its signals, metrics, state and unit."""

import errno
import os
import platform
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from servers import free_port
from waiting import wait_until
from warm import PROGRAM, hitless

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "packaging/systemd/hitless-corruptd.service"


def config(folder, port, interval_s=0.05):
    """A watch on an interface that exists on every Linux but cannot count: readings fail, the daemon continues."""
    file = folder / "corruptd.toml"
    file.write_text(
        f'[corruptd]\nswitch_id = "sw6"\npoll_interval_s = {interval_s}\nstate_file = "{folder}/state.json"\n'
        f"[metrics]\nport = {port}\n"
        '[[watch]]\nlink = "sw2->sw6"\nport = "lo"\nupstream_switch_id = "sw2"\n'
        '[[guard]]\nlink = "sw6->sw2"\ndownstream_switch_id = "sw2"\n'
    )
    return file


class Running:
    def __init__(self, folder, **environment):
        self.port = free_port()
        self.file = config(folder, self.port)
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "corruptd", "run", str(self.file), "--dry-run"], stderr=log, env={**os.environ, **environment}
            )

    def metrics(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            return ""

    def wait_for(self, holds):
        wait_until(holds, process=self.process, log=self.log)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(timeout=300)


@pytest.fixture
def running(tmp_path):
    daemon = Running(tmp_path)
    yield daemon
    if daemon.process.poll() is None:
        daemon.process.kill()
        daemon.process.wait()


def test_it_runs_shows_metrics_reloads_and_ends_cleanly(running, tmp_path):
    running.wait_for(lambda: 'hitless_corruptd_counters_readable{link="sw2->sw6"} 0.0' in running.metrics())
    assert 'hitless_corruptd_frames_total{link="sw2->sw6"} 0.0' in running.metrics()
    assert 'hitless_corruptd_bad_frames_total{link="sw2->sw6"} 0.0' in running.metrics()
    text = running.file.read_text()
    running.file.write_text(text.replace("sw6->sw2", "sw6->sw9"))
    running.process.send_signal(signal.SIGHUP)
    running.wait_for(lambda: 'expirations_total{link="sw6->sw9"}' in running.metrics())
    running.file.write_text("[corruptd")
    running.process.send_signal(signal.SIGHUP)
    running.wait_for(lambda: "was not read again, the daemon continues unchanged" in running.log.read_text())
    assert 'expirations_total{link="sw6->sw9"}' in running.metrics()
    assert running.end() == 0
    assert (tmp_path / "state.json").exists()


@pytest.mark.parametrize(
    "more", ['[bus]\nkind = "redis"\nurl = "redis://h:port/0"\n', '[bus]\nurl = "redis://h/0?no_such_option=1"\n']
)
def test_a_reload_with_a_url_that_leads_nowhere_changes_nothing(running, more):
    running.wait_for(lambda: "hitless_corruptd_polls_total" in running.metrics())
    running.file.write_text(running.file.read_text().replace("sw6->sw2", "sw6->sw9") + more)
    running.process.send_signal(signal.SIGHUP)
    running.wait_for(lambda: "was not read again, the daemon continues unchanged" in running.log.read_text())
    assert 'expirations_total{link="sw6->sw2"}' in running.metrics()
    assert running.end() == 0


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_state_file_that_is_a_folder_is_refused(tmp_path, command):
    (tmp_path / "state.json").mkdir()
    done = hitless("corruptd", command, config(tmp_path, 0), code=2)
    assert "corruptd.state_file is not a file" in done.stderr


def test_ctrl_c_ends_it_cleanly(running):
    running.wait_for(lambda: "hitless_corruptd_polls_total" in running.metrics())
    assert running.end(signal.SIGINT) == 0


def test_systemd_is_told_when_it_is_ready_alive_and_stopping(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(30)
        daemon = Running(tmp_path, NOTIFY_SOCKET=str(tmp_path / "notify"))
        assert systemd.recv(100) == b"READY=1"
        assert systemd.recv(100) == b"WATCHDOG=1"
        daemon.process.send_signal(signal.SIGTERM)
        heard = {systemd.recv(100)}
        while b"STOPPING=1" not in heard:
            heard.add(systemd.recv(100))
        assert daemon.process.wait(timeout=300) == 0


def test_a_port_that_is_taken_is_told(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        file = config(tmp_path, taken.getsockname()[1])
        done = hitless("corruptd", "run", file, code=1)
    assert "metrics: 127.0.0.1" in done.stderr


def test_example_and_check_go_together(tmp_path):
    example = hitless("corruptd", "example")
    file = tmp_path / "corruptd.toml"
    file.write_text(example.stdout)
    done = hitless("corruptd", "check", file)
    assert '"window_frames": 100000000' in done.stdout
    assert ": valid; " in done.stderr
    assert "warning" not in done.stderr
    file.write_text(example.stdout.replace("dry_run = true ", "dry_run = false"))
    done = hitless("corruptd", "check", file)
    assert "does not reach other processes" in done.stderr
    file.write_text(example.stdout.replace("threshold = 1e-8", "threshold = 1e-8x"))
    refused = hitless("corruptd", "check", file, code=2)
    assert refused.stdout == ""


def under_the_units_filter(*command):
    """Run ``command`` with @resources refused as in the unit: by an error number, or else by ending it."""
    found = re.search(r"^SystemCallErrorNumber=(\w+)$", UNIT.read_text(), re.MULTILINE)
    refusal = str(getattr(errno, found[1])) if found else "kill"
    helper = [sys.executable, Path(__file__).with_name("refuse_calls.py"), refusal]
    return subprocess.run([*helper, *command], capture_output=True, text=True, check=False)


def test_the_units_filter_does_not_kill_it_at_the_start(tmp_path):
    """A library below it requests memory near its processor (mbind), which the filter refuses."""
    if platform.machine() != "x86_64":
        pytest.skip("the numbers of system calls are those of x86_64")
    probe = under_the_units_filter("/bin/true")
    if probe.returncode != 0:
        pytest.skip(probe.stderr)
    done = under_the_units_filter(PROGRAM, "corruptd", "check", config(tmp_path, 0))
    assert done.returncode == 0, done
