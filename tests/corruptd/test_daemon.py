"""The daemon's steps and their effect on the switch, without time, network or a real switch."""

import itertools
import os
import sys
from dataclasses import replace

import pytest

from hitless.corruptd.actors import ActionFailed, Applier, HookActor, Lasting, ReportActor, SwitchActor, Target
from hitless.corruptd.bus import LocalHub, SilentBus
from hitless.corruptd.daemon import Daemon, DaemonPlan, GuardPlan, WatchPlan
from hitless.corruptd.detection import OFF, Phase, Policy, Setting
from hitless.corruptd.messages import Acknowledgement, Request, encode
from hitless.corruptd.protocol import Pace, Upstream
from hitless.corruptd.sources import NoReading
from hitless.corruptd.state import SavedGuard, restore, snapshot
from hitless.corruptd.window import Reading

LINK = "sw2->sw6"
POLICY = Policy(window_frames=100_000, hold_s=2.0, clear_confidence=0.0)


class Port:
    """Counters of a link with losses set by the test."""

    def __init__(self):
        self.ok, self.bad, self.loss, self.is_broken = 0, 0, 0.0, False

    def read(self):
        if self.is_broken:
            raise NoReading("the driver does not answer")
        bad = round(50_000 * self.loss)
        self.ok, self.bad = self.ok + 50_000 - bad, self.bad + bad
        return Reading(self.ok, self.bad)


class Actor(Lasting):
    acts = True

    def __init__(self):
        self.state, self.actions, self.is_broken = {}, 0, False

    def apply(self, target, setting):
        if self.is_broken:
            raise ActionFailed("the switch is away")
        self.actions += 1
        self.state[target.link, target.end] = setting


class Box:
    """One box with both ends of a link, on a local bus."""

    def __init__(self):
        self.port, self.actor, self.hub, self.now_s = Port(), Actor(), LocalHub(), 0.0
        self.watch = WatchPlan(Upstream(LINK, "sw2", dev_port=7), self.port)
        self.receiver, self.sender = self.start("sw6", 1), self.start("sw2", 1)

    def start(self, switch_id, epoch):
        pace = Pace(retry_s=1.0, refresh_s=3.0, lifetime_s=20.0)
        guard = GuardPlan(link=LINK, downstream_switch_id="sw6", dev_port=7)
        links = {"watches": [self.watch]} if switch_id == "sw6" else {"guards": [guard]}
        plan = DaemonPlan(switch_id, policy=POLICY, pace=pace, **links)
        return Daemon(plan, self.hub.join(f"SWITCH-{switch_id}"), self.actor, epoch)

    def run(self, seconds, daemons=("receiver", "sender")):
        for _ in range(seconds):
            self.now_s += 1.0
            for name in (*daemons, *daemons):
                getattr(self, name).step(self.now_s)
        return self.actor.state.get((LINK, "sender"))


def corrupting_box():
    box = Box()
    box.run(3)
    box.port.loss = 1e-3
    assert box.run(3) == Setting(2, "blocking")
    return box


def test_both_ends_are_told_and_released():
    box = corrupting_box()
    assert box.actor.state[LINK, "receiver"] == Setting(2, "blocking")
    assert box.hub.notes == {"protected-sw2-7": "2"}
    box.port.loss = 0.0
    assert box.run(6) == OFF
    assert box.actor.state[LINK, "receiver"] == OFF
    assert box.hub.notes == {}


def test_the_key_that_shows_protection_comes_back_when_it_was_lost():
    """A restart of Redis loses everything; the key returns with the next acknowledged request."""
    box = corrupting_box()
    box.hub.notes.clear()
    box.run(4)
    assert box.hub.notes == {"protected-sw2-7": "2"}


def test_a_message_that_nobody_hears_is_counted_as_unsent():
    box = corrupting_box()
    sent = box.receiver.tally.sent
    box.sender.bus.close()
    box.run(20, ["receiver"])
    assert box.receiver.tally.sent == sent
    assert box.receiver.tally.unsent > 0
    assert not box.receiver.watches[LINK].requester.is_acknowledged


def test_the_switch_is_touched_once_for_each_change():
    box = corrupting_box()
    before = box.actor.actions
    box.run(30)
    assert box.actor.actions == before


