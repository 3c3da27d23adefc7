import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitless.corruptd.detection import OFF, Decision, Detector, Phase, Policy, Setting, copies_for, is_above, is_below
from hitless.corruptd.window import Reading, Sample, Window, frames_between

ONE_WINDOW = {"clear_confidence": 0.0}
"""One clean window clears a link: for tests of everything else."""
POLICY = Policy(window_frames=1_000_000, hold_s=5.0, **ONE_WINDOW)


class Link:
    """Feeds a detector one poll at a time."""

    def __init__(self, policy=POLICY, seed=1):
        self.detector = Detector(policy)
        self.random = random.Random(seed)  # noqa: S311
        self.now_s, self.ok, self.bad = 0.0, 0, 0
        self.detector.observe(0.0, Reading(0, 0))

    def poll(self, frames, bad):
        self.now_s += 1.0
        self.ok += frames - bad
        self.bad += bad
        self.detector.observe(self.now_s, Reading(self.ok, self.bad))
        return self.detector.decision

    def polls(self, count, frames, bad):
        for _ in range(count):
            self.poll(frames, bad)
        return self.detector.decision


@pytest.mark.parametrize(("loss", "copies"), [(5e-8, 1), (5e-5, 1), (5e-4, 2), (1e-3, 2), (5e-3, 3), (0.015, 4)])
def test_copies_follow_equation_2_for_the_measured_rate(loss, copies):
    link = Link(Policy(window_frames=100_000_000))
    link.polls(2, 100_000_000, 0)
    decision = link.poll(100_000_000, round(100_000_000 * loss))
    assert (decision.phase, decision.setting) == (Phase.PROTECTED, Setting(copies, "blocking"))


def test_equation_2_is_the_simulators():
    assert copies_for(1e-4, 1e-8) == 1
    assert copies_for(1.0, 1e-8) > 10**6, "nothing arrives"


def test_nothing_is_asked_before_enough_was_seen():
    link = Link()
    assert link.polls(9, 100_000, 0).setting is None
    assert link.poll(100_000, 0) == link.detector.decision
    assert link.detector.decision.setting == OFF


def test_few_bad_frames_in_few_frames_do_nothing():
    link = Link()
    assert link.poll(100, 2).setting is None
    assert link.poll(100, 1).setting is not None, "three of 200 are no accident at 1e-8"


@pytest.mark.parametrize(("bad", "above"), [(0, False), (1, False), (3, False), (4, True), (100, True)])
def test_confidence_asks_for_four_bad_frames_in_a_window_of_the_papers_size(bad, above):
    """At exactly 1e-8, three or more occur in 8.0 % of windows, four or more in 1.9 %."""
    assert is_above(bad, 100_000_000, 1e-8, 0.95) is above


def test_confidence_0_is_the_papers_rule():
    assert is_above(1, 100_000_000, 1e-8, 0.0)
    assert not is_above(1, 100_000_001, 1e-8, 0.0)
    assert not is_above(0, 1, 1e-8, 0.0)


def test_a_clean_link_at_a_tenth_of_the_threshold_is_left_alone():
    link = Link(Policy(window_frames=100_000_000))
    draw = link.random
    decisions = {link.poll(10_000_000, draw.random() < 1e-2).phase for _ in range(2_000)}
    assert decisions == {Phase.UNKNOWN, Phase.CLEAR}


def test_more_copies_at_once_and_fewer_after_the_hold():
    link = Link()
    assert link.poll(100_000, 50).setting == Setting(2, "blocking")
    assert link.poll(100_000, 500).setting == Setting(3, "blocking")
    assert link.polls(3, 100_000, 1).setting == Setting(3, "blocking")
    assert link.polls(15, 100_000, 5).setting == Setting(1, "blocking")


def test_protection_ends_with_a_clean_window_and_not_before_the_hold():
    link = Link(Policy(window_frames=100_000, hold_s=20.0, **ONE_WINDOW))
    link.poll(100_000, 100)
    assert link.polls(19, 100_000, 0).phase is Phase.PROTECTED, "clean, and held"
    assert link.poll(100_000, 0).setting == OFF
    link = Link(Policy(window_frames=1_000_000, hold_s=1.0, **ONE_WINDOW))
    link.poll(100_000, 100)
    assert link.polls(9, 100_000, 0).phase is Phase.PROTECTED, "the window still holds bad frames"
    assert link.poll(100_000, 0).setting == OFF


