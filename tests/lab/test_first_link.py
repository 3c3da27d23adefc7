"""The commands of docs/tutorials/first-link.md, in namespaces with other names."""

import os
import re
import subprocess
import uuid
from pathlib import Path

import pytest

from labs import require_tool
from warm import PROGRAM

PAGE = Path(__file__).resolve().parents[2] / "docs/tutorials/first-link.md"
NAMES = ("h1", "box1", "cable", "box2", "h2")


@pytest.fixture
def prefix(permitted):
    prefix = f"hlt{os.getpid()}{uuid.uuid4().hex[:4]}-"
    yield prefix
    for name in NAMES:
        shown = subprocess.run(["ip", "netns", "pids", prefix + name], capture_output=True, text=True, check=False)
        for pid in shown.stdout.split():
            subprocess.run(["kill", "-9", pid], check=False)
        subprocess.run(["ip", "netns", "delete", prefix + name], check=False, capture_output=True)


def slowest_s(output):
    return [float(found) for found in re.findall(r"slowest (\S+) s", output)]


def test_the_commands_of_the_page_protect_the_cable(prefix, tmp_path):
    require_tool("nft", "nftables")
    require_tool("curl", "curl")
    steps = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    cable = "c" + uuid.uuid4().hex[:6]  # names of control sockets are shared by the machine
    script = "\n".join(["set -u", *steps]).replace("demo-", prefix)
    script = re.sub(r"\bcable([12])\b", rf"{cable}\1", script).replace("rm box1.log box2.log", "")
    script = script.replace('"20 ms"', '"200 ms"').replace('"1 Gbps"', '"100 Mbps"')  # for a busy machine
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    shown = done.stdout + done.stderr
    harmed_s, protected_s, _ = slowest_s(shown)
    assert harmed_s > 0.19, "TCP waits for its timeout"
    assert protected_s < harmed_s, shown
    found = re.search(r"^from the peer active blocking \S+ +- +[\d,]+ +([\d,]+) +([\d,]+) +0$", shown, re.MULTILINE)
    assert found, shown
    assert int(found[1].replace(",", "")) > 3, "the cable loses frames"
    assert "hitless_live_peer_answers 1.0" in shown
    assert "the kernel forwards, unprotected" in shown
    assert not [name for name in NAMES if Path("/run/netns", prefix + name).exists()]
