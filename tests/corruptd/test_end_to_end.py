"""Two switches, a link that starts to corrupt, two daemons, a real Redis: a simulated switch replaces the live one.

The daemons, the messages and Redis are real; time, counters and LinkGuardian are simulated.
"""

import pytest

from hitless.analysis import poisson_interval
from hitless.corruptd.bus import LocalHub
from hitless.corruptd.detection import Phase
from hitless.corruptd.lab import Lab
from hitless.corruptd.messages import Acknowledgement, Request, decode, encode
from hitless_papers.linkguardian.corruptd import POLL_S, lab_plan, policy, scenario
from waiting import wait_until

LOSS = 5e-3
BEGINS_S, ENDS_S, DURATION_S = 10e-3, 60e-3, 115e-3
WINDOW_FRAMES = 10_000
FRAMES_A_POLL = 0.8 * 25e9 / 8 / 1_538 * POLL_S
CLEARED_S = ENDS_S + (policy(WINDOW_FRAMES).clear_frames / FRAMES_A_POLL + 4) * POLL_S
"""Time when enough good frames have arrived for the link to count as repaired."""
SETTLE_S = 4e-3


def plan(settle_s=0.0, loss=LOSS, seed=1, **more):
    made = scenario(loss, begins_s=BEGINS_S, ends_s=ENDS_S, duration_s=DURATION_S)
    return lab_plan(made, policy(WINDOW_FRAMES, **more), seed=seed, settle_s=settle_s)


def on_redis(server, **more):
    return Lab(plan(SETTLE_S, **more), {"sw2": server.bus("sw2"), "sw6": server.bus("sw6")})


def on_local_bus(**more):
    hub = LocalHub()
    return Lab(plan(**more), {"sw2": hub.join("SWITCH-sw2"), "sw6": hub.join("SWITCH-sw6")})


def polls_to_protection(lab, limit=20):
    began = lab.polls
    while lab.copies == 0 and lab.polls < began + limit:
        lab.step()
    return lab.polls - began


class Listener:
    """Records the messages to one switch."""

    def __init__(self, server, switch_id):
        self.subscription = server.listener(f"SWITCH-{switch_id}")

    def heard(self):
        messages = []
        for _ in range(5):  # the confirmation of the subscription is a None, followed by messages
            messages += iter(lambda: self.subscription.get_message(timeout=0.02), None)
        return [decode(message["data"]) for message in messages]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_corrupting_link_is_protected_within_two_polls_and_released_after_repair(redis_server, seed):
    lab = on_redis(redis_server, seed=seed)
    lab.run_to(BEGINS_S)
    assert lab.copies == 0
    assert polls_to_protection(lab) <= 2
    lab.run_to(lab.now_s + 2 * POLL_S)
    assert lab.copies == 3, "Equation 2 for 5e-3 and a target of 1e-8, once more than a few bad frames were seen"
    lab.run_to(ENDS_S)
    assert lab.copies == 3
    assert lab.counter("sw6", "packets_recovered") > 200, "the link goes on corrupting"
    assert lab.counter("sw2", "packets_protected") > 70_000
    assert lab.counter("sw6", "packets_lost") == 0, "below the target of 1e-8 as far as so many packets can tell"
    lab.run_to(CLEARED_S)
    assert lab.copies == 0
    assert lab.receiver.watches["sw2->sw6"].detector.decision.phase is Phase.CLEAR
    protected = lab.counter("sw2", "packets_protected")
    run = lab.session.finish()
    assert run.summary["ended_by"] == "duration"
    mechanisms = run.table("mechanisms")
    assert mechanisms.filter(mechanisms["counter"] == "packets_protected")["value"].sum() == protected


def test_effective_loss_falls_below_a_target_that_can_be_counted(redis_server):
    """At 100G and a target of 1e-4 there are enough packets for statistics, and a few are lost end to end."""
    made = scenario(LOSS, begins_s=BEGINS_S, ends_s=ENDS_S, duration_s=DURATION_S, rate_gbps=100)
    chosen = lab_plan(made, policy(40_000, target_loss_rate=1e-4), settle_s=SETTLE_S)
    lab = Lab(chosen, {"sw2": redis_server.bus("sw2"), "sw6": redis_server.bus("sw6")})
    lab.run_to(ENDS_S)
    assert lab.copies == 1
    lost, protected = lab.counter("sw6", "packets_lost"), lab.counter("sw2", "packets_protected")
    assert poisson_interval(lost, protected).high < 1e-4
    assert lost > 0, "a target that nothing could miss would prove nothing"
    assert lab.counter("sw6", "packets_recovered") > 1_000


