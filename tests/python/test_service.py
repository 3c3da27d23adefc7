"""Common parts of long-running processes."""

import contextlib
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

from hitless.errors import BadInput, HitlessError
from hitless.lab import control
from hitless.service import control as service_control
from hitless.service import metrics
from hitless.service.process import Wake

_INTERRUPTED = """
import signal
from hitless.service.process import Wake
wake = Wake()
signal.signal(signal.SIGALRM, lambda *_: wake.set())
signal.setitimer(signal.ITIMER_REAL, 5e-5, 5e-5)
for _ in range(3_000):
    wake.wait(1e-4)
signal.setitimer(signal.ITIMER_REAL, 0)
"""


def test_what_was_set_before_ends_the_wait_and_only_once():
    wake = Wake()
    wake.set()
    wake.set()
    began = time.monotonic()
    wake.wait(60.0)
    assert time.monotonic() - began < 30.0
    wake.wait(0.0)


def test_a_signal_in_the_middle_of_a_wait_does_not_lock_the_service_up():
    subprocess.run([sys.executable, "-c", _INTERRUPTED], check=True, timeout=300)


@contextlib.contextmanager
def served(path):
    """Run a control server that answers everything, in a thread."""
    server, ends = service_control.Server(path, control.AnyRequest), threading.Event()
    thread = threading.Thread(target=server.serve, args=(lambda _: {"heard": True}, lambda: not ends.is_set()))
    thread.start()
    try:
        yield
    finally:
        ends.set()
        server.wake()
        thread.join()
        server.close()


def trickle(connection, stopped, every_s=0.05):
    """Send a byte occasionally, until the receiver stops."""
    with contextlib.suppress(OSError):
        while not stopped.wait(every_s):
            connection.sendall(b"x")


@contextlib.contextmanager
def trickling(connection):
    stopped = threading.Event()
    thread = threading.Thread(target=trickle, args=(connection, stopped))
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def test_a_client_that_sends_a_byte_now_and_then_does_not_block_the_control_socket(tmp_path, monkeypatch):
    """Regression: each byte restarted the timeout, for 4,096 bytes."""
    monkeypatch.setattr(service_control, "PATIENCE_S", 0.5)
    monkeypatch.setattr(service_control, "ANSWER_S", 20.0)
    path = tmp_path / "control"
    with served(path), socket.socket(socket.AF_UNIX) as slow:
        slow.connect(str(path))
        with trickling(slow):
            assert control.ask(path, control.Status()) == {"heard": True}


def test_a_lab_whose_answer_trickles_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(service_control, "ANSWER_S", 0.5)
    path = tmp_path / "control"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def answer():
            connection, _ = listening.accept()
            with connection:
                trickle(connection, threading.Event())

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(HitlessError, match=r"the lab does not answer: (it took too long|timed out)"):
            control.ask(path, control.Status())
        thread.join()


class Nothing:
    def collect(self):
        return []


@contextlib.contextmanager
def metrics_at(address):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with metrics.serving(Nothing(), metrics.Metrics(port=port, address=address), "the test"):
        yield port


def fetched(port, address="127.0.0.1"):
    with urllib.request.urlopen(f"http://{address}:{port}/metrics", timeout=20) as answer:
        return answer.status


def test_connections_to_the_metrics_that_are_idle_or_slow_are_closed(monkeypatch):
    """Regression: each kept a thread and a descriptor for ever."""
    monkeypatch.setattr(metrics, "CONNECTION_S", 0.5)
    with metrics_at("127.0.0.1") as port, contextlib.ExitStack() as stack:
        idle, slow = (stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(2))
        with trickling(slow):
            for connection in (idle, slow):
                connection.settimeout(20)
                with contextlib.suppress(ConnectionResetError):
                    assert connection.recv(100) == b""
        assert fetched(port) == 200


def test_a_crowd_of_idle_connections_leaves_the_metrics_readable(monkeypatch):
    monkeypatch.setattr(metrics, "CONNECTION_S", 0.5)
    with metrics_at("127.0.0.1") as port, contextlib.ExitStack() as stack:
        for _ in range(2 * metrics.CONNECTIONS_MAX):
            stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        until = time.monotonic() + 20
        while True:
            try:
                assert fetched(port) == 200
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.1)
            else:
                return


@pytest.mark.parametrize("address", ["localhost", "::1"])
def test_metrics_are_served_at_names_and_at_addresses_of_both_kinds(address):
    try:
        socket.create_server((address, 0), family=socket.getaddrinfo(address, 0)[0][0]).close()
    except OSError:
        pytest.skip(f"this machine has no {address}")
    with metrics_at(address) as port:
        assert fetched(port, f"[{address}]" if ":" in address else address) == 200


@pytest.mark.parametrize(
    ("kind", "values", "told"),
    [
        (control.Fail, {"link": ""}, "link ''"),
        (control.Corrupt, {"link": "a->b", "rate": float("nan")}, "rate nan"),
        (control.Corrupt, {"link": "a->b", "rate": 1.5}, "rate 1.5"),
        (control.Protect, {"link": "a->b", "copies": 0}, "copies 0"),
    ],
)
def test_a_request_that_no_lab_could_mean_is_refused_before_one_is_asked(kind, values, told):
    with pytest.raises(BadInput) as refused:
        service_control.made(kind, values)
    assert told in str(refused.value)
    assert "rule: " in str(refused.value)
