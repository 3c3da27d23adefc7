"""Agreement of the two ends of a link to protect it.

Each end sends a greeting every 20 ms, with its session and the session that it hears. An end forwards frames itself
while the other end hears it and it hears the other; else the kernel's path forwards them. Frames of the link are always
read, so that no frame is lost because one end learns of the agreement first.
"""

import os
import secrets
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from hitless.errors import HitlessError

PERIOD_S = 0.02
PATIENCE_S = 0.3
"""Silence of the other end after which the kernel forwards. Chosen: 15 greetings in a row, so that losses on the link
(once in 300 days at 0.2) and a busy machine seldom look like it, and far below a second."""
ETHER_TYPE = 0x88B6
"""Second of the two types for local experiments (IEEE 802, clause 9.2.4)."""

_GREETING = struct.Struct(">6s6sHB?8s8s")
_VERSION = 1
_EVERYONE = b"\xff" * 6
_NOBODY = bytes(8)
_FRAME_BYTES = 60
_NICE = -15
"""As the forwarding thread: a late greeting ends the protection."""


@dataclass
class Agreement:
    """Knowledge about the other end."""

    session: bytes = field(default_factory=lambda: secrets.token_bytes(8))
    """Identity of this end's process."""
    is_leaving: bool = False
    peer: bytes = _NOBODY
    _heard_at_s: float = -1e9
    _hears_us: bool = False

    def greeting(self, source: bytes) -> bytes:
        """Return the frame to send now."""
        fields = (_EVERYONE, source, ETHER_TYPE, _VERSION, self.is_leaving, self.session, self.peer)
        return _GREETING.pack(*fields).ljust(_FRAME_BYTES, b"\0")

    def hear(self, frame: bytes, now_s: float) -> None:
        """Take a frame of the other end; ignore any other."""
        if len(frame) < _GREETING.size:
            return
        _, _, ether_type, version, is_leaving, session, heard = _GREETING.unpack_from(frame)
        if (ether_type, version) != (ETHER_TYPE, _VERSION) or session in {self.session, _NOBODY}:
            return
        self.peer, self._heard_at_s = session, now_s
        self._hears_us = heard == self.session and not is_leaving

    def is_agreed(self, now_s: float) -> bool:
        """Do both ends hear each other and stay?"""
        is_heard = now_s - self._heard_at_s <= PATIENCE_S
        if not is_heard:
            self.peer, self._hears_us = _NOBODY, False
        return is_heard and self._hears_us and not self.is_leaving


class Peer:
    """Greets the other end in a thread, and reports changes of the agreement. Needs CAP_NET_RAW at the start."""

    def __init__(
        self, interface: str, on_change: Callable[[bool], None], on_failure: Callable[[HitlessError], None]
    ) -> None:
        self._interface, self._on_change, self._on_failure = interface, on_change, on_failure
        self._agreement = Agreement()
        self._stops = threading.Event()
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)
        self._socket.bind((interface, ETHER_TYPE))
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
            while not self._stops.is_set():
                self._turn()
            self._agreement.is_leaving = True
            for _ in range(3):  # one can be lost
                self._turn()
        except HitlessError as failed:
            self._on_failure(failed)

    def _turn(self) -> None:
        """Greet, and listen until the next greeting."""
        began_s = time.monotonic()
        try:
            self._socket.send(self._agreement.greeting(self._socket.getsockname()[4]))
            while (left_s := began_s + PERIOD_S - time.monotonic()) > 0:
                self._socket.settimeout(left_s)
                self._agreement.hear(self._socket.recv(_FRAME_BYTES), time.monotonic())
                self._compare()
        except TimeoutError:
            pass
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
            self._on_change(is_agreed)
