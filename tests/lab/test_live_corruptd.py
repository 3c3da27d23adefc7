"""corruptd finds a corrupting link and protects it over the control socket of `hitless link`."""

import signal

from boxes import Running, link_end, lossy_wire
from test_live_control import names, status, way
from traffic import ECHO
from waiting import wait_until
from warm import hitless

FILE = """
[corruptd]
switch_id = "left"
poll_interval_s = 0.1
[detection]
window_frames = 1000
threshold = 1e-3
target_loss_rate = 1e-4
clear_below = 1e-5
fallback_above = 0.5
[messages]
retry_s = 0.2
[action]
kind = "live"
[metrics]
port = 0
[[watch]]
link = "left->right"
source = "live"
live = "switch-wire"
live_link = "sw1->sw2"
arm = false
upstream_switch_id = "left"
[[guard]]
link = "left->right"
downstream_switch_id = "left"
live = "{left}"
"""


def test_a_corrupting_link_is_found_protected_and_protected_again_after_its_end_was_killed(boxes, tmp_path):
    """The wire is a switch that counts what it corrupts, as the interface of a real link does."""
    boxes.two_boxes()
    wire = lossy_wire(boxes, tmp_path, 0.05)
    ends = {box: link_end(boxes, tmp_path, box, "--off") for box in ("right", "left")}
    left, right = (names("link")[ends[box].process.pid] for box in ("left", "right"))
    file = tmp_path / "corruptd.toml"
    file.write_text(FILE.format(left=left))
    assert "1 links watched, 1 guarded" in hitless("corruptd", "check", file).stderr
    daemon = Running(boxes, tmp_path, "h2", "corruptd", "run", file)
    daemon.wait_for("watching 1 links, guarding 1")
    boxes.start("h2", "python3", "-c", ECHO, "serve")
    asking = boxes.start("h1", "python3", "-c", ECHO, "ask", "10.9.0.2", 100, 5_000, 0.1)

    def outgoing():
        return way(status("link", left), "outgoing")

    wait_until(lambda: outgoing()["state"] == "active", process=asking, log=daemon.log)
    assert outgoing()["mode"] == "blocking"
    assert outgoing()["copies"] >= 2, "Equation 2 for a twentieth and a target of 1e-4"
    daemon.wait_for("left->right is protected")
    ends["left"].end(signal.SIGKILL)
    wait_until(lambda: status("link", right)["peer"]["forwarded_by"] == "kernel", process=ends["right"].process)
    assert "the peer does not agree since" in hitless("link", "status", "--name", right).stdout
    ends["left"] = link_end(boxes, tmp_path, "left", "--off")
    daemon.wait_for(f"{left} was restarted: the sender of left->right is set again")
    wait_until(lambda: outgoing()["state"] == "active", process=asking, log=daemon.log)
    assert daemon.end() == 0
    assert outgoing()["is_commanded"], "protection stays when the daemon ends"
    assert [end.end() for end in ends.values()] == [0, 0]
    assert wire.end() == 0
