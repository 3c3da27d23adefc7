"""`hitless link check`, and the same findings at the start of `hitless link`."""

import json
import time

from boxes import link_end
from warm import PROGRAM

WORDS = ["link", "check", "--inside", "inside", "--outside", "outside", "--rate", "100 Mbps"]


def checked(boxes, *more, box="left"):
    """Return the exit code, and (verdict, text, mend) by subject."""
    done = boxes.run(box, PROGRAM, *WORDS, *more, "--json", check=False)
    found = json.loads(done.stdout)["findings"]
    return done.returncode, {each["subject"]: (each["verdict"], each["text"], each["mend"]) for each in found}


def take_far_end_down(two_boxes):
    """Take the right end of the cable down, and wait until the left one has lost its carrier."""
    two_boxes.run("right", "ip", "link", "set", "outside", "down")
    while "NO-CARRIER" not in two_boxes.run("left", "ip", "link", "show", "outside").stdout:
        time.sleep(0.05)  # the kernel tells the other end up to a second later


def test_a_link_in_order_has_no_warning(two_boxes):
    code, found = checked(two_boxes)
    assert code == 0, found
    assert found["outside: MTU"][0] == "ok"
    assert found["inside: carrier"] == ("ok", "present", "")
    assert found["other end of outside"][0] == "note", "nobody is there yet"


def test_each_finding_has_the_command_that_mends_it(two_boxes):
    two_boxes.run("left", "ip", "link", "set", "outside", "mtu", 1500)
    take_far_end_down(two_boxes)
    two_boxes.run("left", "ip", "link", "set", "inside", "down")
    code, found = checked(two_boxes)
    assert code == 1
    verdict, text, mend = found["outside: MTU"]
    assert (verdict, "1500 + 26" in text) == ("error", True)
    assert mend.startswith("ip link set outside mtu 1526 at both ends")
    assert found["inside: carrier"] == ("warning", "the interface is off", "ip link set inside up")
    assert found["outside: carrier"][0] == "warning"
    assert "ip link set INTERFACE up" in found["outside: carrier"][1]
    code, found = checked(two_boxes, "--set-mtu")
    assert (code, found["outside: MTU"][0]) == (1, "ok")


def test_an_interface_that_is_missing_or_too_slow_is_told(two_boxes):
    code, found = checked(two_boxes, "--inside", "nobody")
    assert code == 1
    assert found["nobody"][0] == "error"
    code, found = checked(two_boxes, "--rate", "12 Gbps")
    assert code == 1
    assert found["outside: rate"][0] == "warning", "a veth says that it runs at 10 Gbps"
    assert found["outside: rate"][2] == 'rate "10 Gbps", or a faster interface'


def test_the_other_end_is_compared_while_it_runs(two_boxes, tmp_path):
    end = link_end(two_boxes, tmp_path, "right")
    code, found = checked(two_boxes)
    assert (code, found["other end of outside"]) == (0, ("ok", "answers", ""))
    code, found = checked(two_boxes, "--rate", "50 Mbps")
    assert code == 1
    text = "has rate 100 Mbps, and this end 50 Mbps"
    assert found["other end of outside: rate"] == ("warning", text, "give both ends the same rate")
    two_boxes.run("left", "ip", "link", "set", "inside", "mtu", 1560)
    code, found = checked(two_boxes)
    assert code == 0, "the link has room for it"
    two_boxes.run("left", "ip", "link", "set", "inside", "mtu", 9000)
    code, found = checked(two_boxes, "--set-mtu")
    assert (code, found["other end of outside: MTU"][0]) == (1, "warning")
    assert end.end() == 0


def test_the_start_logs_the_same_warnings(two_boxes, tmp_path):
    take_far_end_down(two_boxes)
    end = link_end(two_boxes, tmp_path, "left")
    assert "WARNING outside: carrier: no carrier" in end.log.read_text()
    assert end.end() == 0
