"""The frame that the two ends of a link send each other, whether they forward or only check the link."""

import struct
from dataclasses import dataclass

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
    """Rate for which it was configured."""
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


def length_of(frame: bytes) -> int:
    """Return the length of a frame without Ethernet header."""
    return len(frame) - _ETHERNET_BYTES