def test_polls_come_once_an_interval_however_often_it_steps():
    box = Box()
    for tick in range(100):
        box.receiver.step(tick * 0.1)
    assert box.receiver.tally.polls == 10


def test_it_says_that_it_is_alive_after_each_reading_and_each_action():
    """Several hooks that hang one after another can exceed a watchdog's timeout."""
    events = []

    class SlowPort(Port):
        def read(self):
            events.append("read")
            return super().read()

    class SlowActor(Actor):
        def apply(self, target, setting):
            events.append("apply")
            super().apply(target, setting)

    hub, links = LocalHub(), [f"sw{number}->sw6" for number in range(3)]
    watches = [WatchPlan(Upstream(link, link[:3]), SlowPort()) for link in links]
    for watch in watches:
        watch.source.loss = 1e-3
    plan = DaemonPlan("sw6", watches=watches, policy=POLICY)
    daemon = Daemon(plan, hub.join("SWITCH-sw6"), SlowActor(), 1, alive=lambda: events.append("alive"))
    daemon.step(0.0)
    daemon.step(1.0)
    assert events.count("apply") == 3
    assert {after for before, after in itertools.pairwise(events) if before != "alive"} == {"alive"}


def test_counters_that_stop_change_nothing_and_are_seen():
    box = corrupting_box()
    box.port.is_broken = True
    assert box.run(50) == Setting(2, "blocking")
    watch = box.receiver.watches[LINK]
    assert watch.read_errors == 50
    assert watch.error == "the driver does not answer"
    box.port.is_broken = False
    box.port.loss = 0.0
    assert box.run(6) == OFF


def test_an_action_that_fails_is_tried_again_and_told_to_who_asked():
    box = Box()
    box.run(3)
    box.actor.is_broken = True
    box.port.loss = 1e-3
    box.run(4)
    requester = box.receiver.watches[LINK].requester
    assert (requester.is_acknowledged, requester.failure) == (False, "the switch is away")
    box.actor.is_broken = False
    assert box.run(2) == Setting(2, "blocking")
    assert requester.is_acknowledged


def test_what_the_other_end_could_not_do_is_told_once(caplog):
    caplog.set_level("INFO")
    box = Box()
    box.watch = replace(box.watch, arm=False)
    box.receiver = box.start("sw6", 2)
    box.actor.is_broken = True
    box.port.loss = 1e-3
    box.run(10)
    box.actor.is_broken = False
    box.run(3)
    told = [record.getMessage() for record in caplog.records if "the request" in record.getMessage()]
    assert told == [
        f"{LINK}: sw2 did not execute the request: 'the switch is away'",
        f"{LINK}: sw2 has executed the request",
    ]


def test_without_the_daemon_behind_the_link_protection_lasts_its_lifetime():
    box = corrupting_box()
    assert box.run(16, ["sender"]) == Setting(2, "blocking")
    assert box.run(10, ["sender"]) == OFF
    assert box.sender.guards[LINK].guard.expirations == 1
    assert box.run(5) == Setting(2, "blocking"), "it is asked again when they meet"


@pytest.mark.parametrize("keep", [False, True])
def test_after_the_lifetime_a_daemon_with_a_lower_epoch_is_served(keep):
    box = corrupting_box()
    box.sender.guards[LINK].guard.keep_when_expired = keep
    assert box.run(26, ["sender"]) == (Setting(2, "blocking") if keep else OFF)
    box.receiver.bus.close()
    box.receiver = box.start("sw6", 0)
    assert box.run(5) == Setting(2, "blocking")
    assert box.receiver.watches[LINK].requester.is_acknowledged


def test_a_daemon_without_its_state_does_not_end_protection():
    box = corrupting_box()
    box.receiver.bus.close()
    box.receiver = box.start("sw6", 2)
    box.receiver.watches[LINK].detector.policy = POLICY
    box.port.is_broken = True
    assert box.run(10) == Setting(2, "blocking")


