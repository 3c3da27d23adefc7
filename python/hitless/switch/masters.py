"""Masters of interfaces: a bridge, a bond or the like receives their frames instead of hitless (rtnetlink(7))."""

import socket
import struct
from collections.abc import Iterable

from hitless.errors import HitlessError
from hitless.live import ports

_GET_LINK, _NEW_LINK = 18, 16
_REQUEST = 1
_HEADERS_BYTES = 32
"""`struct nlmsghdr` and `struct ifinfomsg`."""
_MASTER = 10
"""IFLA_MASTER."""
_ANSWER_S = 1.0
_ANSWER_BYTES = 1 << 16


def master_of(name: str) -> str | None:
    """Return the master of an interface in this thread's network namespace. Raises `HitlessError`."""
    index = ports.opened(name).index
    request = struct.pack("=IHHIIBBHiII", _HEADERS_BYTES, _GET_LINK, _REQUEST, 0, 0, 0, 0, 0, index, 0, 0)
    try:
        # /sys/class/net shows another namespace to a process that only entered this one.
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0) as kernel:
            kernel.settimeout(_ANSWER_S)
            kernel.send(request)
            master = _attribute(kernel.recv(_ANSWER_BYTES), _MASTER)
        return None if master is None else socket.if_indextoname(struct.unpack("=I", master)[0])
    except OSError as refused:
        raise HitlessError(f"{name}: {refused.strerror}") from refused


def _attribute(answer: bytes, wanted: int) -> bytes | None:
    """Return an attribute of the interface in a message."""
    [kind] = struct.unpack_from("=H", answer, 4)
    at = _HEADERS_BYTES
    while kind == _NEW_LINK and at + 4 <= len(answer):
        length, number = struct.unpack_from("=HH", answer, at)
        if number == wanted:
            return answer[at + 4 : at + length]
        at += max(4, length + 3 & ~3)
    return None


def enslaved(names: Iterable[str]) -> dict[str, str]:
    """Return the master of each interface with one; an interface that is gone is left out."""
    found = {}
    for name in names:
        try:
            master = master_of(name)
        except HitlessError:
            continue
        if master is not None:
            found[name] = master
    return found


def sentence(name: str, master: str) -> str:
    """Say that an interface has a master."""
    return f"{name} is a port of {master}, which takes its frames before hitless"


def mend(name: str) -> str:
    """Return the command that releases an interface."""
    return f"ip link set {name} nomaster"