@pytest.mark.parametrize(
    ("fallback", "setting"), [("non-blocking", Setting(6, "non-blocking")), ("off", OFF)]
)  # fmt: skip
def test_too_much_loss_falls_back_and_comes_back_well_below(fallback, setting):
    link = Link(Policy(window_frames=1_000_000, hold_s=5.0, fallback=fallback, **ONE_WINDOW))
    decision = link.poll(100_000, 5_000)
    assert (decision.phase, decision.setting) == (Phase.FALLBACK, setting)
    assert link.polls(30, 100_000, 1_500).phase is Phase.FALLBACK, "below the limit, not well below"
    assert link.polls(30, 100_000, 500).phase is Phase.PROTECTED


def test_a_dead_link_falls_back():
    link = Link()
    decision = link.poll(100_000, 100_000)
    assert decision.phase is Phase.FALLBACK
    assert decision.setting.copies == POLICY.copies_max


def test_a_restart_of_the_counters_keeps_the_decision_and_the_window():
    link = Link()
    before = link.poll(100_000, 100)
    link.detector.observe(link.now_s + 1.0, Reading(5, 0))
    assert link.detector.decision == before
    assert link.detector.restarts == 1
    assert link.detector.window.bad == 100
    link.ok, link.bad, link.now_s = 5, 0, link.now_s + 1.0
    link.poll(1_000, 1)
    assert link.detector.window.frames == 101_000


FRAMES_A_POLL = 8_130_000
"""Full frames in a second at 100 Gbps."""


@pytest.mark.parametrize("times_threshold", [2, 3, 5])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_link_that_corrupts_somewhat_above_the_threshold_does_not_flap(times_threshold, seed):
    """It runs for six hours: chance gives clean windows of the paper's size, but not of a size that proves anything."""
    mean = FRAMES_A_POLL * times_threshold * 1e-8
    drawn = np.random.default_rng(seed).poisson(mean, 6 * 3_600)
    link = Link(Policy())
    phases = [link.poll(FRAMES_A_POLL, bad).phase for bad in drawn.tolist()]
    changes = [after for before, after in itertools.pairwise(phases) if after is not before]
    assert changes == [Phase.PROTECTED], "once, and it stays"


def test_protection_ends_when_the_threshold_would_have_shown_itself():
    """At 1e-8, 691 million frames pass without a bad one once in a thousand times."""
    policy = Policy()
    assert policy.clear_frames == 690_775_528
    link = Link(policy)
    link.poll(100_000_000, 100)
    link.now_s += policy.hold_s
    assert link.polls(6, 100_000_000, 0).phase is Phase.PROTECTED
    assert link.poll(100_000_000, 0) == Decision(Phase.CLEAR, OFF)


def test_a_bad_frame_while_it_clears_begins_it_anew():
    link = Link(Policy(hold_s=0.0))
    link.poll(100_000_000, 100)
    link.polls(5, 100_000_000, 0)
    link.poll(100_000_000, 1)
    assert link.polls(6, 100_000_000, 0).phase is Phase.PROTECTED
    assert link.poll(100_000_000, 0).phase is Phase.CLEAR


@pytest.mark.parametrize(("bad", "frames", "below"), [(0, 299_573_227, False), (0, 299_573_228, True), (1, 3e8, False)])
def test_below_the_threshold_with_confidence_is_more_than_no_bad_frame(bad, frames, below):
    assert is_below(bad, int(frames), 1e-8, 0.95) is below


polls = st.lists(
    st.integers(0, 200_000).flatmap(lambda frames: st.tuples(st.just(frames), st.integers(0, frames))), max_size=60
)