@pytest.mark.parametrize("who", ["receiver", "sender"])
def test_a_restart_goes_on_where_it_ended(who):
    box = corrupting_box()
    switch_id = {"receiver": "sw6", "sender": "sw2"}[who]
    before = getattr(box, who)
    saved = snapshot(before, box.now_s)
    before.bus.close()
    after = box.start(switch_id, 2)
    restore(after, saved, box.now_s)
    setattr(box, who, after)
    box.actor.state.clear()
    assert box.run(4) == (Setting(2, "blocking") if who == "sender" else None), "the sender's switch is set again"
    box.port.loss = 0.0
    assert box.run(8) == OFF


def test_frames_received_while_the_daemon_was_away_count():
    box = corrupting_box()
    saved = snapshot(box.receiver, box.now_s)
    seen = box.receiver.watches[LINK].detector.window.frames
    after = box.start("sw6", 2)
    restore(after, saved, box.now_s)
    assert after.watches[LINK].detector.window.frames == seen
    box.port.read()
    after.step(box.now_s + 60.0)
    assert after.watches[LINK].detector.frames_seen == 100_000


def test_a_state_of_other_counters_keeps_the_decision_and_nothing_that_was_counted():
    """The link moved to another port: the difference of two ports' counters would be frames that never arrived."""
    box = corrupting_box()
    saved = snapshot(box.receiver, box.now_s)
    box.watch = replace(box.watch, counters="eth1 of 64 bits")
    after = box.start("sw6", 2)
    restore(after, saved, box.now_s)
    detector = after.watches[LINK].detector
    assert detector.decision.setting == Setting(2, "blocking")
    assert (detector.last, detector.window.frames, detector.clearing.frames) == (None, 0, 0)


def test_a_state_of_another_switch_is_left_aside():
    box = corrupting_box()
    saved = snapshot(box.receiver, box.now_s).model_copy(update={"switch_id": "sw9"})
    after = box.start("sw6", 2)
    restore(after, saved, box.now_s)
    assert after.watches[LINK].detector.decision.phase is Phase.UNKNOWN


def test_a_dry_run_makes_nobody_act():
    """Neither the daemon itself, nor the one at the other end."""
    box = Box()
    box.receiver.bus = SilentBus(box.receiver.bus)
    box.run(3)
    box.port.loss = 1e-3
    assert box.run(10) is None
    assert box.receiver.watches[LINK].detector.decision.setting == Setting(2, "blocking")


def test_a_daemon_that_reports_only_does_not_claim_to_have_acted():
    box = Box()
    actor, box.actor = box.actor, ReportActor()
    box.sender = box.start("sw2", 1)
    box.actor = actor
    box.port.loss = 1e-3
    assert box.run(5) is None
    requester = box.receiver.watches[LINK].requester
    assert (requester.is_acknowledged, requester.failure) == (False, "this daemon only reports")
    assert box.hub.notes == {}


def forged(**change):
    """A forged request that ends protection if the daemon accepts it."""
    fields = {
        "switch_id": "sw2", "link": LINK, "origin": "sw6", "epoch": 2**63 - 1, "sequence": 2**63 - 1, "dev_port": 7,
        "mcast_grp": 0, "action": 0, "copies": 0, "mode": "blocking", "loss_rate": 0.0, "lifetime_s": 604_800.0,
    }  # fmt: skip
    return Request(**(fields | change))


def test_one_forged_message_of_the_last_epoch_ends_no_protection(caplog):
    box = corrupting_box()
    box.receiver.bus.publish("SWITCH-sw2", encode(forged()), box.now_s)
    assert box.run(3) == Setting(2, "blocking")
    assert box.sender.tally.received["implausible"] == 1
    assert "more than a day ahead of our clock" in caplog.text
    assert snapshot(box.sender, box.now_s).guards[LINK].epoch == 1


def test_a_saved_request_of_the_last_epoch_is_forgotten_at_a_restart():
    """A version that accepted such a request has saved it: the next real one must be accepted at once."""
    box = corrupting_box()
    taken = SavedGuard(setting=OFF, epoch=2**63 - 1, sequence=1, remaining_s=604_800.0)
    saved = snapshot(box.sender, box.now_s).model_copy(update={"guards": {LINK: taken}})
    box.sender.bus.close()
    box.sender = box.start("sw2", 2)
    restore(box.sender, saved, box.now_s)
    assert box.run(4) == Setting(2, "blocking")
    assert box.receiver.watches[LINK].requester.is_acknowledged


