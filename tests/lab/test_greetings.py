"""The agreement of the two ends of a link, without a link."""

import errno
import random

import pytest

from hitless.errors import HitlessError
from hitless.switch import nftables
from hitless.switch.agreement import FULL_PATIENCE_S, PATIENCE_S, PERIOD_S, Agreement, Greeting, read
from hitless.switch.kernel_path import KernelPath
from hitless.switch.trouble import Warnings

SOURCE = b"\x02\0\0\0\0\x01"


def ends():
    return Agreement(1526, 10**9, 1526), Agreement(1526, 10**9, 1526)


def greet(here, there, now_s, *, number=0, longest=9_000):
    """Send a greeting through a cable for frames up to a length."""
    length = here.length_bytes(number)
    if length <= longest:
        there.hear(here.greeting(now_s).frame(SOURCE, length), now_s)


def agrees(end, now_s):
    return end.state(now_s) == "agreed"


def test_both_agree_once_each_hears_that_it_is_heard():
    left, right = ends()
    greet(left, right, 0.0)
    assert not agrees(right, 0.0), "left does not hear it yet"
    greet(right, left, 0.0)
    assert agrees(left, 0.0)
    greet(left, right, 0.0)
    assert agrees(right, 0.0)


def agreed():
    left, right = ends()
    for _ in range(2):
        greet(left, right, 0.0)
        greet(right, left, 0.0)
    assert agrees(left, 0.0)
    assert agrees(right, 0.0)
    return left, right


def test_a_silence_ends_it():
    left, _ = agreed()
    assert agrees(left, PATIENCE_S)
    assert not agrees(left, PATIENCE_S + 0.001)


def test_an_end_that_leaves_ends_it_at_once():
    left, right = agreed()
    right.is_leaving = True
    assert not agrees(right, 0.0)
    greet(right, left, 0.0)
    assert not agrees(left, 0.0)


def test_a_restarted_end_is_another_one_even_without_a_silence():
    left, _ = agreed()
    successor = Agreement(1526, 10**9, 1526)
    greet(successor, left, 0.01)
    assert not agrees(left, 0.01), "it has not heard left"
    greet(left, successor, 0.02)
    greet(successor, left, 0.02)
    assert agrees(left, 0.02)


def test_losses_of_a_fifth_do_not_end_it():
    left, right = agreed()
    draw = random.Random(1)  # noqa: S311 - losses of a test
    for turn in range(20_000):
        now_s = turn * PERIOD_S
        for here, there in ((left, right), (right, left)):
            if draw.random() > 0.2:
                greet(here, there, now_s, number=turn)
        assert agrees(left, now_s), turn
        assert agrees(right, now_s), turn


@pytest.mark.parametrize("frame", [b"", bytes(60), b"\xff" * 60])
def test_other_frames_are_ignored(frame):
    left, _ = agreed()
    before = left.peer
    left.hear(frame, 1.0)
    assert left.peer is before


def test_an_end_does_not_hear_itself_nor_a_check():
    left, _ = ends()
    for session in (left.session, bytes(8)):
        left.hear(
            Greeting(
                session, left.session, is_leaving=False, mtu_bytes=1, rate_bps=1, frame_bytes=1, hears_bytes=0
            ).frame(SOURCE),
            0.0,
        )
        assert left.peer is None


def test_a_greeting_survives_its_frame():
    sizes = {"mtu_bytes": 9_000, "frame_bytes": 9_026, "hears_bytes": 1_500}
    greeting = Greeting(b"12345678", b"abcdefgh", is_leaving=True, rate_bps=400 * 10**9, **sizes)
    for length, frame_bytes in ((0, 60), (9_026, 9_040)):
        assert read(greeting.frame(SOURCE, length)) == greeting
        assert len(greeting.frame(SOURCE, length)) == frame_bytes


def test_short_greetings_alone_end_it_and_probes_find_the_length_that_passes():
    left, right = agreed()
    ends_at = {}
    for turn in range(200):
        now_s = turn * PERIOD_S
        for here, there in ((left, right), (right, left)):
            greet(here, there, now_s, number=turn, longest=1_500 if turn < 150 else 1_526)
            ends_at.setdefault(here.state(now_s), now_s)
        if turn == 149:
            assert left.state(now_s) == right.state(now_s) == "too long"
            assert left.passage(left.peer, now_s).there_bytes == 1_500, "so the hosts can use 1474"
    assert FULL_PATIENCE_S < ends_at["too long"] < FULL_PATIENCE_S + 2 * PERIOD_S
    assert agrees(left, now_s), "it recovers"
    assert agrees(right, now_s)


def test_a_warning_comes_at_once_after_an_agreement_else_after_a_second_and_then_more_rarely():
    warnings = Warnings()
    told = [at_s for at_s in range(10_000) if warnings.is_due("silent", float(at_s))]
    assert told == [1, 10, 60, 600, 4_200, 7_800]
    assert not warnings.is_due("agreed", 10_000.0)
    assert warnings.is_due("too long", 10_000.1)
    assert not warnings.is_due("too long", 11_000.0 - 999.5)


def test_a_gate_without_a_socket_is_an_error_for_people(monkeypatch):
    """Regression: closing the socket that could not be opened raised UnboundLocalError."""
    monkeypatch.setattr(KernelPath, "install", lambda _: None)
    monkeypatch.setattr(nftables, "Socket", lambda: (_ for _ in ()).throw(OSError(errno.EMFILE, "Too many open files")))
    with pytest.raises(HitlessError, match="the kernel's path between eth1 and eth2: Too many open files"):
        KernelPath("eth1", "eth2").close()