@given(polls, st.floats(0.0, 30.0), st.sampled_from(["non-blocking", "off"]))
def test_protection_never_weakens_within_the_hold(taken, hold_s, fallback):
    link = Link(Policy(window_frames=300_000, hold_s=hold_s, fallback=fallback, **ONE_WINDOW))
    before, changed_at_s = link.detector.decision, 0.0
    for frames, bad in taken:
        after = link.poll(frames, bad)
        if after == before:
            continue
        fell_back = after.phase is Phase.FALLBACK and before.phase is not Phase.FALLBACK
        weaker = before.setting is not None and before.setting.is_on and after.setting.copies < before.setting.copies
        if weaker and not fell_back:
            assert link.now_s - changed_at_s >= hold_s
        before, changed_at_s = after, link.now_s


@given(polls)
def test_what_is_asked_can_always_be_done(taken):
    link = Link(Policy(window_frames=300_000, **ONE_WINDOW))
    for frames, bad in taken:
        setting = link.poll(frames, bad).setting
        assert setting is None or 0 <= setting.copies <= POLICY.copies_max


@given(polls)
def test_a_link_without_a_bad_frame_is_never_protected(taken):
    link = Link(Policy(window_frames=300_000, **ONE_WINDOW))
    for frames, _ in taken:
        setting = link.poll(frames, 0).setting
        assert setting in {None, OFF}


samples = st.lists(
    st.integers(0, 5_000).flatmap(lambda frames: st.builds(Sample, st.just(frames), st.integers(0, frames))),
    max_size=200,
)


@given(samples, st.integers(1, 20_000))
def test_the_window_is_the_newest_samples_that_hold_enough(taken, wanted):
    """Compare with the slow method, which does not merge samples: 1,024 of them make a window."""
    window = Window(wanted)
    for sample in taken:
        window.add(sample)
    assert window.frames == sum(sample.frames for sample in window.samples)
    assert window.bad == sum(sample.bad for sample in window.samples)
    total = sum(sample.frames for sample in taken)
    assert window.frames >= min(wanted, total)
    if window.samples:
        assert window.frames - window.samples[0].frames < wanted, "the oldest is needed"
    newest, bad = 0, 0
    edges = {(0, 0)}
    for sample in reversed(taken):
        newest, bad = newest + sample.frames, bad + sample.bad
        edges.add((newest, bad))
    assert (window.frames, window.bad) in edges, "it ends now and begins between two readings"


@given(st.lists(st.integers(1, 50), max_size=3_000), st.integers(1, 100_000))
def test_memory_is_bounded_however_idle_the_link_is(frames, wanted):
    window = Window(wanted)
    for count in frames * 3:
        window.add(Sample(count, 0))
        assert len(window.samples) <= 2 * Window.SAMPLES_MAX + 2


@given(samples, st.integers(1, 20_000), st.integers(1, 100))
def test_the_recent_rate_is_a_rate_and_sees_what_the_window_sees(taken, wanted, bad_frames):
    window = Window(wanted, taken)
    recent = window.recent_loss_rate(bad_frames)
    assert 0.0 <= recent <= 1.0
    assert (recent > 0.0) == (window.bad > 0)


def test_a_loss_that_has_just_begun_is_not_diluted():
    window = Window(1_000_000, [Sample(1_000_000, 0), Sample(10_000, 50)])
    assert window.loss_rate == pytest.approx(5e-5, rel=0.02)
    assert window.recent_loss_rate(30) == 5e-3


@pytest.mark.parametrize(
    ("before", "after", "bits", "expected"),
    [
        (Reading(100, 1), Reading(200, 3), 64, Sample(102, 2)),
        (Reading(100, 1), Reading(100, 1), 64, Sample(0, 0)),
        (Reading(100, 1), Reading(5, 0), 64, None),  # the driver was reloaded
        (Reading(100, 9), Reading(200, 3), 64, None),  # one of the two decreased
        (Reading(2**32 - 10, 1), Reading(5, 2), 32, Sample(16, 1)),  # wrapped
        (Reading(2**32 - 10, 1), Reading(5, 2), 64, None),
        (Reading(1_000, 7), Reading(0, 0), 32, None),
        (Reading(100, 1, basis="files"), Reading(200, 3, basis="netlink"), 64, None),  # different ones
    ],
)
def test_counters_come_round_or_begin_anew(before, after, bits, expected):
    assert frames_between(before, after, bits) == expected


def test_a_window_of_nothing_is_refused():
    with pytest.raises(ValueError, match="one frame"):
        Window(0)
