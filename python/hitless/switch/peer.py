"""The thread that greets the other end of a link, and hears its greetings.

Each end sends a greeting every 20 ms, with its session and the session that it hears. An end forwards frames itself
while both agree (`hitless.switch.agreement`); else the kernel's path forwards them. Frames of the link are always
read, so that no frame is lost because one end learns of the agreement first.
"""

import errno
import itertools
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from hitless.errors import HitlessError
from hitless.switch.agreement import ETHER_TYPE, PERIOD_S, Agreement, Greeting, State

TURNS_PER_LOOK = 4
"""Greetings between two looks at this end's forwarding: an end that hangs becomes silent. Chosen: three looks in the
lease of the kernel's path, so that a busy machine seldom ends it."""

_NICE = -15
"""As the forwarding thread: a late greeting ends the protection."""
_FRAME_BYTES_MAX = 1 << 16


class Peer:
    """Greets the other end in a thread, and reports the state of the agreement. Needs CAP_NET_RAW at the start.

    ``look`` raises `HitlessError` if this end does not forward any more; ``follow`` takes the state of each moment.
    """

    def __init__(
        self,
        interface: str,
        agreement: Agreement,
        look: Callable[[], None],
        follow: Callable[[State], None],
        on_failure: Callable[[HitlessError], None],
    ) -> None:
        self._interface, self._look = interface, look
        self._follow, self._on_failure = follow, on_failure
        self._agreement = agreement
        self._stops = threading.Event()
        self._socket = open_socket(interface)
        self._thread = threading.Thread(target=self._run, name="peer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Tell the other end that this one leaves, and wait until frames take the kernel's path."""
        self._stops.set()
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        try:
            for number in itertools.count():
                if self._stops.is_set():
                    break
                if number % TURNS_PER_LOOK == 0:
                    self._look()
                self._turn(self._agreement.length_bytes(number))
            self._agreement.is_leaving = True
            for _ in range(3):  # one can be lost
                self._turn(0)
        except HitlessError as failed:
            self._on_failure(failed)

    def _turn(self, length_bytes: int) -> None:
        """Greet, and listen until the next greeting."""
        try:
            greeting = self._agreement.greeting(time.monotonic())
            for frame in exchange(self._socket, greeting, PERIOD_S, length_bytes):
                self._agreement.hear(frame, time.monotonic())
                self._follow(self._agreement.state(time.monotonic()))
        except OSError:
            # The interface is down or gone. A new one of the same name needs a new binding.
            time.sleep(PERIOD_S)
            with suppress(OSError):
                self._socket.bind((self._interface, ETHER_TYPE))
        self._follow(self._agreement.state(time.monotonic()))


def open_socket(interface: str) -> socket.socket:
    """Open a socket for greetings. Raises `OSError`; needs CAP_NET_RAW."""
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)
    try:
        opened.bind((interface, ETHER_TYPE))
    except OSError:
        opened.close()
        raise
    return opened


def exchange(through: socket.socket, greeting: Greeting, seconds: float, length_bytes: int) -> Iterator[bytes]:
    """Send a greeting of a length, and yield the frames that arrive in this time. Raises `OSError`."""
    until_s = time.monotonic() + seconds
    _send(through, greeting, length_bytes)
    while (left_s := until_s - time.monotonic()) > 0:
        through.settimeout(left_s)
        try:
            yield through.recv(_FRAME_BYTES_MAX)
        except TimeoutError:
            return


def _send(through: socket.socket, greeting: Greeting, length_bytes: int) -> None:
    """Send a greeting of a length, or a short one if the interface's own MTU is smaller. It can be lost."""
    source = through.getsockname()[4]
    try:
        through.send(greeting.frame(source, length_bytes))
    except OSError as refused:
        if refused.errno == errno.EMSGSIZE:
            through.send(greeting.frame(source))
        elif refused.errno != errno.ENOBUFS:  # the other side of a veth drops a frame longer than its MTU
            raise
