"""Bugs of the published program, each with a test that it is absent here.

Two more are tested elsewhere: its window drops the newest samples (test_detection.py: the window is the newest samples
that hold enough), and it sends a request only once (test_protocol.py: a request is repeated until it is answered).
"""

import pytest

from hitless.corruptd.actors import Lasting
from hitless.corruptd.bus import LocalHub
from hitless.corruptd.daemon import Daemon, DaemonPlan, GuardPlan
from hitless.corruptd.detection import OFF, Detector, Phase, Policy
from hitless.corruptd.messages import Request, encode
from hitless.corruptd.window import Reading, Sample, Window


class NoActor(Lasting):
    acts = True

    def __init__(self):
        self.actions = []

    def apply(self, target, setting):
        self.actions.append((target.link, setting))


def test_a_request_about_an_unknown_link_is_refused():
    hub = LocalHub()
    actor = NoActor()
    guard = GuardPlan(link="sw2->sw6", downstream_switch_id="sw6")
    daemon = Daemon(DaemonPlan("sw2", guards=[guard]), hub.join("SWITCH-sw2"), actor, epoch=1)
    request = Request(
        switch_id="sw2", link="sw2->sw9", origin="sw9", epoch=1, sequence=1, dev_port=0, mcast_grp=0, action=1,
        copies=1, mode="blocking", loss_rate=1e-4, lifetime_s=60.0,
    )  # fmt: skip
    hub.join("SWITCH-sw9").publish("SWITCH-sw2", encode(request), 0.0)
    daemon.step(0.0)
    assert daemon.tally.received == {"foreign": 1}
    assert actor.actions == []


def test_protection_ends_after_repair():
    detector = Detector(Policy(window_frames=1_000_000, hold_s=10.0, clear_confidence=0.0))
    bad = 0
    for second in range(30):
        bad += 100 if second < 10 else 0
        detector.observe(float(second), Reading(second * 100_000 - bad, bad))
        if second == 5:
            assert detector.decision.phase is Phase.PROTECTED
    assert detector.decision.setting == OFF


def test_window_and_threshold_are_those_of_the_paper():
    assert Policy().window_frames == 100_000_000
    assert Policy().threshold == 1e-8


@pytest.mark.parametrize(("ok", "bad"), [(99, 1), (1, 99), (100, 0), (0, 100)])
def test_the_loss_rate_is_the_share_of_bad_frames(ok, bad):
    window = Window(1_000)
    window.add(Sample(ok + bad, bad))
    assert window.loss_rate == bad / 100
