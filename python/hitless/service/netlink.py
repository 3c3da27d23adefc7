"""Messages and attributes of netlink (linux/netlink.h), in the byte order of the machine.

Input is validated: any bytes give a result or `BadNetlink`.
"""

import os
import struct
from collections.abc import Iterator

REQUEST, ACK = 0x01, 0x04
ERROR = 2

_MESSAGE = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
_TYPE_MASK = 0x3FFF
_NESTED = 0x8000


class BadNetlink(Exception):
    """Bytes that are not a valid answer of the kernel, or a refusal; ``number`` is the kernel's error, or 0."""

    def __init__(self, what: str, number: int = 0) -> None:
        super().__init__(what)
        self.number = number


def attribute(kind: int, payload: bytes, *, nested: bool = False) -> bytes:
    """Encode one attribute, padded."""
    head = _ATTRIBUTE.pack(_ATTRIBUTE.size + len(payload), kind | (_NESTED if nested else 0))
    return head + payload + bytes(-len(payload) % 4)


def text(kind: int, value: str) -> bytes:
    """Encode an attribute with a text, which ends with a zero."""
    return attribute(kind, value.encode() + b"\0")


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield kind and payload of each attribute in ``data``."""
    at = 0
    while at + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, at)
        if length < _ATTRIBUTE.size or at + length > len(data):
            raise BadNetlink(f"an attribute of {length} bytes does not fit into {len(data) - at}")
        yield kind & _TYPE_MASK, data[at + _ATTRIBUTE.size : at + length]
        at += length + -length % 4


def message(kind: int, flags: int, payload: bytes, sequence: int = 0) -> bytes:
    return _MESSAGE.pack(_MESSAGE.size + len(payload), kind, flags, sequence, 0) + payload


def messages(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield kind, sequence number and payload of each message in a datagram."""
    at = 0
    while at + _MESSAGE.size <= len(data):
        length, kind, _flags, sequence, _port = _MESSAGE.unpack_from(data, at)
        if length < _MESSAGE.size or at + length > len(data):
            raise BadNetlink(f"a message of {length} bytes does not fit into {len(data) - at}")
        yield kind, sequence, data[at + _MESSAGE.size : at + length]
        at += length + -length % 4


def refuse_error(payload: bytes) -> None:
    """Check the kernel's acknowledgement; raise `BadNetlink` unless it reports success."""
    if len(payload) < 4:
        raise BadNetlink("an acknowledgement without its number")
    number = -int(struct.unpack_from("=i", payload)[0])
    if number != 0:
        raise BadNetlink(os.strerror(number) if 0 < number < 4_096 else f"error {number}", number)
