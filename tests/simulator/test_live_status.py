"""The status document of `hitless link` and `hitless switch`, and the links that a request names."""

import logging

import pytest

from hitless.errors import BadInput, HitlessError
from hitless.live import Status
from hitless.service import running
from hitless.switch import status as status_module
from hitless.switch.control import Handler, controlled
from hitless.switch.status import StatusReport

SENDER = {"end": "sender", "beyond": None, "is_commanded": True, "phase": "on", "keeps_order": True, "copies": 2}
COUNTS = {"packets": 10, "lost_on_link": 2, "recovered": 1, "lost": None}
RECEIVER = {**SENDER, "end": "receiver", "copies": None} | COUNTS | {"packets": 9, "lost": 1}


def values(*ends, received=0):
    port = {"node": "there", "interface": "eth2", "mode": "AF_PACKET", "has_carrier": True}
    port |= {"large_buffers": "whole", "frames_received": received, "frames_sent": 0, "departures": {"misses": 1}}
    return {
        "elapsed_s": 1.0,
        "is_overloaded": False,
        "timers": {"misses": 2},
        "frames_entered": 3,
        "frames_left": 2,
        "frames_inside": 1,
        "ports": [port],
        "links": [],
        "drops": {"queue full": 4, "time to live": 0},
        "warnings": [],
        "protections": list(ends),
    }


def of(link, end, **more):
    return {"link": link, **(SENDER | COUNTS if end == "sender" else RECEIVER), **more}


@pytest.fixture
def clock(monkeypatch):
    times = iter(f"2026-01-01T00:00:{second:02}+00:00" for second in range(60))
    monkeypatch.setattr(status_module, "_now", lambda: next(times))


def report():
    return StatusReport({"program": "link", "name": "eth2", "pid": 4, "file": None})


def test_a_direction_has_the_counts_of_the_end_that_knows(clock):
    ends = [of("a->b", "sender"), of("a->b", "receiver"), of("b->c", "sender", beyond="there"), of("c->b", "receiver")]
    document = report().document(Status(values(*ends)))
    inner, outgoing, incoming = document["protected_links"]
    assert (inner["direction"], inner["copies"], inner["packets"], inner["lost_end_to_end"]) == ("internal", 2, 9, 1)
    assert (outgoing["direction"], outgoing["peer"], outgoing["interface"]) == ("outgoing", "there", "eth2")
    assert (outgoing["packets"], outgoing["lost_end_to_end"]) == (10, None)
    assert (incoming["direction"], incoming["copies"], incoming["lost_end_to_end"]) == ("incoming", None, 1)
    assert (document["drops"], document["deadline_misses"]) == ({"queue full": 4}, 3)


def test_a_state_holds_since_its_change_and_counts_do_not_matter(clock):
    made = report()

    def since(**more):
        [link] = made.document(Status(values(of("a->b", "sender", **more))))["protected_links"]
        return link["since"]

    first = since()
    assert since(packets=20, lost_on_link=9) == first
    changes = [{"phase": "off"}, {"phase": "off", "copies": 3}, {"phase": "on", "copies": 3}]
    seen = [since(**change) for change in changes]
    assert [first, *seen] == sorted({first, *seen}), "each change is later"
    assert since(**changes[-1]) == seen[-1]


def test_the_time_of_the_last_frame_is_told(clock):
    made = report()

    def last(received):
        return made.document(Status(values(received=received)))["interfaces"][0]["last_frame_at"]

    assert last(0) is None
    first = last(1)
    assert last(1) == first
    assert last(2) > first


def test_the_peer_is_told_with_the_time_of_its_last_change(clock):
    made = report()
    assert made.document(Status(values()))["peer"] is None, "hitless switch has none"

    def peer(*, answers):
        told = {"answers": answers, "forwarded_by": "hitless" if answers else "kernel"}
        return made.document(Status({**values(), "peer": told}))["peer"]

    silent, again, answering = peer(answers=False), peer(answers=False), peer(answers=True)
    assert silent == again
    assert (silent["forwarded_by"], answering["answers"]) == ("kernel", True)
    assert answering["since"] > silent["since"]


class Live:
    def __init__(self):
        self.commands = []

    def command(self, text):
        self.commands.append(text)


ENDS = [of("a->b", "sender"), of("a->b", "receiver"), of("b->a", "receiver"), of("a->b#1", "sender", keeps_order=False)]


def commands(request, ends=ENDS):
    live, status = Live(), Status(values(*ends))
    Handler(live, report(), lambda: status).handle(request)
    return live.commands


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (running.Status(), []),
        (running.Unprotect(link="a-b"), ["unprotect a->b"]),
        (running.Unprotect(link="a<->b"), ["unprotect a->b", "unprotect b->a"]),
        (running.Unprotect(end="sender"), ["unprotect a->b", "unprotect a->b#1"]),
        (running.Unprotect(), ["unprotect a->b", "unprotect b->a", "unprotect a->b#1"]),
        (running.Protect(link="a->b"), ["protect a->b 2 blocking"]),
        (running.Protect(link="a->b#1", copies=7), ["protect a->b#1 7 non-blocking"]),
        (running.Protect(link="b->a", mode="non-blocking"), ["protect b->a 1 non-blocking"]),
    ],
)
def test_a_request_is_about_the_named_links_and_ends(request_, expected):
    assert commands(request_) == expected


@pytest.mark.parametrize(
    ("request_", "ends", "told"),
    [
        (running.Unprotect(link="a->c"), ENDS, "a->c has no LinkGuardian here\n  hint: did you mean a->b?"),
        (running.Protect(link="b->a", end="sender"), ENDS, "no sender of b->a is here"),
        (running.Protect(), [], "no link has LinkGuardian here"),
    ],
)
def test_a_request_about_nothing_is_refused(request_, ends, told):
    with pytest.raises(BadInput) as refused:
        commands(request_, ends)
    assert told in str(refused.value)


def test_a_process_without_a_folder_for_its_socket_goes_on(tmp_path, monkeypatch, caplog):
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    (tmp_path / "file").touch()
    monkeypatch.setattr(running, "_OF_SYSTEM", tmp_path / "file/live")
    with caplog.at_level(logging.WARNING), controlled("link", "eth2", lambda _: {}):
        assert "no folder for a control socket: Not a directory" in caplog.text
        assert "without a control socket it only obeys signals" in caplog.text


def test_a_handler_passes_the_refusal_of_the_run_on():
    class Refusing(Live):
        def command(self, text):
            raise HitlessError("recirculation0 has no room")

    status = Status(values(*ENDS))
    with pytest.raises(HitlessError, match="has no room"):
        Handler(Refusing(), report(), lambda: status).handle(running.Protect(link="a->b"))
