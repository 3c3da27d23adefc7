"""Both ends of a link over a channel that loses, repeats, delays and reorders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitless.corruptd.detection import OFF, Setting
from hitless.corruptd.protocol import EPOCH_AHEAD_NS, Guard, Pace, Requester, Upstream

PACE = Pace(retry_s=1.0, refresh_s=5.0, lifetime_s=60.0)
LINK = Upstream("sw2->sw6", "sw2", dev_port=7)


def requester(epoch=1):
    return Requester(LINK, "sw6", epoch, PACE)


def guard(**more):
    return Guard("sw2->sw6", "sw2", "sw6", PACE.lifetime_s, **more)


def request(setting, epoch=1, now_s=0.0):
    asking = requester(epoch)
    asking.want(setting, 1e-3)
    return asking.poll(now_s)


def test_a_request_is_repeated_until_it_is_answered_and_then_refreshed():
    asking, answering = requester(), guard()
    asking.want(Setting(2, "blocking"), 1e-3)
    first = asking.poll(0.0)
    assert (first.action, first.copies, first.dev_port) == (2, 2, 7)
    assert asking.poll(0.9) is None
    second = asking.poll(1.0)
    assert answering.take(second, 1.1, 0) == "accepted"
    assert asking.take(answering.answer(applied=True), 1.2) == "accepted"
    assert asking.poll(6.1) is None
    assert asking.poll(6.2).sequence == 3


def test_a_refresh_that_nobody_answers_is_no_longer_acknowledged_and_is_repeated():
    asking, answering = requester(), guard()
    asking.want(Setting(2, "blocking"), 1e-3)
    answering.take(asking.poll(0.0), 0.0, 0)
    asking.take(answering.answer(applied=True), 0.0)
    assert asking.poll(5.0).sequence == 2, "the refresh"
    assert asking.poll(5.9) is None
    assert asking.is_acknowledged, "there is still time for the answer"
    assert asking.poll(6.0).sequence == 3
    assert not asking.is_acknowledged
    last = asking.poll(7.0)
    assert last.sequence == 4
    answering.take(last, 7.1, 0)
    asking.take(answering.answer(applied=True), 7.1)
    assert asking.is_acknowledged
    assert asking.poll(12.0) is None
    assert asking.poll(12.1).sequence == 5


def test_an_answer_that_comes_twice_acknowledges_nothing_anew():
    asking, answering = requester(), guard()
    asking.want(Setting(2, "blocking"), 1e-3)
    answering.take(asking.poll(0.0), 0.0, 0)
    answer = answering.answer(applied=True)
    assert asking.take(answer, 0.0) == "accepted"
    asking.poll(5.0)
    assert asking.take(answer, 5.1) == "duplicate"
    asking.poll(6.0)
    assert not asking.is_acknowledged


def test_nothing_is_asked_while_nothing_is_known():
    """A daemon that lost its state must not end the protection of a corrupting link."""
    asking = requester()
    assert asking.poll(100.0) is None


def test_a_change_is_sent_at_once_and_an_answer_to_what_was_asked_before_does_not_count():
    asking, answering = requester(), guard()
    asking.want(Setting(1, "blocking"), 1e-4)
    answering.take(asking.poll(0.0), 0.0, 0)
    late = answering.answer(applied=True)
    asking.want(Setting(2, "blocking"), 1e-3)
    assert asking.poll(0.1) is not None
    assert asking.take(late, 0.2) == "stale"
    assert not asking.is_acknowledged


def test_a_failure_is_kept_and_asked_again():
    asking, answering = requester(), guard()
    asking.want(Setting(1, "blocking"), 1e-4)
    answering.take(asking.poll(0.0), 0.0, 0)
    asking.take(answering.answer(applied=False, detail="no such port"), 0.1)
    assert (asking.is_acknowledged, asking.failure) == (False, "no such port")
    assert asking.poll(1.1) is not None


def test_what_is_older_than_the_latest_is_ignored():
    answering = guard()
    old, new = request(OFF, epoch=1), request(Setting(2, "blocking"), epoch=2)
    assert answering.take(new, 0.0, 0) == "accepted"
    assert answering.take(old, 1.0, 0) == "stale"
    assert answering.take(new, 2.0, 0) == "duplicate"
    assert answering.wanted == Setting(2, "blocking")


def test_a_duplicate_does_not_prolong_the_lifetime():
    answering = guard()
    message = request(Setting(2, "blocking"))
    answering.take(message, 0.0, 0)
    answering.take(message, 59.0, 0)
    assert answering.expire(60.0)
    assert answering.wanted == OFF


@pytest.mark.parametrize(("keep", "wanted"), [(False, OFF), (True, Setting(2, "blocking"))])
def test_a_partition_ends_protection_only_after_the_lifetime(keep, wanted):
    answering = guard(keep_when_expired=keep)
    answering.take(request(Setting(2, "blocking")), 0.0, 0)
    assert not answering.expire(59.9)
    assert answering.wanted == Setting(2, "blocking")
    assert answering.expire(60.0)
    assert answering.wanted == wanted
    assert not answering.expire(61.0), "once"


def test_after_the_lifetime_a_lower_epoch_is_heard_again():
    """A daemon that lost its file and has a clock that was set back must not be ignored for ever."""
    answering = guard()
    answering.take(request(Setting(2, "blocking"), epoch=9), 0.0, 0)
    assert answering.take(request(Setting(1, "blocking"), epoch=5), 59.0, 0) == "stale"
    assert answering.expire(60.0)
    assert answering.take(request(Setting(1, "blocking"), epoch=5), 61.0, 0) == "accepted"
    assert answering.wanted == Setting(1, "blocking")


@pytest.mark.parametrize("change", [{"link": "sw2->sw7"}, {"origin": "sw7"}, {"switch_id": "sw3"}])
def test_only_the_switch_behind_the_link_may_ask(change):
    answering = guard()
    assert answering.take(request(Setting(2, "blocking")).model_copy(update=change), 0.0, 0) == "foreign"
    assert answering.wanted is None


@pytest.mark.parametrize("sequence", [1, 2**63 - 1])
@pytest.mark.parametrize("ahead_ns", [EPOCH_AHEAD_NS + 1, 2**63 - 1])
def test_an_epoch_that_no_clock_can_have_given_is_refused(ahead_ns, sequence):
    answering, wall_ns = guard(), 1_800_000_000 * 10**9
    answering.take(request(Setting(2, "blocking"), epoch=wall_ns), 0.0, wall_ns)
    forged = request(OFF).model_copy(update={"epoch": min(wall_ns + ahead_ns, 2**63 - 1), "sequence": sequence})
    assert answering.take(forged, 1.0, wall_ns) == "implausible"
    assert answering.wanted == Setting(2, "blocking")
    assert answering.latest == (wall_ns, 1)
    assert answering.expires_at_s == 60.0


def test_a_day_between_two_clocks_is_plausible():
    answering, wall_ns = guard(), 1_800_000_000 * 10**9
    late = request(Setting(2, "blocking"), epoch=wall_ns + EPOCH_AHEAD_NS)
    assert answering.take(late, 0.0, wall_ns) == "accepted"


def test_no_request_holds_longer_than_the_guard_allows():
    """A message can request a week; a daemon cut off by a forged one is accepted again after our own lifetime."""
    answering = guard()
    forged = request(OFF, epoch=9).model_copy(update={"lifetime_s": 604_800.0})
    assert answering.take(forged, 0.0, 0) == "accepted"
    assert answering.take(request(Setting(2, "blocking"), epoch=5), 59.0, 0) == "stale"
    assert answering.expire(60.0)
    assert answering.take(request(Setting(2, "blocking"), epoch=5), 61.0, 0) == "accepted"


settings = st.sampled_from([None, OFF, Setting(1, "blocking"), Setting(2, "blocking"), Setting(3, "non-blocking")])
steps = st.lists(
    st.tuples(
        settings,
        st.sampled_from(["pass", "lose", "repeat", "delay"]),
        st.sampled_from(["", "", "", "restart asker", "restart answerer"]),
    ),
    max_size=40,
)


class Chaos:
    """Both ends, and a channel between them with configurable faults."""

    def __init__(self):
        self.asking, self.answering = requester(), guard()
        self.delayed, self.now_s, self.epoch = [], 0.0, 1

    def carry(self, message):
        if self.answering.take(message, self.now_s, 0) in {"accepted", "duplicate"}:
            self.asking.take(self.answering.answer(applied=True), self.now_s)

    def send(self, fate):
        message = self.asking.poll(self.now_s)
        if message is not None and fate == "delay":
            self.delayed.append(message)
        elif message is not None:
            for _ in range({"lose": 0, "pass": 1, "repeat": 2}[fate]):
                self.carry(message)

    def restart(self, who):
        if who == "restart asker":
            self.epoch += 1
            self.asking = requester(self.epoch)
        if who == "restart answerer":
            before, self.answering = self.answering, guard()
            self.answering.wanted, self.answering.latest = before.wanted, before.latest
            self.answering.expires_at_s = before.expires_at_s


@given(steps, st.randoms(use_true_random=False))
def test_whatever_the_channel_did_both_ends_agree_once_it_works(taken, random):
    chaos = Chaos()
    for wanted, fate, event in taken:
        chaos.now_s += 1.0
        chaos.asking.want(wanted, 1e-3)
        chaos.send(fate)
        random.shuffle(chaos.delayed)
        if chaos.delayed and fate == "pass":
            chaos.carry(chaos.delayed.pop())
        chaos.restart(event)
    chaos.asking.want(Setting(4, "blocking"), 1e-2)
    for _ in range(3):
        chaos.now_s += 5.0
        chaos.send("pass")
        for message in chaos.delayed:
            chaos.carry(message)
    assert chaos.answering.wanted == Setting(4, "blocking")
    assert chaos.asking.is_acknowledged
