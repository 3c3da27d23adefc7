"""A running `hitless link` or `hitless switch` as a source of counters and as an actor; the process is a fake one."""

import threading
from contextlib import contextmanager

import pytest

from hitless.corruptd.actors import Applier, Target
from hitless.corruptd.config import parse_config
from hitless.corruptd.detection import OFF, Setting
from hitless.corruptd.live import LiveActor, LiveSource
from hitless.corruptd.sources import NoReading
from hitless.corruptd.window import Reading, frames_between
from hitless.errors import BadInput, HitlessError
from hitless.service import control, running

TWO = Setting(2, "non-blocking")


class Process:
    """The requests to a process, and its status."""

    def __init__(self, program="switch", link="sw1->sw2", direction="internal"):
        self.requests = []
        self.refusal = None
        counters = {"link": link, "frames_arrived": 900, "frames_corrupted": 7}
        protected = {"link": link, "direction": direction, "lost_on_link": 3}
        about = {"program": program, "name": "fabric", "pid": 4, "started_at": "now"}
        self.status = {**about, "links": [counters], "protected_links": [protected]}

    def handle(self, request):
        if isinstance(request, running.Status):
            return self.status
        self.requests.append(request)
        if self.refusal:
            raise HitlessError(self.refusal)
        return self.status

    @contextmanager
    def up(self, program="switch", name="fabric"):
        with running.placed(program, name) as path:
            server, is_over = control.Server(path, running.Request), threading.Event()
            thread = threading.Thread(target=server.serve, args=(self.handle, lambda: not is_over.is_set()))
            thread.start()
            try:
                yield self
            finally:
                is_over.set()
                server.wake()
                thread.join()
                server.close()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(running, "_OF_SYSTEM", tmp_path / "hitless/live")
    monkeypatch.setattr(running, "_folders", lambda: [tmp_path / "hitless/live"])


def test_a_switch_tells_its_counters_and_a_real_link_its_gaps_in_addition():
    with Process().up():
        reading = LiveSource("", "sw1->sw2").read()
        assert (reading.frames_ok, reading.frames_bad) == (900, 7), "nothing is counted twice"
    with Process("link", "there->here", "incoming").up("link", "eth2"):
        assert LiveSource("link-eth2", "left->right").read().frames_bad == 10


def test_readings_before_and_after_a_restart_are_not_compared():
    process = Process()
    with process.up():
        before = LiveSource("", "sw1->sw2").read()
        process.status = {**process.status, "started_at": "later"}
        after = LiveSource("switch-fabric", "sw1->sw2").read()
    assert frames_between(before, Reading(10**6, 10, basis=before.basis)) is not None
    assert frames_between(before, after) is None


def test_why_there_is_no_reading_is_told():
    with pytest.raises(NoReading, match="no hitless link or switch runs on this machine"):
        LiveSource("", "sw1->sw2").read()
    with Process().up(), pytest.raises(NoReading, match="switch fabric has no link sw1->sw9, but sw1->sw2"):
        LiveSource("", "sw1->sw9").read()


@pytest.mark.parametrize(
    ("program", "target", "link"),
    [
        ("switch", Target("a->b", "sender"), "a->b"),
        ("switch", Target("a->b", "receiver", live="switch-fabric", live_link="sw1->sw2"), "sw1->sw2"),
        ("link", Target("a->b", "sender", live="link-fabric"), None),
    ],
)
def test_a_process_is_told_the_link_by_its_name_there(program, target, link):
    process = Process(program)
    with process.up(program):
        LiveActor().apply(target, TWO)
        LiveActor().apply(target, OFF)
    protect, unprotect = process.requests
    assert protect == running.Protect(link=link, end=target.end, copies=2, mode="non-blocking")
    assert unprotect == running.Unprotect(link=link, end=target.end)


def test_a_process_that_restarts_is_told_again_and_one_that_refuses_is_asked_again():
    process, actor = Process(), LiveActor()
    applier = Applier(Target("a->b", "sender", live="switch-fabric"), actor, retry_s=1.0)
    assert applier.tick(0.0, TWO)
    assert applier.complaint == "no hitless link or switch runs on this machine"
    with process.up():
        process.refusal = "the link has no room"
        assert applier.tick(1.0, TWO)
        assert applier.complaint == "the link has no room"
        process.refusal = None
        assert applier.tick(2.0, TWO)
        assert applier.is_applied
        assert not applier.tick(3.0, TWO), "it is done"
    assert applier.tick(4.0, TWO)
    assert not applier.is_applied
    with process.up():
        assert applier.tick(5.0, TWO)
        assert applier.is_applied
    assert len(process.requests) == 3


FILE = """\
[corruptd]
switch_id = "b"
[action]
kind = "live"
[[watch]]
link = "a->b"
source = "live"
live_link = "sw1->sw2"
upstream_switch_id = "b"
[[guard]]
link = "a->b"
live = "link-eth2"
downstream_switch_id = "b"
"""


def test_one_file_is_enough():
    config = parse_config(FILE, "file")
    assert config.make_actor() == LiveActor()
    assert config.warnings() == []
    nothing = "no hitless link or switch runs on this machine"
    assert config.unreachable() == [nothing, nothing], "one for each name"
    with Process().up():
        assert config.unreachable() == ["no hitless link or switch link-eth2 runs on this machine"]
    plan = config.plan()
    assert plan.watches[0].source == LiveSource("", "sw1->sw2")
    assert plan.watches[0].counters == "live  sw1->sw2"
    assert plan.guards[0].live == "link-eth2"
    dry = parse_config(FILE.replace('"b"\n', '"b"\ndry_run = true\n', 1), "file")
    assert not dry.make_actor().acts


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('source = "live"', 'source = "live"\nport = "eth0"'), 'port has no effect with source = "live"'),
        (('source = "live"', 'source = "live"\ncount_fec = true'), "count_fec has no effect"),
        (('kind = "live"', 'kind = "live"\ncommand = ["x"]'), "command goes with kind"),
        (("link-eth2", "link/eth2"), "live = 'link/eth2'"),
    ],
)
def test_fields_without_an_effect_are_refused(change, told):
    with pytest.raises(BadInput) as refused:
        parse_config(FILE.replace(*change), "file")
    assert told in str(refused.value)
