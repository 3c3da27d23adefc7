"""Tables of nftables, for frames at the ingress of interfaces (nfnetlink, linux/netfilter/nf_tables.h).

Written here because the program `nft` is often missing, and because the kernel removes a table of a socket when the
socket is closed, also by ``kill -9``: the socket must be this process's own.
"""

import os
import socket
import struct
from collections.abc import Sequence

from hitless.service.netlink import ACK, ERROR, REQUEST, attribute, message, text

_NETLINK_NETFILTER = 12
_SUBSYSTEM = 10
_FAMILY_NETDEV = 5
_BATCH_BEGIN, _BATCH_END = 0x10, 0x11
_NEW_TABLE, _DELETE_TABLE, _NEW_CHAIN, _NEW_RULE, _NEW_SET, _NEW_ELEMENT, _DELETE_ELEMENT = (
    _SUBSYSTEM << 8 | number for number in (0, 2, 3, 6, 9, 12, 14)
)
_CREATE, _APPEND = 0x400, 0x800
_OWNED = 2
"""NFT_TABLE_F_OWNER."""
_TIMEOUT = 0x10
"""NFT_SET_TIMEOUT."""
_KEY = b"\0\0\0\1"
"""The element of a set with one element."""
_REGISTER = 1
_VERDICT_REGISTER = 0
_ACCEPT = 1
_ANSWER_S = 5.0
_ANSWER_BYTES = 1 << 16

META_PROTOCOL, META_MARK, META_PACKET_TYPE = 1, 3, 19
"""Values that `load` reads: EtherType in network order, mark and one byte of the packet type in host order."""


class Socket:
    """A connection to nf_tables. Raises `OSError` without nf_tables in the kernel, or without CAP_NET_ADMIN."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_NETFILTER)
        self._socket.bind((0, 0))
        self._socket.settimeout(_ANSWER_S)

    def close(self) -> None:
        """Close it; the kernel removes its own tables."""
        self._socket.close()

    def commit(self, messages: Sequence[bytes]) -> None:
        """Make all changes at once, or none. Raises `OSError`."""
        ends = [_message(kind, REQUEST, b"", family=0, resource=_SUBSYSTEM) for kind in (_BATCH_BEGIN, _BATCH_END)]
        self._socket.send(b"".join([ends[0], *messages, ends[1]]))
        code = 0
        for _ in messages:
            answer = self._socket.recv(_ANSWER_BYTES)
            [kind] = struct.unpack_from("=H", answer, 4)
            if kind == ERROR:
                [found] = struct.unpack_from("=i", answer, 16)
                code = code or -found
        if code:
            raise OSError(code, os.strerror(code))


def new_table(name: str, *, is_owned: bool = False) -> bytes:
    """Make a table, or keep an existing one. The kernel removes an owned one with its socket."""
    flags = _number(2, _OWNED) if is_owned else b""
    return _message(_NEW_TABLE, REQUEST | ACK | _CREATE, text(1, name) + flags)


def delete_table(name: str) -> bytes:
    """Remove a table with everything in it."""
    return _message(_DELETE_TABLE, REQUEST | ACK, text(1, name))


def new_chain(table: str, name: str, interface: str, priority: int) -> bytes:
    """Make a chain that sees each frame that an interface receives; lower priorities come first."""
    hook = _number(1, 0) + attribute(2, struct.pack(">i", priority)) + text(3, interface)
    chain = text(1, table) + text(3, name) + _nested(4, hook) + text(7, "filter")
    return _message(_NEW_CHAIN, REQUEST | ACK | _CREATE, chain)


def new_rule(table: str, chain: str, expressions: Sequence[bytes]) -> bytes:
    rule = text(1, table) + text(2, chain) + _nested(4, b"".join(expressions))
    return _message(_NEW_RULE, REQUEST | ACK | _CREATE | _APPEND, rule)


def new_lease(table: str, name: str) -> bytes:
    """Make a set that is empty, or has one element for a limited time."""
    numbers = ((3, _TIMEOUT), (4, 0), (5, len(_KEY)), (10, 1))
    attributes = b"".join(_number(kind, number) for kind, number in numbers)
    return _message(_NEW_SET, REQUEST | ACK | _CREATE, text(1, table) + text(2, name) + attributes)


def lend(table: str, name: str, seconds: float) -> bytes:
    """Put the element into a lease's set; the kernel removes it after this time, to the tick of its timer."""
    return _element(_NEW_ELEMENT, _CREATE, table, name, attribute(4, struct.pack(">Q", round(seconds * 1e3))))


def take_back(table: str, name: str) -> bytes:
    """Remove the element of a lease. The error ENOENT means that the time is over."""
    return _element(_DELETE_ELEMENT, 0, table, name, b"")


def while_lent(name: str) -> list[bytes]:
    """Continue with the rule while a lease of the same table lasts."""
    lookup = text(1, name) + _number(2, _REGISTER)
    return [_immediate(_KEY), _expression("lookup", lookup)]


def _element(kind: int, flags: int, table: str, name: str, more: bytes) -> bytes:
    element = _nested(1, _nested(1, attribute(1, _KEY)) + more)
    return _message(kind, REQUEST | ACK | flags, text(1, table) + text(2, name) + _nested(3, element))


def matches(key: int, value: bytes) -> list[bytes]:
    """Continue with the rule if a property of the frame has this value."""
    load = _number(1, _REGISTER) + _number(2, key)
    compare = _number(1, _REGISTER) + _number(2, 0)
    return [_expression("meta", load), _expression("cmp", compare + _nested(3, attribute(1, value)))]


def set_mark(mark: int) -> list[bytes]:
    """Set the mark of the frame."""
    store = _number(2, META_MARK) + _number(3, _REGISTER)
    return [_immediate(struct.pack("=I", mark)), _expression("meta", store)]


def accept() -> bytes:
    verdict = _nested(2, _nested(2, _number(1, _ACCEPT)))
    return _expression("immediate", _number(1, _VERDICT_REGISTER) + verdict)


def forward(interface_index: int) -> list[bytes]:
    """Send the frame through another interface."""
    return [_immediate(struct.pack("=I", interface_index)), _expression("fwd", _number(1, 1))]


def duplicate(interface_index: int) -> list[bytes]:
    """Send a copy of the frame through another interface."""
    return [_immediate(struct.pack("=I", interface_index)), _expression("dup", _number(2, 1))]


def _immediate(value: bytes) -> bytes:
    register = _number(1, _REGISTER)
    return _expression("immediate", register + _nested(2, attribute(1, value)))


def _expression(name: str, data: bytes) -> bytes:
    return _nested(1, text(1, name) + _nested(2, data))


def _message(kind: int, flags: int, attributes: bytes, *, family: int = _FAMILY_NETDEV, resource: int = 0) -> bytes:
    return message(kind, flags, struct.pack("=BBH", family, 0, socket.htons(resource)) + attributes)


def _number(kind: int, value: int) -> bytes:
    return attribute(kind, struct.pack(">I", value))


def _nested(kind: int, attributes: bytes) -> bytes:
    return attribute(kind, attributes, nested=True)