def test_protection_survives_a_restart_of_redis_and_of_both_daemons(redis_server):
    lab = on_redis(redis_server)
    lab.run_to(20e-3)
    assert lab.copies == 3

    redis_server.stop()
    lab.run_to(24e-3)
    assert lab.copies == 3
    assert not lab.receiver.bus.is_connected
    redis_server.start()
    lab.run_to(32e-3)
    assert lab.receiver.bus.is_connected
    assert lab.sender.bus.is_connected
    assert lab.receiver.watches["sw2->sw6"].requester.is_acknowledged

    lab.restart_receiver(redis_server.bus("sw6"), lab.saved(lab.receiver))
    lab.run_to(38e-3)
    assert lab.receiver.watches["sw2->sw6"].requester.is_acknowledged, "a new epoch is heard"
    lab.restart_sender(redis_server.bus("sw2"), lab.saved(lab.sender))
    lab.run_to(44e-3)
    assert lab.copies == 3, "applied again: the switch may have started anew as well"
    lab.run_to(ENDS_S)
    assert lab.counter("sw6", "packets_lost") == 0
    lab.run_to(CLEARED_S)
    assert lab.copies == 0


def test_a_loss_that_begins_while_redis_is_away_is_answered_when_it_is_back(redis_server):
    lab = on_redis(redis_server)
    lab.run_to(BEGINS_S - POLL_S)
    redis_server.stop()
    lab.run_to(BEGINS_S + 5 * POLL_S)
    assert lab.receiver.watches["sw2->sw6"].detector.decision.phase is Phase.PROTECTED
    assert lab.copies == 0
    redis_server.start()
    assert polls_to_protection(lab) <= 3


def protected(redis_server):
    """A link with requested protection, and the last request."""
    listener = Listener(redis_server, "sw2")
    lab = on_redis(redis_server)
    lab.run_to(20e-3)
    request = [message for message in listener.heard() if isinstance(message, Request)][-1]
    return lab, request


def test_a_duplicate_changes_nothing_and_is_answered_again(redis_server):
    lab, request = protected(redis_server)
    answers = Listener(redis_server, "sw6")
    answers.heard()
    redis_server.client().publish("SWITCH-sw2", encode(request))
    before = lab.sender.tally.received["duplicate"]

    def is_counted():
        lab.sender.step(lab.now_s)
        return lab.sender.tally.received["duplicate"] == before + 1

    wait_until(is_counted)  # Redis forwards the message in another process
    answer = answers.heard()[-1]
    assert isinstance(answer, Acknowledgement)
    assert (answer.sequence, answer.applied) == (request.sequence, True)
    assert lab.copies == 3


def test_a_message_about_a_link_that_is_not_ours_is_refused_and_counted(redis_server):
    lab, request = protected(redis_server)
    foreign = [
        request.model_copy(update={"link": "sw9->sw6", "sequence": 10**6}),
        request.model_copy(update={"origin": "sw7", "sequence": 10**6}),
        request.model_copy(update={"switch_id": "sw3", "sequence": 10**6}),
    ]
    for message in foreign:
        off = message.model_copy(update={"copies": 0, "action": 0})
        redis_server.client().publish("SWITCH-sw2", encode(off))
    redis_server.client().publish("SWITCH-sw2", b'{"action": 0}')
    lab.run_to(25e-3)
    assert lab.sender.tally.received["foreign"] == 3
    assert lab.sender.tally.refused == 1
    assert lab.copies == 3


def test_it_works_over_tls(redis_server_with_tls):
    lab = on_redis(redis_server_with_tls)
    lab.run_to(BEGINS_S)
    assert polls_to_protection(lab) <= 2


def test_it_works_on_the_bus_of_one_process():
    lab = on_local_bus()
    lab.run_to(BEGINS_S)
    assert polls_to_protection(lab) <= 2
    lab.run_to(CLEARED_S)
    assert lab.copies == 0


def test_a_loss_beyond_what_can_be_masked_falls_back_and_comes_back():
    lab = on_local_bus(loss=0.05, fallback="non-blocking")
    lab.run_to(BEGINS_S)
    assert polls_to_protection(lab) <= 2
    lab.run_to(20e-3)
    assert lab.receiver.watches["sw2->sw6"].detector.decision.phase is Phase.FALLBACK
    applied = lab.sender.guards["sw2->sw6"].sender.applied
    assert applied.mode == "non-blocking"
    lab.run_to(CLEARED_S)
    assert lab.copies == 0
