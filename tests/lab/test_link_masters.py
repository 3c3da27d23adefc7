"""An interface in a bridge: `hitless link` refuses it, and its check and its log name the command."""

import pytest

from boxes import Running, link_ends
from test_link_check import WORDS, checked
from waiting import wait_until

START = [WORDS[0], *WORDS[2:]]


@pytest.fixture
def two_boxes(two_boxes):
    two_boxes.run("left", "ip", "link", "add", "br0", "type", "bridge")
    two_boxes.run("left", "ip", "link", "set", "br0", "up")
    return two_boxes


def test_the_check_and_the_start_refuse_a_port_of_a_bridge(two_boxes, tmp_path):
    for name in ("inside", "outside"):
        two_boxes.run("left", "ip", "link", "set", name, "master", "br0")
    code, found = checked(two_boxes)
    assert code == 1
    for name in ("inside", "outside"):
        text = f"{name} is a port of br0, which takes its frames before hitless"
        assert found[f"{name}: master"] == ("error", text, f"ip link set {name} nomaster")
    assert "other end of outside" in found, "it is asked in spite of errors"
    end = Running(two_boxes, tmp_path, "left", *START)
    assert end.process.wait(timeout=60) == 2
    assert "ip link set inside nomaster" in end.log.read_text()


@pytest.mark.parametrize("name", ["inside", "outside"])
def test_an_interface_that_gets_a_master_is_told_and_the_link_recovers(two_boxes, tmp_path, name):
    ends = link_ends(two_boxes, tmp_path)
    two_boxes.run("left", "ip", "link", "set", name, "master", "br0")
    ends[0].wait_for(f"WARNING {name} is a port of br0, which takes its frames before hitless -> ip link set {name} no")
    if name == "outside":
        ends[0].wait_for("the other end is silent for more than 300 ms: the kernel forwards, unprotected -> cause: out")
        ends[1].wait_for("the kernel forwards, unprotected")
    two_boxes.run("left", "ip", "link", "set", name, "nomaster")
    if name == "outside":
        wait_until(lambda: ends[0].log.read_text().count("the other end answers") == 2)
    assert [end.end() for end in ends] == [0, 0]
