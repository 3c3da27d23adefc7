"""The folders and sockets of running services, and their errors."""

import os
import stat
import tempfile
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from hitless.errors import BadInput
from hitless.service import control, running


@pytest.fixture
def folder(monkeypatch):
    """A folder that other users can look into."""
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        monkeypatch.setattr(running, "_OF_SYSTEM", Path(made) / "live")
        monkeypatch.setattr(running, "_folders", lambda: [Path(made) / "live"])
        if os.geteuid() != 0:
            monkeypatch.setenv("XDG_RUNTIME_DIR", made)
            monkeypatch.setattr(running, "_folders", lambda: [Path(made) / "hitless/live"])
        yield Path(made)


@contextmanager
def service(program, name):
    """Run a control server that answers with its name."""
    with running.placed(program, name) as path:
        server, is_over = control.Server(path, running.Request), threading.Event()
        ports = [{"interface": "eth1"}, {"interface": "eth2"}]
        answer = {"folder": path.parent.name, "name": name, "pid": 7, "interfaces": ports}
        thread = threading.Thread(target=server.serve, args=(lambda _: answer, lambda: not is_over.is_set()))
        thread.start()
        try:
            yield path
        finally:
            is_over.set()
            server.wake()
            thread.join()
            server.close()


def refused(*arguments):
    with pytest.raises(BadInput) as found:
        running.choose(*arguments)
    return str(found.value)


def test_one_is_chosen_and_of_several_the_named_one(folder):
    assert "no hitless link runs on this machine" in refused(None, "link")
    assert "no hitless link or switch runs" in refused(None)
    with ExitStack() as stack:
        stack.enter_context(service("link", "eth2"))
        assert running.choose(None).ask(running.Status())["folder"] == "link-eth2"
        stack.enter_context(service("switch", "fabric"))
        assert running.choose(None, "link").name == "eth2"
        stack.enter_context(service("link", "eth2"))
        told = refused(None, "link")
        assert "2 of hitless link run on this machine: --name link-eth2 (process 7, eth1 - eth2), --name" in told
        assert "2 of hitless link run" in refused("eth2", "link"), "the interface has this name in two namespaces"
        assert running.choose("eth2-2", "link").ask(running.Status())["folder"] == "link-eth2-2"
        assert running.choose("link-eth2").ask(running.Status())["folder"] == "link-eth2"
        assert running.choose("switch-fabric").name == "fabric"
        assert "did you mean eth2?" in refused("eth3", "link")
    assert running.running() == []
    assert list(folder.rglob("*")) == [folder / "live"] or os.geteuid() != 0, "nothing is left"


def test_a_killed_process_leaves_a_socket_that_is_not_listed_and_is_taken_over(folder):
    child = os.fork()
    if child == 0:
        place = running.placed("link", "eth2")
        control.Server(place.__enter__(), running.Request)
        os._exit(0)
    os.waitpid(child, 0)
    assert list(folder.rglob("control"))
    assert running.running() == []
    with service("link", "eth2") as path:
        assert path.parent.name == "link-eth2"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert len(running.running()) == 1


def test_a_restart_is_another_instance(folder):
    with service("link", "eth2"):
        first = running.choose(None)
        before = first.instance
        assert first.instance == before
    with pytest.raises(FileNotFoundError):
        first.instance  # noqa: B018 - it raises
    with service("link", "eth2"):
        assert first.instance != before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_socket_of_another_user_is_named_with_its_owner(folder):
    with service("link", "eth2"):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.setuid(65_534)
            try:
                running.choose(None, "link")
            except BadInput as told:
                os.write(writing, str(told).encode())
            os._exit(0)
        os.close(writing)
        told = os.read(reading, 10_000).decode()
        os.waitpid(child, 0)
    assert "error: link-eth2 belongs to root" in told
    assert "rule: only its user and root can control it" in told
    assert "sudo" in told


def test_the_folder_of_systemd_is_used_and_stays(folder, monkeypatch):
    given = folder / "live/link-uplink"
    given.mkdir(parents=True)
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(given))
    with service("link", "eth2") as path:
        assert path == given / "control"
    assert not path.exists()


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ('{"command": "stop"}', "an invalid request"),
        ('{"command": "protect", "copies": 0}', "an invalid request: protect.copies"),
        ('{"command": "protect", "mode": "fast"}', "an invalid request: protect.mode"),
        ('{"command": "status", "version": 2}', "an invalid request: status.version"),
        ("[1, 2", "a request that is not JSON"),
    ],
)
def test_a_request_that_is_not_one_is_refused(folder, request_, told):
    class Raw:
        def model_dump_json(self):
            return request_

    with service("link", "eth2") as path, pytest.raises(BadInput) as found:
        control.ask(path, Raw(), "it")
    assert told in str(found.value)
