"""`hitless link` as a service, and reloads under traffic that lose nothing."""

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from boxes import PROGRAM, Boxes
from hitless.lab import traffic
from labs import ROOT, chain, hitless, wait_until

UNIT = ROOT / "packaging/systemd/hitless-link@.service"
FILE = '[link]\ninside = "inside"\noutside = "outside"\nrate = "100 Mbps"\nloss_rate = 0.05\nactive = {active}\n'
TAGGED = """
import socket, sys
frame = bytes.fromhex("020000000002020000000001") + bytes.fromhex(sys.argv[2]) + bytes(int(sys.argv[3]))
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as here:
    here.bind((sys.argv[1], 0))
    for _ in range(5):
        here.send(frame)
"""


@pytest.fixture
def boxes(permitted):
    boxes = Boxes()
    yield boxes
    boxes.clear()


def running(boxes, folder, box, *words):
    log = folder / f"{box}.log"
    with log.open("wb") as file:
        process = boxes.start(box, PROGRAM, *words, stderr=file)
    return process, log


def said(process, log, text):
    wait_until(lambda: text in log.read_text() or process.poll() is not None, patience_s=60)
    assert process.poll() is None, log.read_text()


def numbered(boxes, bursts, every_s, dscp=0):
    """Datagrams from h1 to h2: how many were sent, and a function that ends it and gives the numbers that came."""
    words = [sys.executable, "-I", traffic.__file__]
    sink = boxes.start(
        "h2", *words, "udp-sink", '{"port": 9}', stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert sink.stdout.readline() == "ready\n"
    settings = {"to": "10.9.0.2", "port": 9, "sender": 1, "dscp": dscp, "bursts": bursts, "burst": 5, "payload": 200}
    settings |= {"at_ns": time.monotonic_ns() + 300_000_000, "every_s": every_s}
    source = boxes.start("h1", *words, "udp-send", json.dumps(settings), stdout=subprocess.PIPE, text=True)

    def came():
        sent = json.loads(source.communicate(timeout=300)[0])["sent"]
        arrivals = json.loads(sink.communicate("", timeout=300)[0])["arrivals"]
        return sent, [number for _, number in arrivals]

    return came


def one_box(boxes, folder, mtu=1500, more=""):
    for name in ("box", "h1", "h2"):
        boxes.box(name)
    for number in (1, 2):
        boxes.cable("box", f"port{number}", f"h{number}", "eth0", mtu=mtu)
        boxes.address(f"h{number}", "eth0", f"10.9.0.{number}")
    chain(folder, more=more)
    file = folder / "switch.toml"
    file.write_text(
        '[switch]\nscenario = "chain.toml"\n[metrics]\nport = 0\n'
        '[[interface]]\nnode = "h1"\nname = "port1"\n[[interface]]\nnode = "h2"\nname = "port2"\n'
    )
    return file


GUARDED = """
[[mechanism]]
kind = "linkguardian"
link = "sw1->sw2"
activation = [{ at = "0 s", active = ACTIVE }]
buffering = "paused-queue"
ack_no_timeout = "5 ms"
timer_period = "50 us"
"""


def test_of_six_reloads_under_traffic_none_loses_or_doubles_a_frame(boxes, tmp_path):
    """That nothing under way is lost followed from the code alone."""
    file = one_box(boxes, tmp_path, more=GUARDED.replace("ACTIVE", "false"))
    process, log = running(boxes, tmp_path, "box", "switch", file)
    said(process, log, "h2 is behind port2")
    came = numbered(boxes, bursts=300, every_s=0.01)
    for turn in range(6):
        chain(tmp_path, more=GUARDED.replace("ACTIVE", "false" if turn % 2 else "true"))
        process.send_signal(1)
        wait_until(lambda turn=turn: log.read_text().count("was read again") > turn, patience_s=30)
    sent, numbers = came()
    assert (sent, len(set(numbers))) == (1_500, 1_500), "none is lost"
    assert len(numbers) == 1_500, "none came twice"
    process.terminate()
    assert process.wait(timeout=300) == 0


def test_a_link_is_a_service_with_a_file_that_is_read_again(boxes, tmp_path):
    for name in ("h1", "left", "right", "h2"):
        boxes.box(name)
    boxes.cable("left", "inside", "h1", "eth0")
    boxes.cable("right", "inside", "h2", "eth0")
    boxes.cable("left", "outside", "right", "outside", mtu=1600)
    for number in (1, 2):
        boxes.address(f"h{number}", "eth0", f"10.9.0.{number}")
    file = tmp_path / "link.toml"
    file.write_text(FILE.format(active="false"))
    ends = [running(boxes, tmp_path, box, "link", file) for box in ("left", "right")]
    for process, log in ends:
        said(process, log, "Ctrl-C ends it")
    came = numbered(boxes, bursts=200, every_s=0.01)
    file.write_text(FILE.format(active="true"))
    for process, log in ends:
        process.send_signal(1)
        said(process, log, "was read again: protect here->there 6 blocking, protect there->here 6 blocking")
    sent, numbers = came()
    assert sent == len(numbers) == len(set(numbers)), "a reload loses nothing"
    file.write_text(FILE.format(active="true").replace("100 Mbps", "200 Mbps"))
    process, log = ends[0]
    process.send_signal(1)
    said(process, log, "link.rate: changed in the file, and a running link keeps it")
    file.write_text("[link")
    process.send_signal(1)
    said(process, log, "not TOML")
    for process, _ in ends:
        process.terminate()
        assert process.wait(timeout=300) == 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("rate =", "rates ="), "did you mean rate?"),
        (("100 Mbps", "fast"), "is no rate"),
        (("0.05", "0.9"), "less than or equal to 0.4"),
        (('"outside"', '"inside"'), "are both inside"),
    ],
)
def test_a_wrong_file_is_told(tmp_path, change, told):
    file = tmp_path / "link.toml"
    file.write_text(FILE.format(active="true"))
    assert '"loss_rate": 0.05' in hitless("link", file, "--check").stdout
    file.write_text(FILE.format(active="true").replace(*change))
    done = hitless("link", file, "--check", check=False)
    assert done.returncode == 2, done
    assert told in " ".join(done.stderr.split())


