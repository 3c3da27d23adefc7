"""Labs as users run them: `hitless lab` in processes of its own, on this machine's kernel."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import warm

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).with_name("hitless")
RUN_FOLDER = Path("/run/hitless/lab")


def why_no_labs():
    """Why this machine runs no lab; None when it does."""
    if os.geteuid() != 0:
        return "labs need root"
    if shutil.which("ip") is None:
        return "labs need iproute2 (apt-get install iproute2)"
    name = f"hitless-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"this machine permits no network namespaces: {made.stderr.strip()}"
    try:
        veth = ["ip", "-n", name, "link", "add", "veth1", "type", "veth", "peer", "name", "veth2"]
        made = subprocess.run(veth, capture_output=True, text=True, check=False)
        return f"this machine has no veth: {made.stderr.strip()}" if made.returncode != 0 else None
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=False)


def require_tool(name, package):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is missing, and only root can install it (apt-get install {package})")


def hitless(*arguments, check=True, input="", timeout=120, traceback=False):
    done = warm.hitless(*arguments, input=input, timeout=timeout)
    assert not check or done.returncode == 0, done
    assert traceback or "Traceback" not in done.stderr, done.stderr
    return done


CHAIN = """
name = "chain"
[topology]
kind = "chain"
hosts_left = ["h1"]
switches = ["sw1", "sw2"]
hosts_right = ["h2"]
host_link = {{ rate = "{rate}", delay = "5 us" }}
switch_link = {{ rate = "{rate}", delay = "5 us" }}
"""


def chain(folder, rate="200 Mbps", more=""):
    """h1 - sw1 - sw2 - h2."""
    file = folder / "chain.toml"
    file.write_text(CHAIN.format(rate=rate) + more)
    return file


class Lab:
    """A lab under a name of this test's own."""

    def __init__(self, name):
        self.name = name

    def up(self, file, *arguments, **more):
        return hitless("lab", "up", file, "--name", self.name, *arguments, **more)

    def down(self, *arguments, **more):
        return hitless("lab", "down", "--name", self.name, *arguments, **more)

    def tell(self, command, *arguments, **more):
        return hitless("lab", command, *arguments, "--name", self.name, **more)

    def status(self):
        return json.loads(self.tell("status", "--json").stdout)

    def address(self, host):
        """Where a host is, for programs that `ip netns exec` starts."""
        record = json.loads((RUN_FOLDER / self.name / "lab.json").read_text())
        return next(entry["address"] for entry in record["plan"]["hosts"] if entry["name"] == host)

    def run(self, host, *command, check=True, timeout=120, **more):
        """A program in a host, to its end; by `ip netns exec`, which starts faster than `hitless lab exec`."""
        words = ["ip", "netns", "exec", f"hitless.{self.name}.{host}", *map(str, command)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=timeout, **more)
        assert not check or done.returncode == 0, done
        return done

    def start(self, host, *command, **more):
        words = ["ip", "netns", "exec", f"hitless.{self.name}.{host}", *map(str, command)]
        return subprocess.Popen(words, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **more})

    def wait_for_port(self, host, port):
        """Until somebody listens."""
        for _ in range(200):
            if self.run(host, "ss", "--tcp", "--listening", "--no-header", f"sport = :{port}").stdout:
                return
            time.sleep(0.05)
        raise AssertionError(f"nobody listens on port {port} of {host}")

    def pid(self):
        return json.loads((RUN_FOLDER / self.name / "lab.json").read_text())["pid"]

    def kill(self):
        """End its process as nothing can prepare for."""
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_running(pid))

    def left_behind(self):
        """What there is of it: namespaces, processes, files."""
        spaces = [path.name for path in Path("/run/netns").glob(f"hitless.{self.name}*")]
        files = [path.name for path in RUN_FOLDER.glob(f"{self.name}*")]
        return spaces + files + processes_of(self.name) + interfaces_of(self.name)

    def clear(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            hitless("lab", "down", "--name", self.name, check=False)


def wait_until(holds, patience_s=30):
    until = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.02)


def is_running(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def processes_of(name):
    """Processes of the lab's own program."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and is_running(int(entry.name)):
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"hitless.lab.process" in words and name.encode() in words:
                    found.append(f"process {entry.name}")
    return found


def interfaces_of(name):
    """Interfaces of everybody's namespace that lead into the lab's."""
    shown = subprocess.run(["ip", "-json", "link", "show"], capture_output=True, text=True, check=True).stdout
    return [link["ifname"] for link in json.loads(shown) if link.get("link_netns", "").startswith(f"hitless.{name}")]