def test_what_is_left_of_a_saved_lifetime_is_no_longer_than_a_lifetime():
    box = corrupting_box()
    taken = SavedGuard(setting=OFF, epoch=9, sequence=1, remaining_s=604_800.0)
    saved = snapshot(box.sender, box.now_s).model_copy(update={"guards": {LINK: taken}})
    box.sender.bus.close()
    box.sender = box.start("sw2", 2)
    restore(box.sender, saved, box.now_s)
    assert box.run(10) == OFF
    assert box.run(15) == Setting(2, "blocking")


@pytest.mark.parametrize(
    "payload",
    [b"no json", encode(forged()), encode(forged(link="sw2->sw9")), encode(forged(origin="sw9"))],
    ids=["invalid", "implausible", "unknown link", "foreign"],
)
def test_a_flood_of_refused_messages_does_not_flood_the_log(payload, caplog):
    box = Box()
    for _ in range(200):
        box.receiver.bus.publish("SWITCH-sw2", payload, 0.0)
    box.run(1)
    assert len(caplog.records) == 10
    box.run(70)
    box.receiver.bus.publish("SWITCH-sw2", payload, 0.0)
    box.run(1)
    assert len(caplog.records) == 11
    assert "(190 lines like it were left out)" in caplog.records[-1].getMessage()


def test_answers_that_contradict_each_other_do_not_flood_the_log(caplog):
    caplog.set_level("INFO")
    box = corrupting_box()
    asking = box.receiver.watches[LINK].requester
    for number in range(200):
        answer = Acknowledgement(
            switch_id="sw6", link=LINK, origin="sw6", epoch=1, sequence=asking._sequence, applied=bool(number % 2)
        )
        box.sender.bus.publish("SWITCH-sw6", encode(answer), 0.0)
    caplog.clear()
    box.run(1)
    assert 0 < len(caplog.records) <= 20


TARGET = Target(LINK, "sender", dev_port=132, mcast_grp=4)


def hook(script, timeout_s=10.0):
    return HookActor([sys.executable, "-c", script], timeout_s)


def test_a_hook_is_told_by_its_environment(tmp_path, monkeypatch):
    for name in [name for name in os.environ if "HITLESS" in name]:
        monkeypatch.delenv(name)
    file = tmp_path / "told"
    script = (
        f"import os; open({str(file)!r}, 'w').write(str({{k: v for k, v in os.environ.items() if 'HITLESS' in k}}))"
    )
    hook(script).apply(TARGET, Setting(2, "non-blocking"))
    assert eval(file.read_text()) == {  # noqa: S307 - written two lines above
        "HITLESS_ACTION": "protect",
        "HITLESS_LINK": LINK,
        "HITLESS_END": "sender",
        "HITLESS_COPIES": "2",
        "HITLESS_MODE": "non-blocking",
        "HITLESS_DEV_PORT": "132",
        "HITLESS_MCAST_GRP": "4",
    }


@pytest.mark.parametrize(
    ("actor", "reason"),
    [
        (hook("import sys; print('no such port', file=sys.stderr); sys.exit(3)"), "status 3: no such port"),
        (hook("import time; time.sleep(60)", 0.2), "was stopped after 0.2 s"),
        (HookActor(["/no/such/program"]), "cannot be run: No such file"),
    ],
)
def test_a_hook_that_fails_says_why(actor, reason):
    with pytest.raises(ActionFailed, match=reason):
        actor.apply(TARGET, Setting(1, "blocking"))


def test_a_switch_that_refuses_says_why():
    class Switch:
        def protect(self, link, end, copies, mode):
            raise ValueError("no LinkGuardian is configured on 'sw2->sw6'")

    with pytest.raises(ActionFailed, match="no LinkGuardian"):
        SwitchActor(Switch()).apply(TARGET, Setting(1, "blocking"))


def test_an_applier_waits_between_two_attempts():
    actor = Actor()
    actor.is_broken = True
    applier = Applier(TARGET, actor, retry_s=5.0)
    acted = [applier.tick(float(second), Setting(1, "blocking")) for second in range(11)]
    assert [second for second, did in enumerate(acted) if did] == [0, 5, 10]
    assert applier.tick(10.5, Setting(2, "blocking")), "something else is tried at once"
