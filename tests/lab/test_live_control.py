"""`hitless link` and `hitless switch`: status, protect and unprotect of a running one."""

import json
import re

import pytest

from boxes import Running, link_end, lossy_wire, switch_file
from labs import ROOT, chain, guardian, losing
from traffic import ECHO
from waiting import wait_until
from warm import hitless


def status(program, name):
    return json.loads(hitless(program, "status", "--name", name, "--json").stdout)


def names(program):
    """Return the running processes as the error for several names them: process -> name."""
    told = " ".join(hitless(program, "status", code=2).stderr.split())
    found = re.findall(r"--name (\S+) \(process (\d+), \S+ - \S+, namespace \S+\)", told)
    return {int(pid): name for name, pid in found}


def way(document, direction):
    [link] = [link for link in document["protected_links"] if link["direction"] == direction]
    return link


def answered(boxes, count, patience_s=0.2):
    return int(boxes.run("h1", "python3", "-c", ECHO, "ask", "10.9.0.2", 100, count, patience_s).stdout)


FETCH = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:9471/metrics', timeout=20).read().decode())"


def require_documented(exported):
    """Require that a switch exports the metrics of the page, with these types and values of protection."""
    page = (ROOT / "docs/reference/metrics.md").read_text()
    documented = set(re.findall(r"^\| `(hitless_live_\w+)` \| (\w+) \|", page, re.MULTILINE))
    documented -= {("hitless_live_peer_answers", "gauge")}  # only hitless link has a peer
    assert sorted(re.findall(r"^# TYPE (\w+) (\w+)", exported, re.MULTILINE)) == sorted(documented)
    for line in (
        'protection_active{end="sender",link="sw1->sw2"} 1.0',
        'protection_copies{end="sender",link="sw1->sw2"} 4.0',
        'protection_lost{end="receiver",link="sw1->sw2"} 0.0',
    ):
        assert f"hitless_live_{line}" in exported
    assert 'protection_lost{end="sender"' not in exported, "a sender does not know"


@pytest.fixture
def two_ends(boxes, tmp_path):
    """A dormant link between left and right that loses a twentieth of the frames both ways; names of its ends."""
    boxes.two_boxes()
    wire = lossy_wire(boxes, tmp_path, 0.05)
    patience = ("--answer", "100 ms")  # on a busy machine a repair can come after the usual 5 ms
    ends = {box: link_end(boxes, tmp_path, box, "--off", *patience) for box in ("left", "right")}
    for end in ends.values():
        end.wait_for("the other end answers")
    boxes.start("h2", "python3", "-c", ECHO, "serve")
    found = names("link")
    yield {box: found[end.process.pid] for box, end in ends.items()}
    assert [end.end() for end in ends.values()] == [0, 0]
    assert wire.end() == 0
    assert "no hitless link runs" in hitless("link", "status", code=2).stderr


def test_a_dormant_link_is_protected_end_by_end_and_each_end_tells_its_state_and_its_peers(boxes, two_ends):
    left, right = two_ends["left"], two_ends["right"]
    assert answered(boxes, 50) < 50
    before = status("link", left)
    assert before["program"] == "link"
    assert before["file"] is None
    assert (before["peer"]["answers"], before["peer"]["forwarded_by"]) == (True, "hitless")
    outgoing, incoming = way(before, "outgoing"), way(before, "incoming")
    assert (outgoing["link"], outgoing["interface"], outgoing["peer"]) == ("here->there", "outside", "there")
    assert (outgoing["state"], outgoing["lost_on_link"], incoming["state"]) == ("dormant", 0, "dormant")
    told = hitless("link", "protect", "--name", left, "--copies", "3", "--mode", "non-blocking").stderr
    assert "to the peer: active, non-blocking, 3 copies of each lost frame" in told
    answered(boxes, 50)
    there = way(status("link", right), "incoming")
    assert (there["state"], there["mode"]) == ("active", "non-blocking"), "it is told by the last frame"
    hitless("link", "protect", "--name", right, "--mode", "blocking")
    hitless("link", "protect", "--name", left, "--mode", "blocking")
    assert answered(boxes, 200, patience_s=2) == 200, "both directions are protected"
    documents = {name: status("link", name) for name in (left, right)}
    for document in documents.values():
        incoming = way(document, "incoming")
        assert (incoming["state"], incoming["mode"], incoming["copies"]) == ("active", "blocking", None)
        assert incoming["lost_on_link"] > 0
        assert (incoming["recovered"], incoming["lost_end_to_end"]) == (incoming["lost_on_link"], 0)
        assert way(document, "outgoing")["lost_end_to_end"] is None, "only the peer knows"
        assert way(document, "outgoing")["since"] >= document["started_at"]
    assert way(documents[left], "outgoing")["copies"] == 3, "the number stays if it is not given"
    shown = " ".join(hitless("link", "status", "--name", left).stdout.split())
    assert "the peer agrees since" in shown
    assert "to the peer active blocking" in shown
    assert "to the peer: dormant, blocking" in hitless("link", "unprotect", "--name", left).stderr
    answered(boxes, 20)
    wait_until(lambda: way(status("link", right), "incoming")["state"] == "dormant")


def test_a_switch_is_controlled_by_the_names_of_its_links(boxes, tmp_path):
    boxes.one_box()
    chain(tmp_path, more=losing(0.1, "sw1->sw2") + guardian())
    switch = Running(boxes, tmp_path, "box", "switch", switch_file(tmp_path, "fabric", metrics_port=9471))
    switch.wait_for("h2 is behind port2")
    boxes.start("h2", "python3", "-c", ECHO, "serve")
    assert answered(boxes, 50) < 50
    found = status("switch", "fabric")
    [link] = found["protected_links"]
    assert (link["link"], link["direction"], link["state"], link["peer"]) == ("sw1->sw2", "internal", "dormant", None)
    assert found["file"] == str(tmp_path / "fabric.toml")
    assert {port["interface"] for port in found["interfaces"]} == {"port1", "port2"}
    assert sum(found["drops"].values()) > 0
    assert "did you mean fabric?" in hitless("switch", "status", "--name", "fabrik", code=2).stderr
    told = hitless("switch", "protect", "sw1-sw9", code=2).stderr
    assert "sw1-sw9 has no LinkGuardian here" in told
    assert "unknown mode" not in hitless("switch", "protect", "sw1-sw2", "--mode", "fast", code=2).stderr
    hitless("switch", "protect", "sw1-sw2", "--copies", "4")
    assert answered(boxes, 200, patience_s=2) == 200
    [link] = status("switch", "fabric")["protected_links"]
    assert (link["state"], link["copies"], link["lost_end_to_end"]) == ("active", 4, 0)
    assert link["lost_on_link"] == link["recovered"] > 0
    require_documented(boxes.run("box", "python3", "-c", FETCH).stdout)
    hitless("switch", "unprotect", "sw1<->sw2")
    assert way(status("switch", "fabric"), "internal")["state"] == "dormant"
    assert switch.end() == 0
