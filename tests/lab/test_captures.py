"""Captures of labs, read by an independent reader, tshark and tcpdump."""

import subprocess

from boxes import Running, switch_file
from labs import chain, guardian, losing, require_tool
from pcapng import read
from traffic import ECHO, send

CAPTURES = """
[[measure.capture]]
name = "middle"
hosts = ["h1", "h2"]
links = ["sw1<->sw2"]
payload = true
[[measure.capture]]
name = "first"
links = ["h1->sw1"]
protocols = ["udp"]
limit = 3
"""
LINK_TYPE = (0x88B5).to_bytes(2)


def talked(lab, folder, count=200):
    """Run a lab with a lossy protected link; return the contents of its captures and the output of its end."""
    more = losing(0.05, "sw1->sw2") + guardian(active=True, answer="20 ms", tick="1 ms") + CAPTURES
    out = folder / "out"
    told = lab.up(chain(folder, "100 Mbps", more), "--out", out)
    assert "captures of packets: middle.pcapng" in told.stderr
    server = lab.start("h2", "python3", "-c", ECHO, "serve")
    lab.run("h1", "python3", "-c", ECHO, "ask", lab.address("h2"), 300, count, 10)
    ended = lab.down(code=None)
    server.wait(timeout=60)
    return out / "live", ended


def test_a_lab_writes_captures_with_real_frames(lab, tmp_path):
    folder, ended = talked(lab, tmp_path)
    middle, first = (read((folder / f"{name}.pcapng").read_bytes()) for name in ("middle", "first"))
    assert middle.interfaces == ["h1", "h2", "sw1->sw2", "sw2->sw1"]
    at = {name: [one for one in middle.packets if one.interface == name] for name in middle.interfaces}
    asked = [one.data for one in at["h1"] if one.flags == 2 and one.length == 342]
    assert len(asked) >= 200
    assert all(one.data == b"" or len(one.data) == one.length for one in middle.packets)
    carried = [one for one in at["sw1->sw2"] if one.data[12:14] == LINK_TYPE and one.length > 342]
    assert {one.data[-342:] for one in carried} >= set(asked), "the frames are inside, with LinkGuardian's headers"
    lost = [one for one in carried if one.comment.startswith("corrupted on the link")]
    assert lost
    assert all(any(one.data[-342:] == other.data[-342:] and not other.comment for other in carried) for one in lost)
    assert [one.length for one in first.packets] == [342] * 3
    assert all(len(one.data) == 42 for one in first.packets)
    assert "the capture first has the first 3 of" in ended.stdout + ended.stderr


def test_tshark_and_tcpdump_read_a_capture_of_a_lab(lab, tmp_path):
    require_tool("tshark", "tshark")
    require_tool("tcpdump", "tcpdump")
    folder, _ = talked(lab, tmp_path, 20)
    path = folder / "first.pcapng"
    shown = ["tshark", "-r", path, "-T", "fields", "-e", "frame.interface_name", "-e", "udp.dstport", "-e", "frame.len"]
    lines = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split("\t") for line in lines] == [["h1->sw1", "7", "342"]] * 3
    checks = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    wrong = ["-Y", "_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0"]
    complaints = ["tshark", "-r", folder / "middle.pcapng", *checks, *wrong]
    assert subprocess.run(complaints, capture_output=True, text=True, check=True).stdout == ""
    dumped = subprocess.run(["tcpdump", "-nr", path], capture_output=True, text=True, check=True).stdout
    assert dumped.count("UDP, length 300") == 3


def test_a_lab_without_a_folder_says_that_it_does_not_capture(lab, tmp_path):
    told = lab.up(chain(tmp_path, more=CAPTURES)).stderr
    assert "left out: [[measure.capture]]" in told
    assert "captures need --out FOLDER" in told
    send(lab, lab.address("h2"))
    lab.down()


def test_a_switch_with_a_folder_for_results_captures(boxes, tmp_path):
    boxes.one_box()
    chain(tmp_path, more=CAPTURES)
    file = switch_file(tmp_path)
    file.write_text(file.read_text().replace("[metrics]", 'results = "results"\n[metrics]'))
    switch = Running(boxes, tmp_path, "box", "switch", file)
    switch.wait_for("h2 is behind")
    server = boxes.start("h2", "python3", "-c", ECHO, "serve")
    boxes.run("h1", "python3", "-c", ECHO, "ask", "10.9.0.2", 300, 20, 10)
    assert switch.end() == 0, switch.log.read_text()
    server.kill()
    server.wait(timeout=60)
    middle = read((tmp_path / "results/live/middle.pcapng").read_bytes())
    seen = [one for one in middle.packets if one.interface == "sw1->sw2" and one.length == 342]
    assert len(seen) >= 20
    assert all(one.data[26:34] == bytes([10, 9, 0, 1, 10, 9, 0, 2]) for one in seen)
