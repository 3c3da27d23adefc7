"""The agreement of the two ends of a link, without a link."""

import random

import pytest

from hitless.switch.greeting import Greeting, read
from hitless.switch.peer import PATIENCE_S, PERIOD_S, Agreement

SOURCE = b"\x02\0\0\0\0\x01"


def ends():
    return Agreement(1526, 10**9), Agreement(1526, 10**9)


def greet(here, there, now_s):
    there.hear(here.greeting().frame(SOURCE), now_s)


def test_both_agree_once_each_hears_that_it_is_heard():
    left, right = ends()
    greet(left, right, 0.0)
    assert not right.is_agreed(0.0), "left does not hear it yet"
    greet(right, left, 0.0)
    assert left.is_agreed(0.0)
    greet(left, right, 0.0)
    assert right.is_agreed(0.0)


def agreed():
    left, right = ends()
    for _ in range(2):
        greet(left, right, 0.0)
        greet(right, left, 0.0)
    assert left.is_agreed(0.0)
    assert right.is_agreed(0.0)
    return left, right


def test_a_silence_ends_it():
    left, _ = agreed()
    assert left.is_agreed(PATIENCE_S)
    assert not left.is_agreed(PATIENCE_S + 0.001)


def test_an_end_that_leaves_ends_it_at_once():
    left, right = agreed()
    right.is_leaving = True
    assert not right.is_agreed(0.0)
    greet(right, left, 0.0)
    assert not left.is_agreed(0.0)


def test_a_restarted_end_is_another_one_even_without_a_silence():
    left, _ = agreed()
    successor = Agreement(1526, 10**9)
    greet(successor, left, 0.01)
    assert not left.is_agreed(0.01), "it has not heard left"
    greet(left, successor, 0.02)
    greet(successor, left, 0.02)
    assert left.is_agreed(0.02)


def test_losses_of_a_fifth_do_not_end_it():
    left, right = agreed()
    draw = random.Random(1)  # noqa: S311 - losses of a test
    for turn in range(20_000):
        now_s = turn * PERIOD_S
        for here, there in ((left, right), (right, left)):
            if draw.random() > 0.2:
                greet(here, there, now_s)
        assert left.is_agreed(now_s), turn
        assert right.is_agreed(now_s), turn


@pytest.mark.parametrize("frame", [b"", bytes(60), b"\xff" * 60])
def test_other_frames_are_ignored(frame):
    left, _ = agreed()
    before = left.peer
    left.hear(frame, 1.0)
    assert left.peer is before


def test_an_end_does_not_hear_itself_nor_a_check():
    left, _ = ends()
    for session in (left.session, bytes(8)):
        left.hear(Greeting(session, left.session, is_leaving=False, mtu_bytes=1500, rate_bps=1).frame(SOURCE), 0.0)
        assert left.peer is None


def test_a_greeting_survives_its_frame():
    greeting = Greeting(b"12345678", b"abcdefgh", is_leaving=True, mtu_bytes=9_000, rate_bps=400 * 10**9)
    assert read(greeting.frame(SOURCE)) == greeting
    assert len(greeting.frame(SOURCE)) == 60
