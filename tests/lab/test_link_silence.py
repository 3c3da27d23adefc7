"""`hitless link` without another end says so, in its log, status, metrics and check."""

import re
import time

from boxes import link_end, link_ends
from test_fail_open import killed
from test_link_check import checked
from test_link_path import status
from waiting import wait_until
from warm import PROGRAM

SILENT = "WARNING the other end is silent for more than 300 ms: the kernel forwards, unprotected -> "


def metrics(boxes):
    """Return the metrics of the end in left that an alert compares, by name and end."""
    code = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:9472/metrics').read().decode())"
    shown = boxes.run("left", PROGRAM.with_name("python"), "-c", code).stdout
    rows = re.findall(r'hitless_live_protection_(commanded|active)\{end="(sender)".*\} (\S+)', shown)
    answers = re.findall(r"^hitless_live_peer_answers (\S+)", shown, re.MULTILINE)
    return {name: float(value) for name, _, value in rows} | {"answers": float(answers[0])}


def states(boxes):
    return {link["direction"]: link["state"] for link in status(boxes)["protected_links"]}


def test_an_end_that_nobody_answers_is_loud_and_shows_no_protection(two_boxes, tmp_path):
    began_s = time.monotonic()
    end = link_end(two_boxes, tmp_path, "left", "--metrics-port", 9472)
    end.wait_for(SILENT + "likely causes: hitless link does not run there")
    assert time.monotonic() - began_s < 20
    assert metrics(two_boxes) == {"commanded": 1.0, "active": 0.0, "answers": 0.0}, "HitlessProtectionStuck fires"
    assert "active" not in states(two_boxes).values()
    assert "silent" in status(two_boxes)["peer"]["trouble"]
    wait_until(lambda: end.log.read_text().count(SILENT) == 2)
    assert end.end() == 0
    verdict, text, mend = checked(two_boxes)[1]["other end of outside"]
    assert verdict == "note"
    assert text.startswith("silent")
    assert "in a bridge or bond" in mend


def test_an_active_link_waits_once_its_other_end_is_gone(two_boxes, tmp_path):
    ends = link_ends(two_boxes, tmp_path, "--metrics-port", 9472)
    two_boxes.run("h1", "ping", "-c", 3, "-i", 0.2, "10.9.0.2", check=False)
    assert states(two_boxes) == {"outgoing": "active", "incoming": "active"}
    assert metrics(two_boxes) == {"commanded": 1.0, "active": 1.0, "answers": 1.0}
    killed(ends[1], two_boxes, tmp_path)
    ends[0].wait_for(SILENT)
    assert states(two_boxes) == {"outgoing": "waiting", "incoming": "waiting"}
    assert metrics(two_boxes) == {"commanded": 1.0, "active": 0.0, "answers": 0.0}
    two_boxes.run("right", "ip", "link", "set", "outside", "down")
    wait_until(lambda: "cause: outside has no carrier" in status(two_boxes)["peer"]["trouble"])
    assert ends[0].end() == 0
