"""A link between two boxes stays usable while an end stops, crashes or starts anew."""

import itertools
import json
import signal
import subprocess
import sys
import time

import pytest

from boxes import link_end, link_ends
from traffic import ECHO
from waiting import wait_until
from warm import PROGRAM

PERIOD_S = 0.01
ASK = """
import json, socket, sys, time
address, count, period_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
answers = []
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
    begin_s = time.monotonic()
    for number in range(count):
        here.sendto(number.to_bytes(4), (address, 7))
        while (left_s := begin_s + (number + 1) * period_s - time.monotonic()) > 0:
            here.settimeout(left_s)
            try:
                answers.append(int.from_bytes(here.recv(99)))
            except TimeoutError:
                break
print(json.dumps(answers))
"""
"""Sends numbered datagrams to the echo, one per period, and prints the numbers of the answers."""


class Asking:
    """A hundred requests per second from h1 to h2 and back."""

    def __init__(self, boxes, count):
        words = [sys.executable, "-I", "-c", ASK, "10.9.0.2", count, PERIOD_S]
        self._count = count
        self._asking = boxes.start("h1", *words, stdout=subprocess.PIPE, text=True)

    def gap_s(self):
        """Return the longest interruption. No answer may come twice."""
        answers = json.loads(self._asking.communicate(timeout=300)[0])
        assert len(answers) == len(set(answers)), "none came twice"
        there = [-1, *sorted(answers), self._count]
        return max(after - before - 1 for before, after in itertools.pairwise(there)) * PERIOD_S


@pytest.fixture
def two_boxes(boxes):
    """Make h1 - left - right - h2, with a link without room for protected frames."""
    boxes.two_boxes()
    boxes.cable("left", "outside", "right", "outside", mtu=1500)
    boxes.start("h2", "python3", "-c", ECHO, "serve")
    return boxes


def mtu(boxes, box):
    return json.loads(boxes.run(box, "ip", "-json", "link", "show", "outside").stdout)[0]["mtu"]


def killed(end, _boxes, _folder):
    end.process.kill()
    end.process.wait()


def stopped(end, _boxes, _folder):
    assert end.end() == 0


def restarted(end, boxes, folder):
    assert end.end() == 0
    link_end(boxes, folder, "left", "--set-mtu").wait_for("the other end answers")


def killed_and_restarted(end, boxes, folder):
    killed(end, boxes, folder)
    link_end(boxes, folder, "left", "--set-mtu").wait_for("the other end answers")


@pytest.mark.parametrize("happens", [killed, stopped, restarted, killed_and_restarted])
def test_an_end_that_goes_interrupts_traffic_for_less_than_a_second(two_boxes, tmp_path, happens):
    ends = link_ends(two_boxes, tmp_path, "--set-mtu")
    assert mtu(two_boxes, "left") == 1526
    asking = Asking(two_boxes, 1_200)
    time.sleep(1)
    happens(ends[0], two_boxes, tmp_path)
    gap_s = asking.gap_s()
    print(f"{happens.__name__}: {gap_s * 1e3:.0f} ms")
    assert gap_s < 1.0, ends[1].log.read_text()
    if happens in {killed, stopped}:
        wait_until(lambda: mtu(two_boxes, "left") == 1500)
        assert mtu(two_boxes, "right") == 1526, "its end still runs"
        ends[1].wait_for("the kernel forwards, unprotected")
    assert ends[1].end() == 0
    wait_until(lambda: mtu(two_boxes, "right") == 1500)


def test_an_end_that_is_frozen_interrupts_traffic_for_less_than_a_second(two_boxes, tmp_path):
    ends = link_ends(two_boxes, tmp_path, "--set-mtu")
    asking = Asking(two_boxes, 600)
    time.sleep(1)
    ends[0].process.send_signal(signal.SIGSTOP)
    gap_s = asking.gap_s()
    print(f"frozen: {gap_s * 1e3:.0f} ms")
    assert 0.1 < gap_s < 1.0, ends[1].log.read_text()
    ends[1].wait_for("the kernel forwards, unprotected")
    # The kernel has forwarded the frames that wait in its rings, but for the first ones.
    asking = Asking(two_boxes, 300)
    time.sleep(1)
    ends[0].process.send_signal(signal.SIGCONT)
    assert asking.gap_s() < 1.0
    wait_until(lambda: ends[0].log.read_text().count("the other end answers") >= 2, log=ends[0].log)
    assert answers(two_boxes) >= _MOST, "protected again"
    assert [end.end() for end in ends] == [0, 0]


_MOST = 18
"""Answers of 20 that show that frames cross: a busy machine can take longer than 0.2 s for one."""


