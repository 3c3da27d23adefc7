"""`hitless link` as a service, and reloads under traffic without loss."""

import sys

import pytest

from boxes import Running, switch_file
from labs import chain, guardian
from traffic import Stream
from waiting import wait_until
from warm import hitless

FILE = '[link]\ninside = "inside"\noutside = "outside"\nrate = "100 Mbps"\nloss_rate = 0.05\nactive = {active}\n'
TAGGED = """
import socket, sys
frame = bytes.fromhex("020000000002020000000001") + bytes.fromhex(sys.argv[2]) + bytes(int(sys.argv[3]))
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as here:
    here.bind((sys.argv[1], 0))
    for _ in range(5):
        here.send(frame)
"""


def one_switch(boxes, folder, mtu=1500, more=""):
    """A switch that forwards, and its scenario."""
    boxes.one_box(mtu)
    chain(folder, more=more)
    switch = Running(boxes, folder, "box", "switch", switch_file(folder))
    switch.wait_for("h2 is behind port2")
    return switch


def guarded(active):
    return guardian(active=active, answer="5 ms", tick="50 us")


def test_of_six_reloads_under_traffic_none_loses_or_doubles_a_frame(boxes, tmp_path):
    """Before this test, only the code implied that packets in flight survive."""
    switch = one_switch(boxes, tmp_path, more=guarded(active=False))
    stream = Stream(boxes, "10.9.0.2", count=1_500, rate_pps=500, burst=5, payload=200)
    for turn in range(6):
        chain(tmp_path, more=guarded(active=turn % 2 == 0))
        switch.process.send_signal(1)
        wait_until(lambda turn=turn: switch.log.read_text().count("was read again") > turn)
    numbers = stream.received()
    assert len(set(numbers)) == 1_500, "none is lost"
    assert len(numbers) == 1_500, "none came twice"
    assert switch.end() == 0


def test_a_link_is_a_service_with_a_file_that_is_read_again(boxes, tmp_path):
    boxes.two_boxes()
    boxes.cable("left", "outside", "right", "outside", mtu=1600)
    file = tmp_path / "link.toml"
    file.write_text(FILE.format(active="false"))
    ends = [Running(boxes, tmp_path, box, "link", file) for box in ("left", "right")]
    for end in ends:
        end.wait_for("the other end answers")
    stream = Stream(boxes, "10.9.0.2", count=1_000, rate_pps=500, burst=5, payload=200)
    file.write_text(FILE.format(active="true"))
    for end in ends:
        end.process.send_signal(1)
        end.wait_for("was read again: protect here->there 6 blocking, protect there->here 6 blocking")
    numbers = stream.received()
    assert len(numbers) == len(set(numbers)) == 1_000, "a reload loses nothing"
    file.write_text(FILE.format(active="true").replace("100 Mbps", "200 Mbps"))
    ends[0].process.send_signal(1)
    ends[0].wait_for("link.rate: changed in the file, and a running link keeps it")
    file.write_text("[link")
    ends[0].process.send_signal(1)
    ends[0].wait_for("not TOML")
    assert [end.end() for end in ends] == [0, 0]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("rate =", "rates ="), "did you mean rate?"),
        (("100 Mbps", "fast"), "is not a rate"),
        (("0.05", "0.9"), "less than or equal to 0.4"),
        (('"outside"', '"inside"'), "are both inside"),
    ],
)
def test_a_wrong_file_is_told(tmp_path, change, told):
    file = tmp_path / "link.toml"
    file.write_text(FILE.format(active="true"))
    assert '"loss_rate": 0.05' in hitless("link", file, "--check").stdout
    file.write_text(FILE.format(active="true").replace(*change))
    done = hitless("link", file, "--check", code=2)
    assert told in " ".join(done.stderr.split())


def test_options_beside_a_file_and_options_that_are_missing_are_told(tmp_path):
    done = hitless("link", tmp_path / "link.toml", "--rate", "1 Gbps", code=2)
    assert "--rate: the file already sets this" in done.stderr
    done = hitless("link", "--inside", "a", code=2)
    assert "--outside, --rate: missing" in done.stderr
    (tmp_path / "link.toml").write_text(hitless("link", "--example").stdout)
    assert "valid; effective" in hitless("link", tmp_path / "link.toml", "--check").stderr


@pytest.mark.parametrize(("mtu", "comes"), [(1500, False), (1508, True)])
def test_full_frames_with_two_tags_cross_where_the_mtu_has_room_and_are_counted_where_not(boxes, tmp_path, mtu, comes):
    """802.1ad: 14 + 8 of tags + 1,500. The kernel accepts one tag beyond the MTU (IEEE 802.1Q), but not a second."""
    switch = one_switch(boxes, tmp_path, mtu)

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
    assert switch.end() == 0
