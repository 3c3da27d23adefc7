"""Signals that end or reload a service, and notifications for systemd."""

import logging
import os
import queue
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType

log = logging.getLogger(__name__)

NOTIFY_S = 1.0
"""Timeout for sending a message to systemd."""


class Wake:
    """Wake-up event of a service. Signal handlers can call `set`, even in the middle of `wait`.

    `threading.Event` does not allow this: `wait` holds its lock for a moment, and a handler runs in the same thread.
    """

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[None] = queue.SimpleQueue()

    def set(self) -> None:
        """Make `wait` return now, or at once when it is called next."""
        self._calls.put(None)

    def wait(self, timeout_s: float) -> None:
        """Sleep until `set` was called since the last `wait`, or for ``timeout_s``."""
        with suppress(queue.Empty):
            self._calls.get(timeout=timeout_s)
            while True:
                self._calls.get_nowait()


class Controlled:
    """A service that others stop or reload: requests set flags that its loop checks."""

    def __init__(self) -> None:
        self.wake = Wake()
        self.is_stopping = False
        self._is_reloading = False

    def stop(self) -> None:
        """Stop soon. Safe to call from any thread, or a signal handler."""
        self.is_stopping = True
        self.wake.set()

    def reload(self) -> None:
        """Read the file again soon; an invalid file changes nothing. Safe in any thread, or a signal handler."""
        self._is_reloading = True
        self.wake.set()

    def take_reload(self) -> bool:
        """Was a reload requested? True once per request."""
        if not self._is_reloading:
            return False
        self._is_reloading = False
        return True


def signals(service: Controlled) -> AbstractContextManager[None]:
    """Let SIGTERM and SIGINT stop the service, and SIGHUP reload it, while the block runs."""
    return handling({signal.SIGTERM: service.stop, signal.SIGINT: service.stop, signal.SIGHUP: service.reload})


@contextmanager
def handling(calls: Mapping[int, Callable[[], None]]) -> Iterator[None]:
    """Handle signals with these functions while the block runs."""

    def handle(number: int, _frame: FrameType | None) -> None:
        calls[number]()

    before = {number: signal.signal(number, handle) for number in calls}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def log_to_stderr(*, verbose: bool) -> None:
    """Log events to stderr, with timestamps."""
    level = logging.DEBUG if verbose else logging.INFO
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(message)s", force=True)


def notify(what: str) -> None:
    """Notify systemd if it listens (sd_notify)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as to:
        # A slow listener must not delay the service.
        to.settimeout(NOTIFY_S)
        try:
            to.sendto(what.encode(), "\0" + address[1:] if address.startswith("@") else address)
        except OSError as failed:
            log.debug("systemd does not listen: %s", failed)
