"""The messages of a Perfetto trace, encoded (perfetto.dev: protos/perfetto/trace/perfetto_trace.proto).

A trace is a sequence of packets. A packet describes a track, or holds an event on one.
"""

import struct
from enum import IntEnum

_SEQUENCE = 1
"""All packets are of one writer."""
_CLEARED = 1
"""The writer of the sequence starts without earlier state."""


class Kind(IntEnum):
    """Types of events."""

    BEGIN = 1
    END = 2
    INSTANT = 3
    COUNTER = 4


def _varint(number: int) -> bytes:
    out = bytearray()
    number &= (1 << 64) - 1
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _fixed(field: int, value: int) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<Q", value)


def _packet(body: bytes) -> bytes:
    return _bytes(1, body + _number(10, _SEQUENCE))


def track(uuid: int, name: str, parent: int | None = None, unit: str | None = None) -> bytes:
    """Return the description of a track; with a ``unit`` it shows a counter."""
    body = _number(1, uuid) + _text(2, name)
    if parent is not None:
        body += _number(5, parent)
    if unit is not None:
        body += _bytes(8, _text(6, unit))
    return _packet(_bytes(60, body) + _number(13, _CLEARED))


def begin(uuid: int, name: str, about: dict[str, str | int], arrow: int | None = None) -> bytes:
    """Return the begin of a slice, from which an arrow can start."""
    return _event(Kind.BEGIN, uuid) + _text(23, name) + _about(about) + (b"" if arrow is None else _fixed(47, arrow))


def end(uuid: int) -> bytes:
    """Return the end of the newest open slice of a track."""
    return _event(Kind.END, uuid)


def instant(uuid: int, name: str, arrow: int | None = None) -> bytes:
    """Return an event without duration, at which an arrow can end."""
    return _event(Kind.INSTANT, uuid) + _text(23, name) + (b"" if arrow is None else _fixed(48, arrow))


def counter(uuid: int, value: int) -> bytes:
    """Return a value of a counter."""
    return _event(Kind.COUNTER, uuid) + _number(30, value)


def event(at_ns: int, body: bytes) -> bytes:
    """Return the packet of an event."""
    return _packet(_number(8, at_ns) + _bytes(11, body))


def _event(kind: Kind, uuid: int) -> bytes:
    return _number(9, kind) + _number(11, uuid)


def _about(about: dict[str, str | int]) -> bytes:
    def value(one: str | int) -> bytes:
        return _text(6, one) if isinstance(one, str) else _number(4, one)

    return b"".join(_bytes(4, _text(10, name) + value(one)) for name, one in about.items())
