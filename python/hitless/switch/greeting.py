"""The frame that the two ends of a link send each other, whether they forward or only check the link."""

import struct
from dataclasses import dataclass

ETHER_TYPE = 0x88B6
"""Second of the two types for local experiments (IEEE 802, clause 9.2.4); frames of the link have the first."""
NOBODY = bytes(8)
"""Session of an end that only checks the link."""
FRAME_BYTES = 60

_LAYOUT = struct.Struct(">6s6sHB?8s8sIQ")
_VERSION = 1
_EVERYONE = b"\xff" * 6


@dataclass(frozen=True, slots=True)
class Greeting:
    """State of an end."""

    session: bytes
    """Identity of its process."""
    heard: bytes
    """Session of the end that it hears."""
    is_leaving: bool
    mtu_bytes: int
    """MTU of its interface to the link."""
    rate_bps: int
    """Rate for which it was configured."""

    def frame(self, source: bytes) -> bytes:
        """Return the frame."""
        head = (_EVERYONE, source, ETHER_TYPE, _VERSION, self.is_leaving)
        return _LAYOUT.pack(*head, self.session, self.heard, self.mtu_bytes, self.rate_bps).ljust(FRAME_BYTES, b"\0")


def read(frame: bytes) -> Greeting | None:
    """Return the greeting in a frame; None if it is another frame."""
    if len(frame) < _LAYOUT.size:
        return None
    _, _, ether_type, version, is_leaving, session, heard, mtu_bytes, rate_bps = _LAYOUT.unpack_from(frame)
    if (ether_type, version) != (ETHER_TYPE, _VERSION):
        return None
    return Greeting(session, heard, is_leaving, mtu_bytes, rate_bps)
