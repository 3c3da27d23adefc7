"""Reads the pcapng files of runs."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hitless.errors import BadInput, reason

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_COMMENT, _NAME, _FLAGS, _IDENTITY = 1, 2, 2, 5
_IPV4, _TCP, _UDP = 0x0800, 6, 17


@dataclass(frozen=True, slots=True)
class Sighting:
    """A packet at one place of a capture."""

    place: str
    """Name of the interface."""
    at_ns: int
    length: int
    """Bytes of the frame without check sequence."""
    flags: int
    """1 inbound, 2 outbound."""
    identity: int | None
    """The flow in the upper 32 bits, and a hash of the transport header; None for packets of switches."""
    comment: str
    data: bytes
    """The frame's headers."""

    @property
    def flow(self) -> int | None:
        return None if self.identity is None else self.identity >> 32

    @property
    def summary(self) -> str:
        """Addresses, ports and sequence numbers, if the frame is not in a header of a mechanism."""
        data = self.data
        if len(data) < 42 or int.from_bytes(data[12:14], "big") != _IPV4:
            return "in headers of a mechanism"
        source, destination = (".".join(map(str, data[at : at + 4])) for at in (26, 30))
        ports = struct.unpack_from(">HH", data, 34)
        ends = f"{source}:{ports[0]} > {destination}:{ports[1]}"
        if data[23] == _TCP and len(data) >= 54:
            sequence, acknowledgement = struct.unpack_from(">II", data, 38)
            return f"TCP {ends}, sequence {sequence}, acknowledgement {acknowledgement}"
        return f"{'UDP' if data[23] == _UDP else 'IP'} {ends}"


def read_capture(path: Path) -> list[Sighting]:
    """Return the packets of a capture in the file's order. Raises `BadInput`."""
    try:
        return list(_packets(path.read_bytes()))
    except OSError as refused:
        raise BadInput(f"cannot read the capture: {reason(refused)}", where=str(path)) from refused
    except (struct.error, ValueError, KeyError, IndexError) as damaged:
        hint = "name a capture that hitless run wrote; other files open in Wireshark"
        raise BadInput("not a capture of a run, or damaged", where=str(path), hint=hint) from damaged


def _packets(content: bytes) -> Iterator[Sighting]:
    names: list[str] = []
    for place, (number, body) in enumerate(_blocks(content)):
        if (number == _SECTION) != (place == 0):
            raise ValueError
        if number == _INTERFACE:
            names.append(_options(body[8:])[_NAME].decode())
        elif number == _PACKET:
            interface, high, low, kept, length = struct.unpack_from("<IIIII", body)
            about = _options(body[20 + _padded(kept) :])
            identity = about.get(_IDENTITY)
            yield Sighting(
                place=names[interface],
                at_ns=high << 32 | low,
                length=length,
                flags=int.from_bytes(about.get(_FLAGS, b""), "little"),
                identity=None if identity is None else int.from_bytes(identity, "little"),
                comment=about.get(_COMMENT, b"").decode(),
                data=body[20 : 20 + kept],
            )


def _padded(length: int) -> int:
    return -(-length // 4) * 4


def _blocks(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(content):
        number, length = struct.unpack_from("<II", content, at)
        if length < 12 or at + length > len(content):
            raise ValueError
        yield number, content[at + 8 : at + length - 4]
        at += length


def _options(body: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at + 4 <= len(body):
        number, length = struct.unpack_from("<HH", body, at)
        if number == 0:
            break
        found[number] = body[at + 4 : at + 4 + length]
        at += 4 + _padded(length)
    return found
