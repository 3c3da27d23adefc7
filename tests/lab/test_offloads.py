"""Hosts that leave the splitting of TCP to their network cards, at `hitless link`."""

import json
import re
import shutil
import socket
import subprocess
import sys

import pytest

from boxes import Running, link_ends, switch_file
from labs import chain, guardian, losing
from waiting import wait_until

BYTES = 3_000_000
TCP = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[2] else socket.AF_INET
if sys.argv[1] == "receive":
    with socket.create_server((sys.argv[2], 5000), family=family) as server:
        print("ready", flush=True)
        connection, _ = server.accept()
        received = bytearray()
        while part := connection.recv(1 << 20):
            received += part
        print(len(received), received == bytes(range(256)) * (len(received) // 256))
else:
    with socket.create_connection((sys.argv[2], 5000)) as connection:
        connection.sendall(bytes(range(256)) * (int(sys.argv[3]) // 256))
"""
SENT = BYTES // 256 * 256
UDP = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
    here.setsockopt(socket.SOL_UDP, 103, 1000)  # UDP_SEGMENT
    here.sendto(b"x" * 8000, ("10.9.0.2", 9))
"""


@pytest.fixture
def two_boxes(two_boxes):
    """h1 leaves the splitting of frames to its network card."""
    two_boxes.offloads_on("h1", "eth0")
    return two_boxes


def metric(boxes, name):
    shown = boxes.run("left", "curl", "--silent", "http://127.0.0.1:9472/metrics").stdout
    found = re.search(rf'hitless_live_port_{name}_total{{interface="inside".*}} (\S+)', shown)
    assert found, shown
    return float(found[1])


@pytest.mark.parametrize("version", [4, 6])
def test_buffers_of_tcp_are_split_and_arrive(two_boxes, tmp_path, version):
    if shutil.which("curl") is None:
        pytest.skip("curl is missing (apt-get install curl)")
    ends = link_ends(two_boxes, tmp_path, "--metrics-port", 9472)
    address = "10.9.0.2"
    if version == 6:
        address = "fd00::2"
        for number in (1, 2):
            host = f"h{number}"
            two_boxes.run(host, "sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/eth0/disable_ipv6")
            two_boxes.run(host, "ip", "address", "add", f"fd00::{number}/64", "dev", "eth0", "nodad")
    words = [sys.executable, "-I", "-c", TCP]
    receiving = two_boxes.start("h2", *words, "receive", address, stdout=subprocess.PIPE, text=True)
    assert receiving.stdout.readline() == "ready\n"
    two_boxes.run("h1", *words, "send", address, BYTES)
    assert receiving.communicate(timeout=60)[0] == f"{SENT} True\n"
    assert metric(two_boxes, "buffers_split") > 10
    assert metric(two_boxes, "frames_merged") == 0
    assert [end.end() for end in ends] == [0, 0]


def stream(boxes):
    """Send a stream from h1 to h2; it must arrive unchanged."""
    words = [sys.executable, "-I", "-c", TCP]
    receiving = boxes.start("h2", *words, "receive", "10.9.0.2", stdout=subprocess.PIPE, text=True)
    assert receiving.stdout.readline() == "ready\n"
    boxes.run("h1", *words, "send", "10.9.0.2", BYTES)
    assert receiving.communicate(timeout=60)[0] == f"{SENT} True\n"


CASES = {
    "whole": ("10 Gbps", ""),
    "single frames of a slow queue": ("50 Mbps", ""),
    "losses in a mechanism": ("10 Gbps", losing(0.01, "sw1->sw2") + guardian(active=True)),
    "small buffers": ("1 Gbps", '[switch]\nbuffer = { kind = "static", per_port = "20 KB" }\n'),
}


@pytest.mark.parametrize("case", CASES)
def test_buffers_stay_whole_through_a_switch_and_its_queues_see_frames(boxes, tmp_path, case):
    boxes.one_box()
    for host in ("h1", "h2"):
        boxes.offloads_on(host, "eth0")
    rate, more = CASES[case]
    scenario = chain(tmp_path, rate, more)
    if case == "small buffers":
        switch_link = 'switch_link = { rate = "1 Gbps"'
        assert switch_link in scenario.read_text()
        scenario.write_text(scenario.read_text().replace(switch_link, 'switch_link = { rate = "100 Mbps"'))
    file = switch_file(tmp_path)
    file.write_text(file.read_text().replace('scenario = "chain.toml"', 'scenario = "chain.toml"\nresults = "out"'))
    switch = Running(boxes, tmp_path, "box", "switch", file)
    switch.wait_for("h2 is behind port2: AF_PACKET, memory-mapped rings (TPACKET_V2); large TCP buffers whole")
    stream(boxes)
    assert switch.end() == 0
    status = json.loads((tmp_path / "out" / "status.json").read_text())
    near, far = status["ports"]
    assert (near["buffers_whole"] > 10, near["buffers_split"], near["frames_merged"]) == (True, 0, 0)
    frames = SENT // 1448
    assert near["frames_received"] >= frames, "each segment counts"
    link = next(link for link in status["links"] if link["link"] == "sw1->sw2")
    assert link["frames_sent"] >= frames
    assert link["arrived_bytes"] >= SENT
    if case == "whole":
        assert far["frames_sent_together"] > far["frames_sent"] * 0.5
        assert far["buffers_sent"] * 4 < far["frames_sent_together"], "more than four frames in each"
    elif case == "single frames of a slow queue":
        assert far["frames_sent_together"] < far["frames_sent"] * 0.5, "a frame takes 0.24 ms"
    elif case == "small buffers":
        assert sum(status["drops"].values()) > 0, status["drops"]


def test_the_first_merged_frame_that_is_dropped_is_logged_with_the_command(two_boxes, tmp_path):
    if not hasattr(socket, "SOL_UDP"):
        pytest.skip("this Python lacks SOL_UDP")
    left, right = link_ends(two_boxes, tmp_path)
    two_boxes.run("h1", sys.executable, "-I", "-c", UDP)
    told = "inside: a frame was dropped because an offload had merged several (frames_merged = 1)"
    wait_until(lambda: told in left.log.read_text(), patience_s=5, log=left.log)
    assert "ethtool -K INTERFACE tso off gso off gro off" in left.log.read_text()
    two_boxes.run("h1", sys.executable, "-I", "-c", UDP)
    assert [end.end() for end in (left, right)] == [0, 0]
    assert left.log.read_text().count("a frame was dropped because") == 1, "only the first"
