"""Agreement of the two ends of a link to protect it: an end's knowledge about the other, and its state.

The ends agree while each hears the other, and frames of full length pass in both directions: a device between the
boxes with a smaller MTU lets short greetings pass, and drops long protected frames.
"""

import secrets
import struct
from dataclasses import dataclass, field
from typing import Literal

ETHER_TYPE = 0x88B6
"""Second of the two types for local experiments (IEEE 802, clause 9.2.4); frames of the link have the first."""
NOBODY = bytes(8)
"""Session of an end that only checks the link."""
FRAME_BYTES = 60
"""Minimum length of an Ethernet frame without check sequence."""
_ETHERNET_BYTES = 14

_LAYOUT = struct.Struct(">6s6sHB?8s8sIQII")
_VERSION = 2
_EVERYONE = b"\xff" * 6


@dataclass(frozen=True, slots=True)
class Greeting:
    """State of an end. Lengths are without Ethernet header, as MTUs are."""

    session: bytes
    """Identity of its process."""
    heard: bytes
    """Session of the end that it hears."""
    is_leaving: bool
    mtu_bytes: int
    """MTU of its interface to the link."""
    rate_bps: int
    """Its configured rate."""
    frame_bytes: int
    """Length of its longest protected frame."""
    hears_bytes: int
    """Length of the longest greeting that it heard lately; 0 for none."""

    def frame(self, source: bytes, length_bytes: int = 0) -> bytes:
        """Return the frame, padded to a length without Ethernet header."""
        head = (_EVERYONE, source, ETHER_TYPE, _VERSION, self.is_leaving, self.session, self.heard, self.mtu_bytes)
        packed = _LAYOUT.pack(*head, self.rate_bps, self.frame_bytes, self.hears_bytes)
        return packed.ljust(max(FRAME_BYTES, _ETHERNET_BYTES + length_bytes), b"\0")


def read(frame: bytes) -> Greeting | None:
    """Return the greeting in a frame; None if it is another frame."""
    if len(frame) < _LAYOUT.size:
        return None
    _, _, ether_type, version, *fields = _LAYOUT.unpack_from(frame)
    if (ether_type, version) != (ETHER_TYPE, _VERSION):
        return None
    is_leaving, session, heard, mtu_bytes, rate_bps, frame_bytes, hears_bytes = fields
    return Greeting(session, heard, is_leaving, mtu_bytes, rate_bps, frame_bytes, hears_bytes)


PERIOD_S = 0.02
"""Interval between greetings."""
PATIENCE_S = 0.3
"""Silence of the other end after which the kernel forwards. Chosen: 15 greetings in a row, so that losses on the link
(once in 300 days at 0.2) and a busy machine seldom look like it, and far below a second."""
_FULL_EVERY = 3
"""Of this number of greetings one has full length."""
FULL_PATIENCE_S = _FULL_EVERY * PATIENCE_S
"""Time without a greeting of full length after which the kernel forwards: 15 of them in a row."""
_PROBES = (9_000, 8_000, 4_000, 2_000, 1_600, 1_500, 1_450, 1_400, 1_280)
"""Usual MTUs, to find the longest frames that pass."""
PROBE_MIN_BYTES = min(_PROBES)

State = Literal["agreed", "silent", "leaving", "unheard", "too long"]
"""Both forward; or the reason why not. "too long": frames of full length do not pass."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lengths of frames that are sent, and that pass, in both directions."""

    sent_bytes: int
    """Longest protected frame of this end."""
    there_bytes: int
    """Longest greeting that arrived there."""
    others_bytes: int
    """Longest protected frame of the other end."""
    here_bytes: int
    """Longest greeting that arrived here."""

    @property
    def is_free(self) -> bool:
        """Do frames of full length pass both ways?"""
        return self.there_bytes >= self.sent_bytes and self.here_bytes >= self.others_bytes


@dataclass
class Agreement:
    """Knowledge about the other end."""

    mtu_bytes: int
    rate_bps: int
    frame_bytes: int
    """Length of this end's longest protected frame."""
    session: bytes = field(default_factory=lambda: secrets.token_bytes(8))
    """Identity of this end's process."""
    is_leaving: bool = False
    peer: Greeting | None = None
    """Last greeting of the other end; None after a silence."""
    _heard_at_s: float = 0.0
    _since_s: float = 0.0
    """Time of the first greeting after a silence."""
    _lengths: dict[int, float] = field(default_factory=dict)
    """Length of a greeting -> time of its last arrival."""

    def greeting(self, now_s: float) -> Greeting:
        heard = self.peer.session if self.peer is not None else NOBODY
        hears = self.hears_bytes(now_s)
        return Greeting(
            self.session, heard, self.is_leaving, self.mtu_bytes, self.rate_bps, self.frame_bytes, hears_bytes=hears
        )

    def length_bytes(self, number: int) -> int:
        """Return the length of this end's greeting with a number: full, as short as possible, or a probe."""
        turn, place = divmod(number, _FULL_EVERY)
        if place == 0:
            return self.frame_bytes
        peer = self.peer
        probes = [probe for probe in _PROBES if probe < self.frame_bytes]
        is_probing = place == 1 and probes and peer is not None and peer.hears_bytes < self.frame_bytes
        return probes[turn % len(probes)] if is_probing else 0

    def hear(self, frame: bytes, now_s: float) -> None:
        """Take a frame from the link; ignore it if another end did not send it."""
        greeting = read(frame)
        # A bridge can send frames of this end back. A check sends NOBODY as its session, and is heard.
        if greeting is None or greeting.session == self.session != NOBODY:
            return
        # A check at the other end shows as well which lengths pass.
        self._lengths[len(frame) - _ETHERNET_BYTES] = now_s
        if greeting.session != NOBODY:
            if now_s - self._heard_at_s > PATIENCE_S:
                self._since_s = now_s
            self.peer, self._heard_at_s = greeting, now_s

    def hears_bytes(self, now_s: float) -> int:
        """Return the length of the longest greeting of the last time; 0 for none."""
        fresh = {length: at_s for length, at_s in self._lengths.items() if now_s - at_s <= FULL_PATIENCE_S}
        self._lengths = fresh
        return max(fresh, default=0)

    def state(self, now_s: float) -> State:
        """Return whether both ends forward, or why not."""
        if now_s - self._heard_at_s > PATIENCE_S:
            self.peer = None
        peer = self.peer
        if peer is None:
            return "leaving" if self.is_leaving else "silent"
        if peer.is_leaving or self.is_leaving:
            return "leaving"
        if peer.heard != self.session:
            return "unheard"
        if self.passage(peer, now_s).is_free:
            return "agreed"
        # After a start or a silence, greetings of full length are only late.
        return "too long" if now_s - self._since_s > FULL_PATIENCE_S else "unheard"

    def passage(self, peer: Greeting, now_s: float) -> Passage:
        """Return the lengths that pass between this end and the other one."""
        return Passage(self.frame_bytes, peer.hears_bytes, peer.frame_bytes, self.hears_bytes(now_s))
