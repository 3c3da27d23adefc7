"""Agreement of the two ends of a link to protect it.

Each end sends a greeting every 20 ms, with its session and the session that it hears. An end forwards frames itself
while the other end hears it and it hears the other; else the kernel's path forwards them. Frames of the link are always
read, so that no frame is lost because one end learns of the agreement first.
"""

import itertools
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from hitless.errors import HitlessError
from hitless.switch.greeting import ETHER_TYPE, FRAME_BYTES, NOBODY, Greeting, read

PERIOD_S = 0.02
PATIENCE_S = 0.3
"""Silence of the other end after which the kernel forwards. Chosen: 15 greetings in a row, so that losses on the link
(once in 300 days at 0.2) and a busy machine seldom look like it, and far below a second."""
TURNS_PER_LOOK = 4
"""Greetings between two looks at this end's forwarding: an end that hangs becomes silent. Chosen: three looks in the
lease of the kernel's path, so that a busy machine seldom ends it."""

_NICE = -15
"""As the forwarding thread: a late greeting ends the protection."""


@dataclass
class Agreement:
    """Knowledge about the other end."""

    mtu_bytes: int
    rate_bps: int
    session: bytes = field(default_factory=lambda: secrets.token_bytes(8))
    """Identity of this end's process."""
    is_leaving: bool = False
    peer: Greeting | None = None
    """Last greeting of the other end; None after a silence."""
    _heard_at_s: float = 0.0

    def greeting(self) -> Greeting:
        """Return the greeting to send now."""
        heard = self.peer.session if self.peer is not None else NOBODY
        return Greeting(self.session, heard, self.is_leaving, self.mtu_bytes, self.rate_bps)

    def hear(self, frame: bytes, now_s: float) -> None:
        """Take a frame from the link; ignore it if another end did not send it."""
        greeting = read(frame)
        if greeting is not None and greeting.session not in {self.session, NOBODY}:
            self.peer, self._heard_at_s = greeting, now_s

    def is_agreed(self, now_s: float) -> bool:
        """Do both ends hear each other and stay?"""
        if now_s - self._heard_at_s > PATIENCE_S:
            self.peer = None
        peer = self.peer
        return peer is not None and peer.heard == self.session and not peer.is_leaving and not self.is_leaving


class Peer:
    """Greets the other end in a thread, and reports changes of the agreement. Needs CAP_NET_RAW at the start.

    ``forwards`` raises `HitlessError` if this end does not forward any more.
    """

    def __init__(
        self,
        interface: str,
        agreement: Agreement,
        forwards: Callable[[], object],
        on_change: Callable[[Greeting | None], None],
        on_failure: Callable[[HitlessError], None],
    ) -> None:
        self._interface, self._forwards = interface, forwards
        self._on_change, self._on_failure = on_change, on_failure
        self._agreement = agreement
        self._stops = threading.Event()
        self._socket = open_socket(interface)
        self._thread = threading.Thread(target=self._run, name="peer", daemon=True)
        self.is_agreed = False

    def start(self) -> None:
        """Begin to greet."""
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
                    self._forwards()
                self._turn()
            self._agreement.is_leaving = True
            for _ in range(3):  # one can be lost
                self._turn()
        except HitlessError as failed:
            self._on_failure(failed)

    def _turn(self) -> None:
        """Greet, and listen until the next greeting."""
        try:
            for frame in exchange(self._socket, self._agreement.greeting(), PERIOD_S):
                self._agreement.hear(frame, time.monotonic())
                self._compare()
        except OSError:
            # The interface is down or gone. A new one of the same name needs a new binding.
            time.sleep(PERIOD_S)
            with suppress(OSError):
                self._socket.bind((self._interface, ETHER_TYPE))
        self._compare()

    def _compare(self) -> None:
        is_agreed = self._agreement.is_agreed(time.monotonic())
        if is_agreed != self.is_agreed:
            self.is_agreed = is_agreed
            self._on_change(self._agreement.peer if is_agreed else None)


def open_socket(interface: str) -> socket.socket:
    """Open a socket for greetings. Raises `OSError`; needs CAP_NET_RAW."""
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)
    try:
        opened.bind((interface, ETHER_TYPE))
    except OSError:
        opened.close()
        raise
    return opened


def exchange(through: socket.socket, greeting: Greeting, seconds: float) -> Iterator[bytes]:
    """Send a greeting, and yield the frames that arrive in this time. Raises `OSError`."""
    until_s = time.monotonic() + seconds
    through.send(greeting.frame(through.getsockname()[4]))
    while (left_s := until_s - time.monotonic()) > 0:
        through.settimeout(left_s)
        try:
            yield through.recv(FRAME_BYTES)
        except TimeoutError:
            return