def answers(boxes, count=20):
    """Return the number of answered requests; none takes longer than 0.2 s."""
    return int(boxes.run("h1", "python3", "-c", ECHO, "ask", "10.9.0.2", 1400, count, 0.2).stdout)


def tables(boxes, box):
    return boxes.run(box, sys.executable, "-I", "-c", TABLES).stdout.split()


TABLES = """
import socket, struct
request = struct.pack("=IHHIIBBH", 20, 10 << 8 | 1, 0x301, 1, 0, 5, 0, 0)
with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12) as kernel:
    kernel.send(request)
    answer = kernel.recv(1 << 16)
while len(answer) >= 20:
    length, kind = struct.unpack_from("=IH", answer)
    if kind == 10 << 8:
        at = 20
        while at < length:
            size, number = struct.unpack_from("=HH", answer, at)
            if number & 0x3FFF == 1:
                print(answer[at + 4 : at + size - 1].decode())
            at += size + 3 & ~3
    answer = answer[length + 3 & ~3 :]
"""
"""Prints the names of the nftables tables of interfaces."""


def test_the_path_works_with_one_end_and_with_none_until_it_is_removed(two_boxes, tmp_path):
    left = link_end(two_boxes, tmp_path, "left", "--set-mtu")
    assert answers(two_boxes) == 0, "the other box has no path yet"
    right = link_end(two_boxes, tmp_path, "right", "--set-mtu")
    right.wait_for("the other end answers")
    left.wait_for("the other end answers")
    # The kernel asks for the neighbour's address only once a second after the requests that nobody answered.
    wait_until(lambda: answers(two_boxes, 1) == 1)
    assert answers(two_boxes) >= _MOST
    assert sorted(tables(two_boxes, "left")) == ["hitless-outside", "hitless-outside-gate"]
    assert [end.end() for end in (left, right)] == [0, 0]
    assert "hitless link --disconnect --outside outside ends that" in left.log.read_text()
    assert answers(two_boxes) >= _MOST
    assert tables(two_boxes, "left") == ["hitless-outside"]
    words = [PROGRAM, "link", "--disconnect", "--outside", "outside"]
    assert "path removed" in two_boxes.run("left", *words).stderr
    assert "there is no path" in two_boxes.run("left", *words).stderr
    assert tables(two_boxes, "left") == []
    assert answers(two_boxes) == 0


def test_without_the_path_nothing_crosses_while_an_end_does_not_run(two_boxes, tmp_path):
    earlier = link_ends(two_boxes, tmp_path, "--set-mtu")
    assert [end.end() for end in earlier] == [0, 0]
    assert tables(two_boxes, "left") == ["hitless-outside"], "the path of an earlier run"
    ends = link_ends(two_boxes, tmp_path, "--set-mtu", "--no-fail-open")
    ends[0].wait_for("the kernel's path of an earlier run is removed")
    assert answers(two_boxes) >= _MOST
    assert tables(two_boxes, "left") == []
    killed(ends[0], two_boxes, tmp_path)
    ends[1].wait_for("frames are lost")
    assert answers(two_boxes, 5) == 0
    assert ends[1].end() == 0


@pytest.mark.parametrize("interface", ["inside", "outside"])
def test_an_interface_that_is_made_anew_gets_its_path_again(two_boxes, tmp_path, interface):
    ends = link_ends(two_boxes, tmp_path, "--set-mtu")
    two_boxes.run("left", "ip", "link", "delete", interface)
    ends[0].wait_for(f"{interface}, the interface of")
    if interface == "outside":
        two_boxes.cable("left", "outside", "right", "outside", mtu=1500)
    else:
        two_boxes.cable("left", "inside", "h1", "eth0")
        two_boxes.address("h1", "eth0", "10.9.0.1")
    ends[0].wait_for("is back and used again")
    wait_until(lambda: answers(two_boxes) == 20)
    assert [end.end() for end in ends] == [0, 0]
    wait_until(lambda: answers(two_boxes) >= _MOST)  # through the new interface, by the kernel


def test_two_capabilities_are_enough(two_boxes, tmp_path):
    """Those of hitless-link@.service."""
    capabilities = "-all,+net_raw,+net_admin"
    only = ["setpriv", "--bounding-set", capabilities, "--inh-caps", capabilities]
    ends = link_ends(two_boxes, tmp_path, "--set-mtu", first=only)
    assert answers(two_boxes) >= _MOST
    killed(ends[0], two_boxes, tmp_path)
    wait_until(lambda: mtu(two_boxes, "left") == 1500)
    wait_until(lambda: answers(two_boxes) == 20)