def test_options_beside_a_file_and_options_that_are_missing_are_told(tmp_path):
    done = hitless("link", tmp_path / "link.toml", "--rate", "1 Gbps", check=False)
    assert "--rate: a file says that already" in done.stderr
    done = hitless("link", "--inside", "a", check=False)
    assert "--outside, --rate: missing" in done.stderr
    (tmp_path / "link.toml").write_text(hitless("link", "--example").stdout)
    assert "sound" in hitless("link", tmp_path / "link.toml", "--check").stderr


def test_the_unit_is_one_that_systemd_accepts_and_gives_two_capabilities(tmp_path):
    text = UNIT.read_text()
    for name in ("AmbientCapabilities", "CapabilityBoundingSet"):
        assert re.findall(rf"^{name}=(.*)$", text, re.MULTILINE) == ["CAP_NET_RAW CAP_NET_ADMIN"]
    assert "/etc/hitless/link-%i.toml" in text
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is missing")
    unit = tmp_path / "hitless-link@eth2.service"
    unit.write_text(text.replace("/usr/bin/hitless", str(PROGRAM)))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert Path(unit).stem not in done.stderr, done.stderr


@pytest.mark.parametrize(("mtu", "comes"), [(1500, False), (1508, True)])
def test_full_frames_with_two_tags_cross_where_the_mtu_has_room_and_are_counted_where_not(boxes, tmp_path, mtu, comes):
    """802.1ad: 14 + 8 of tags + 1,500. The kernel gives one tag room beyond the MTU (IEEE 802.1Q), and no second."""
    file = one_box(boxes, tmp_path, mtu=mtu)
    file.write_text(file.read_text().replace("port = 0", "port = 9471"))
    process, log = running(boxes, tmp_path, "box", "switch", file)
    said(process, log, "h2 is behind port2")

    def received():
        shown = boxes.run("h2", "cat", "/proc/net/dev").stdout
        line = next(line for line in shown.splitlines() if line.strip().startswith("eth0:"))
        return int(line.split(":")[1].split()[1])

    before = received()
    tags = "88a80064" + "81000065" + "0800"
    done = boxes.run("h1", sys.executable, "-I", "-c", TAGGED, "eth0", tags, 1_500, check=False)
    if comes:
        assert done.returncode == 0, done.stderr
        wait_until(lambda: received() >= before + 5)
    else:
        assert "Message too long" in done.stderr, "the kernel of the host refuses it"
    process.terminate()
    assert process.wait(timeout=300) == 0
