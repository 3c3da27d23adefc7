"""A cable with a device in it that is smaller than protected frames: `hitless link` and its check say so."""

import itertools
import json
import re
import time

import pytest

from boxes import link_end
from test_fail_open import answers
from test_link_check import checked
from traffic import ECHO
from waiting import wait_until
from warm import PROGRAM

FITS, TOO_SMALL = 1526, 1500
TOLD = "frames of 1526 bytes do not pass the cable"


@pytest.fixture
def two_boxes(boxes):
    """Make h1 - left - bridge - right - h2, with boxes that have room for protected frames."""
    boxes.two_boxes()
    boxes.bridged_wire(FITS)
    boxes.start("h2", "python3", "-c", ECHO, "serve")
    return boxes


def of_cable(boxes, mtu):
    boxes.run("wire", "ip", "link", "set", "wire1", "mtu", mtu)


def status(boxes):
    """Return the status of the end in left; the machine can have others, also of the same interface name."""
    space = re.escape(boxes.namespace("left"))
    told = boxes.run("left", PROGRAM, "link", "status", "--json", check=False)
    named = re.search(rf"--name (\S+) \(process \d+, \S+ - \S+, namespace {space}\)", " ".join(told.stderr.split()))
    words = ["--name", named[1]] if named else []
    return json.loads(boxes.run("left", PROGRAM, "link", "status", "--json", *words).stdout)


def test_a_small_device_in_the_cable_leaves_frames_to_the_kernel_until_it_is_mended(two_boxes, tmp_path):
    of_cable(two_boxes, TOO_SMALL)
    ends = [link_end(two_boxes, tmp_path, box) for box in ("left", "right")]
    for end in ends:
        end.wait_for(TOLD)
        end.wait_for("the kernel forwards, unprotected")
        assert "the other end answers" not in end.log.read_text()
    assert answers(two_boxes) >= 18, "long frames cross without protection"
    wait_until(lambda: "frames of 1500 do" in status(two_boxes)["peer"]["trouble"])
    assert "ip link set inside mtu 1474" in status(two_boxes)["peer"]["trouble"]
    of_cable(two_boxes, FITS)
    for end in ends:
        end.wait_for("the other end answers")
    assert status(two_boxes)["peer"] == status(two_boxes)["peer"] | {"answers": True, "trouble": None}
    began_s, before = time.monotonic(), [end.log.read_text().count(TOLD) for end in ends]
    of_cable(two_boxes, TOO_SMALL)
    for end, count in zip(ends, before, strict=True):
        wait_until(lambda end=end, count=count: end.log.read_text().count(TOLD) > count)
    took_s = time.monotonic() - began_s
    print(f"both fail open after {took_s * 1e3:.0f} ms")
    assert took_s < 2.0, "0.9 s, and time for a busy machine"
    assert answers(two_boxes) >= 18
    assert [end.end() for end in ends] == [0, 0]


def test_lower_hosts_mend_it_as_well(two_boxes, tmp_path):
    of_cable(two_boxes, TOO_SMALL)
    ends = [link_end(two_boxes, tmp_path, box) for box in ("left", "right")]
    ends[0].wait_for(TOLD)
    for box, host in (("left", "h1"), ("right", "h2")):
        two_boxes.run(box, "ip", "link", "set", "inside", "mtu", 1474)
        two_boxes.run(host, "ip", "link", "set", "eth0", "mtu", 1474)
    for end in ends:
        end.wait_for("the other end answers")
    assert answers(two_boxes) >= 18
    assert [end.end() for end in ends] == [0, 0]


@pytest.mark.parametrize("checks_only", [False, True])
def test_the_check_finds_it(two_boxes, tmp_path, checks_only):
    of_cable(two_boxes, TOO_SMALL)
    if checks_only:
        loop = f"while :; do {PROGRAM} link check --inside inside --outside outside --rate '100 Mbps'; done"
        two_boxes.start("right", "sh", "-c", loop)
    else:
        link_end(two_boxes, tmp_path, "right")
    for _ in itertools.repeat(None, 10):  # two checks must overlap
        code, found = checked(two_boxes)
        if "other end of outside: length of frames" in found:
            break
    verdict, text, mend = found["other end of outside: length of frames"]
    assert (code, verdict) == (1, "warning")
    assert TOLD in text
    assert "1474" in mend
    of_cable(two_boxes, FITS)
    if not checks_only:
        time.sleep(1)
        assert checked(two_boxes)[0] == 0
