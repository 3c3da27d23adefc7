"""A strict reader of pcapng files, written from the format's specification and independent of the simulator.

It raises `AssertionError` for anything that the specification forbids, or that a file of ours does not need.
"""

import struct
from dataclasses import dataclass, field


@dataclass
class Packet:
    interface: str
    at_ns: int
    data: bytes
    length: int
    comment: str = ""
    flags: int = 0
    identity: int | None = None
    queue: int | None = None


@dataclass
class File:
    interfaces: list[str] = field(default_factory=list)
    speeds: list[int | None] = field(default_factory=list)
    packets: list[Packet] = field(default_factory=list)
    statistics: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Packets accepted and kept, by interface."""


def blocks(content):
    at = 0
    while at < len(content):
        number, length = struct.unpack_from("<II", content, at)
        assert length in range(12, len(content) + 1, 4), (at, length)
        assert struct.unpack_from("<I", content, at + length - 4) == (length,), at
        yield number, content[at + 8 : at + length - 4]
        at += length
    assert at == len(content)


def options(body):
    found, at, ended = {}, 0, False
    while at < len(body):
        assert not ended
        number, length = struct.unpack_from("<HH", body, at)
        value = body[at + 4 : at + 4 + length]
        assert (len(value), number in found) == (length, False), number
        assert not any(body[at + 4 + length : at + 4 + -(-length // 4) * 4])
        at += 4 + -(-length // 4) * 4
        if number == 0:
            assert length == 0
            ended = True
        else:
            found[number] = value
    assert (ended, at) == (True, len(body))
    return found


def read(content):
    file = File()
    for place, (number, body) in enumerate(blocks(content)):
        assert (number == 0x0A0D0D0A) == (place == 0)
        READERS[number](file, body)
    times = [packet.at_ns for packet in file.packets]
    assert times == sorted(times)
    return file


def section(_, body):
    magic, major, minor, length = struct.unpack_from("<IHHq", body)
    assert (magic, major, minor, length) == (0x1A2B3C4D, 1, 0, -1)
    assert options(body[16:])[4].startswith(b"hitless ")


def interface(file, body):
    kind, reserved, snap = struct.unpack_from("<HHI", body)
    assert (kind, reserved, snap) == (1, 0, 0)
    about = options(body[8:])
    assert about[9] == b"\x09"
    file.interfaces.append(about[2].decode())
    file.speeds.append(int.from_bytes(about[8], "little") if 8 in about else None)


def packet(file, body):
    number, high, low, kept, length = struct.unpack_from("<IIIII", body)
    assert kept <= length
    padded = 20 + -(-kept // 4) * 4
    about = options(body[padded:])
    file.packets.append(
        Packet(
            interface=file.interfaces[number],
            at_ns=high << 32 | low,
            data=body[20 : 20 + kept],
            length=length,
            comment=about.get(1, b"").decode(),
            flags=int.from_bytes(about.get(2, b""), "little"),
            identity=int.from_bytes(about[5], "little") if 5 in about else None,
            queue=int.from_bytes(about[6], "little") if 6 in about else None,
        )
    )


def statistics(file, body):
    (number,) = struct.unpack_from("<I", body)
    about = options(body[12:])
    accepted, kept = (int.from_bytes(about[one], "little") for one in (6, 8))
    name = file.interfaces[number]
    assert kept == sum(packet.interface == name for packet in file.packets) <= accepted
    file.statistics[name] = (accepted, kept)


READERS = {0x0A0D0D0A: section, 1: interface, 5: statistics, 6: packet}
