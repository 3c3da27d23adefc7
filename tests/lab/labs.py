"""Labs as users run them: `hitless lab` in separate processes, on this machine's kernel."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from waiting import wait_until
from warm import PROGRAM, hitless

ROOT = Path(__file__).resolve().parents[2]
RUN_FOLDER = Path("/run/hitless/lab")


def why_no_labs():
    """Return why this machine cannot run labs; None if it can."""
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
    """Return the fabric h1 - sw1 - sw2 - h2."""
    file = folder / "chain.toml"
    file.write_text(CHAIN.format(rate=rate) + more)
    return file


def losing(rate, *links):
    return "".join(f'[[link]]\nname = "{link}"\nloss = {{ kind = "bernoulli", rate = {rate} }}\n' for link in links)


def guardian(link="sw1->sw2", *, active=False, answer="1 ms", tick="20 us"):
    """Return LinkGuardian on a link, at a speed that processes can reach."""
    return f"""
[[mechanism]]
kind = "linkguardian"
link = "{link}"
activation = [{{ at = "0 s", active = {str(active).lower()} }}]
buffering = "paused-queue"
ack_no_timeout = "{answer}"
timer_period = "{tick}"
"""


def crashing(folder, method):
    """Return the environment of a lab with a process that crashes in a method of its run."""
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        "if 'hitless.lab.process' in sys.orig_argv:\n"
        "    import hitless.live\n"
        "    def broken(*arguments, **more): raise MemoryError('the crash of the test')\n"
        f"    hitless.live.LiveRun.{method} = broken\n"
    )
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *os.environ.get("PYTHONPATH", "").split(":")])}


class Spaces:
    """Programs in network namespaces, by the test's names for them; `ip netns exec` starts fast."""

    def namespace(self, name):
        raise NotImplementedError

    def run(self, name, *command, check=True, timeout=120, **more):
        words = ["ip", "netns", "exec", self.namespace(name), *map(str, command)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=timeout, **more)
        assert not check or done.returncode == 0, done
        return done

    def start(self, name, *command, **more):
        words = ["ip", "netns", "exec", self.namespace(name), *map(str, command)]
        return subprocess.Popen(words, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **more})


class Lab(Spaces):
    def __init__(self, name):
        self.name = name

    def up(self, file, *arguments, **more):
        return hitless("lab", "up", file, "--name", self.name, *arguments, **more)

    def starting(self, file, *arguments, **more):
        """Start a process that brings the lab up."""
        words = [PROGRAM, "lab", "up", file, "--name", self.name, *arguments]
        return subprocess.Popen(words, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **more})

    def down(self, *arguments, **more):
        return hitless("lab", "down", "--name", self.name, *arguments, **more)

    def tell(self, command, *arguments, **more):
        return hitless("lab", command, *arguments, "--name", self.name, **more)

    def status(self):
        return json.loads(self.tell("status", "--json").stdout)

    def namespace(self, name):
        return f"hitless.{self.name}.{name}"

    def record(self):
        return json.loads((RUN_FOLDER / self.name / "lab.json").read_text())

    def address(self, host):
        return next(entry["address"] for entry in self.record()["plan"]["hosts"] if entry["name"] == host)

    def wait_for_port(self, host, port):
        show = ["ss", "--tcp", "--listening", "--no-header", f"sport = :{port}"]
        wait_until(lambda: self.run(host, *show).stdout)

    def pid(self):
        return self.record()["pid"]

    def kill(self):
        """Kill its process without warning."""
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_running(pid))

    def left_behind(self):
        """Return its remains: namespaces, processes, files."""
        spaces = [path.name for path in Path("/run/netns").glob(f"hitless.{self.name}*")]
        files = [path.name for path in RUN_FOLDER.glob(f"{self.name}*")]
        return spaces + files + processes_of(self.name) + interfaces_of(self.name)

    def clear(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            hitless("lab", "down", "--name", self.name, code=None, traceback=True)


def is_running(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def processes_of(name):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and is_running(int(entry.name)):
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"hitless.lab.process" in words and name.encode() in words:
                    found.append(f"process {entry.name}")
    return found


def interfaces_of(name):
    """Return the interfaces in the default namespace that lead into the lab's."""
    shown = subprocess.run(["ip", "-json", "link", "show"], capture_output=True, text=True, check=True).stdout
    return [link["ifname"] for link in json.loads(shown) if link.get("link_netns", "").startswith(f"hitless.{name}")]
