import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitless.corruptd.window import Reading, Sample, Window, frames_between

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
