"""`hitless switch` and `hitless link` on the interfaces of boxes, which are namespaces here."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

from boxes import Running, link_ends, lossy_wire, switch_file
from labs import ROOT, chain, guardian, losing
from traffic import ECHO
from waiting import wait_until
from warm import PROGRAM, hitless


@pytest.fixture
def one_box(boxes, tmp_path):
    """Make h1 - box - h2, and a configuration for the box."""
    boxes.one_box()
    chain(tmp_path, more=GUARDED)
    boxes.file = switch_file(tmp_path, metrics_port=9471)
    boxes.start("h2", "python3", "-c", ECHO, "serve")
    return boxes


GUARDED = losing(0.1, "sw1->sw2") + guardian()


def answered(boxes, count=200, *, size=100, host="h1", to="10.9.0.2", patience_s=10):
    return int(boxes.run(host, "python3", "-c", ECHO, "ask", to, size, count, patience_s).stdout)


def metrics(boxes, box="box"):
    done = boxes.run(box, "curl", "--silent", "http://127.0.0.1:9471/metrics", check=False)
    return done.stdout


def test_a_switch_forwards_shows_metrics_and_reloads_without_losing_what_is_under_way(one_box, tmp_path):
    if shutil.which("curl") is None:
        pytest.skip("curl is missing (apt-get install curl)")
    switch = Running(one_box, tmp_path, "box", "switch", one_box.file)
    switch.wait_for("h2 is behind port2: AF_PACKET")
    came = answered(one_box, patience_s=0.2)
    assert 100 < came < 200, "a tenth of the frames is lost"
    shown = metrics(one_box)
    assert re.search(r'hitless_live_link_frames_corrupted_total\{link="sw1->sw2"\} [1-9]', shown)
    assert "hitless_live_up 1.0" in shown
    chain(tmp_path, more=GUARDED.replace("active = false", "active = true"))
    asking = one_box.start("h1", "python3", "-c", ECHO, "ask", "10.9.0.2", 100, 1000, 1, stdout=subprocess.PIPE)
    switch.process.send_signal(signal.SIGHUP)
    switch.wait_for("was read again: protect sw1->sw2")
    asking.communicate(timeout=120)
    assert answered(one_box, 500) == 500, "it is protected now"
    text = chain(tmp_path, rate="100 Mbps", more=GUARDED.replace("0.1", "0.2")).read_text()
    assert "100 Mbps" in text
    switch.process.send_signal(signal.SIGHUP)
    switch.wait_for("the switch continues unchanged")
    assert "topology: changed in the file" in switch.log.read_text()
    one_box.file.write_text("[switch")
    switch.process.send_signal(signal.SIGHUP)
    switch.wait_for("not TOML")
    assert answered(one_box, 100) == 100
    assert switch.end() == 0


def test_a_switch_runs_a_mechanism_out_of_the_tree(one_box, tmp_path):
    if shutil.which("cargo") is None:
        pytest.skip("cargo is missing")
    variables = {name: value for name, value in os.environ.items() if name != "HITLESS_MECHANISMS"}
    variables["XDG_CACHE_HOME"] = str(ROOT / "target/mechanism-test")  # like tests/simulator/test_mechanism_crate.py
    crate = ROOT / "examples/mechanisms/every-nth-crate"
    build = [PROGRAM, "mechanism", "build", "--quick", crate]
    done = subprocess.run(build, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    chain(tmp_path, more='[[mechanism]]\nkind = "every-nth-crate"\nports = ["sw1->sw2"]\ndrop_every = 10\n')
    switch = Running(one_box, tmp_path, "box", "switch", one_box.file, env=variables)
    switch.wait_for("h2 is behind port2")
    # One request in ten is dropped; some frames can belong to address resolution.
    assert 175 <= answered(one_box, patience_s=1) <= 185
    assert switch.end() == 0


def offloads_switched_off(boxes, interface):
    code = f"from hitless.live import NetworkInterface as I; print(I({interface!r}).switch_off_receive_offloads()[0])"
    return eval(boxes.run("box", PROGRAM.with_name("python"), "-c", code).stdout)  # noqa: S307 - of our own words


def test_a_switch_gives_offloads_back(one_box, tmp_path):
    switch = Running(one_box, tmp_path, "box", "switch", one_box.file)
    switch.wait_for("h2 is behind port2")
    assert offloads_switched_off(one_box, "port1") == [], "they are off"
    assert switch.end(signal.SIGINT) == 0
    assert "rx-checksum" in offloads_switched_off(one_box, "port1"), "they were on again"


def remade(boxes):
    boxes.cable("box", "port1", "h1", "eth0")
    boxes.address("h1", "eth0", "10.9.0.1")


def deleted(boxes):
    boxes.run("box", "ip", "link", "delete", "port1")
    return remade


def renamed(boxes):
    def name_back(boxes):
        boxes.run("box", "ip", "link", "set", "elsewhere", "down")
        boxes.run("box", "ip", "link", "set", "elsewhere", "name", "port1", "up")

    boxes.run("box", "ip", "link", "set", "port1", "down")
    boxes.run("box", "ip", "link", "set", "port1", "name", "elsewhere", "up")
    return name_back


@pytest.mark.parametrize("go", [deleted, renamed])
def test_an_interface_that_is_deleted_or_renamed_and_returns_is_used_again(boxes, tmp_path, go):
    """The process cannot open packet sockets any more."""
    if shutil.which("curl") is None:
        pytest.skip("curl is missing (apt-get install curl)")
    boxes.one_box()
    chain(tmp_path)
    boxes.start("h2", "python3", "-c", ECHO, "serve")
    switch = Running(boxes, tmp_path, "box", "switch", switch_file(tmp_path, metrics_port=9471))
    switch.wait_for("h2 is behind port2")
    assert answered(boxes, 20) == 20
    assert 'hitless_live_port_returns_total{interface="port1",node="h1"} 0.0' in metrics(boxes)
    come_back = go(boxes)
    switch.wait_for("port1, the interface of h1, is gone: port1: interface port1 is gone: it was removed, renamed")
    assert re.search(r'port_usable\{interface="port1".*\} 0.0', metrics(boxes))
    come_back(boxes)
    switch.wait_for("port1, the interface of h1, is back and used again")
    assert answered(boxes, 20) == 20
    assert 'hitless_live_port_returns_total{interface="port1",node="h1"} 1.0' in metrics(boxes)
    assert re.search(r'port_usable\{interface="port1".*\} 1.0', metrics(boxes))
    assert offloads_switched_off(boxes, "port1") == [], "they are off as at the start"
    assert switch.end() == 0, switch.log.read_text()
    assert "was gone, and came back, 1 times" in switch.log.read_text()


def test_an_interface_that_goes_ends_nothing_else(one_box, tmp_path):
    switch = Running(one_box, tmp_path, "box", "switch", one_box.file)
    switch.wait_for("h2 is behind port2")
    one_box.run("box", "ip", "link", "delete", "port1")
    time.sleep(1)
    assert switch.process.poll() is None or switch.process.returncode in {0, 1}
    if switch.process.poll() is None:
        assert switch.end() in {0, 1}
    assert "Traceback" not in switch.log.read_text()


def test_a_port_that_only_a_new_process_can_use_ends_this_one(one_box, tmp_path):
    """AF_XDP sockets cannot be bound again; systemd starts a process that ended with a failure anew."""
    one_box.file.write_text(one_box.file.read_text().replace("[switch]", '[switch]\nmode = "xdp-generic"'))
    switch = Running(one_box, tmp_path, "box", "switch", one_box.file)
    switch.wait_for("h2 is behind port2: AF_XDP")
    one_box.run("box", "ip", "link", "delete", "port1")
    assert switch.process.wait(timeout=60) == 1
    assert "error: port1 is lost for this process" in switch.log.read_text()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("node = ", "nodes = "), "did you mean node?"),
        (('"h2"', '"h9"'), "the scenario has no such node"),
        (('"port2"', '"port1"'), "[[interface]] has name = 'port1' 2 times"),
        (("chain.toml", "none.toml"), "cannot be read"),
        (('scenario = "chain.toml"', ""), "switch.scenario: is missing"),
    ],
)
def test_a_wrong_configuration_is_told(tmp_path, change, told):
    chain(tmp_path, more=GUARDED)
    file = switch_file(tmp_path)
    text = file.read_text()
    assert '"slack_us": 1000.0' in hitless("switch", file, "--check").stdout
    file.write_text(text.replace(*change))
    done = hitless("switch", file, "--check", code=2)
    assert told in done.stderr


def test_an_interface_that_is_not_there_is_told(permitted, tmp_path):
    chain(tmp_path, more=GUARDED)
    done = hitless("switch", switch_file(tmp_path, port="hl-none"), code=1)
    assert 'there is no interface "hl-none1"' in done.stderr


def test_the_example_is_one(tmp_path):
    (tmp_path / "fabric.toml").write_text(hitless("scenario", "example", "lossy-link").stdout)
    (tmp_path / "switch.toml").write_text(hitless("switch", "--example").stdout)
    assert "valid, and so is" in hitless("switch", tmp_path / "switch.toml", "--check").stderr


def test_two_capabilities_are_enough(one_box, tmp_path):
    capabilities = "-all,+net_raw,+net_admin"
    only = ["setpriv", "--bounding-set", capabilities, "--inh-caps", capabilities]
    switch = Running(one_box, tmp_path, "box", "switch", one_box.file, first=only)
    switch.wait_for("h2 is behind port2")
    assert answered(one_box, 50, patience_s=0.2) > 20


@pytest.fixture
def two_boxes(boxes):
    """Make h1 - left, right - h2; the link between the boxes is added later."""
    boxes.two_boxes()
    boxes.start("h2", "python3", "-c", ECHO, "serve")
    return boxes


def test_a_lossy_link_between_two_boxes_becomes_clean(two_boxes, tmp_path):
    lossy_wire(two_boxes, tmp_path, 0.05)
    bare = link_ends(two_boxes, tmp_path, "--off")
    assert answered(two_boxes, 300, patience_s=0.2) < 300
    assert [end.end() for end in bare] == [0, 0]
    assert not any("recovered" in end.log.read_text() for end in bare), "nothing was protected"
    # A busy machine wakes a process 60 ms late: repairs must still be in time, and the kernel must not take over.
    ends = link_ends(two_boxes, tmp_path, "--answer", "200 ms", "--no-fail-open")
    small, full = answered(two_boxes, 300), answered(two_boxes, 100, size=1472)
    assert [end.end() for end in ends] == [0, 0]
    assert (small, full) == (300, 100), [end.log.read_text() for end in ends]
    for end in ends:
        told = re.search(r"the link lost (\d+): (\d+) recovered, 0 lost for good \(0 timeouts\)", end.log.read_text())
        assert told, end.log.read_text()
        assert int(told[1]) == int(told[2]) > 0
        assert "out, 0 packets lost" in end.log.read_text(), "greetings are no packets"


def test_a_link_without_room_is_refused_with_the_sum_and_raised_on_request(two_boxes, tmp_path):
    two_boxes.cable("left", "outside", "right", "outside", mtu=1500)
    words = [PROGRAM, "link", "--inside", "inside", "--outside", "outside", "--rate", "100 Mbps"]
    done = two_boxes.run("left", *words, check=False)
    assert done.returncode == 2, done
    assert "1500 + 26" in done.stderr
    assert "ip link set outside mtu 1526" in done.stderr
    assert "ip link set inside mtu 1474" in done.stderr
    ends = link_ends(two_boxes, tmp_path, "--set-mtu")
    assert answered(two_boxes, 20, size=1472) == 20
    assert [end.end() for end in ends] == [0, 0]
    shown = json.loads(two_boxes.run("left", "ip", "-json", "link", "show", "outside").stdout)
    assert shown[0]["mtu"] == 1500, "it is as it was"


def test_a_link_that_is_made_anew_is_used_again_and_has_room_again(two_boxes, tmp_path):
    two_boxes.cable("left", "outside", "right", "outside", mtu=1500)
    ends = link_ends(two_boxes, tmp_path, "--set-mtu")
    assert answered(two_boxes, 20, size=1472) == 20
    two_boxes.run("left", "ip", "link", "delete", "outside")
    for end in ends:
        end.wait_for("outside, the interface of there, is gone")
    two_boxes.cable("left", "outside", "right", "outside", mtu=1500)
    for end in ends:
        end.wait_for("outside, the interface of there, is back and used again")
    # A port follows its interface's MTU within a second.
    wait_until(lambda: answered(two_boxes, 20, size=1472, patience_s=1) == 20)
    assert [end.end() for end in ends] == [0, 0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--inside", "a", "--outside", "a", "--rate", "1 Gbps"], "are both a"),
        (["--inside", "a", "--outside", "b", "--rate", "fast"], "is not a rate"),
        (["--inside", "a", "--outside", "b", "--rate", "1 Gbps", "--delay", "1"], "is not a time"),
    ],
)
def test_a_link_typed_wrong_is_told(words, told):
    done = hitless("link", *words, code=2)
    assert told in done.stderr
