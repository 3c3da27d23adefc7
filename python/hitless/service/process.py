"""Signals that end or reload a service, and what systemd is told of it."""

import logging
import os
import queue
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Protocol

log = logging.getLogger(__name__)

NOTIFY_S = 1.0
"""How long systemd may take to accept a word."""


class Wake:
    """What a service sleeps on. `set` may be called from a signal handler, even in the middle of `wait`.

    `threading.Event` may not: its lock is held for a moment in `wait`, and a handler runs in the same thread.
    """

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[None] = queue.SimpleQueue()

    def set(self) -> None:
        """Have `wait` return now, or at once when it is called next."""
        self._calls.put(None)

    def wait(self, timeout_s: float) -> None:
        """Sleep until `set` was called since the last `wait`, or for ``timeout_s``."""
        with suppress(queue.Empty):
            self._calls.get(timeout=timeout_s)
            while True:
                self._calls.get_nowait()


class Controlled(Protocol):
    """What signals act on. Both are called from a signal handler and return at once."""

    def stop(self) -> None:
        """End soon."""

    def reload(self) -> None:
        """Read the configuration again soon."""


@contextmanager
def signals(service: Controlled) -> Iterator[None]:
    """SIGTERM and SIGINT stop the service, SIGHUP reloads it."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        service.stop()

    def reload(_number: int, _frame: FrameType | None) -> None:
        service.reload()

    wanted = {signal.SIGTERM: stop, signal.SIGINT: stop, signal.SIGHUP: reload}
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def notify(what: str) -> None:
    """Tell systemd, if it listens (sd_notify)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as to:
        # Whoever listens there may not keep up, and must not keep us from our work.
        to.settimeout(NOTIFY_S)
        try:
            to.sendto(what.encode(), "\0" + address[1:] if address.startswith("@") else address)
        except OSError as failed:
            log.debug("systemd does not listen: %s", failed)
