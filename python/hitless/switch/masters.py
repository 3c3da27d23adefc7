"""Masters of interfaces: a bridge, a bond or the like receives their frames instead of hitless (rtnetlink(7))."""

import socket
import struct
from collections.abc import Iterable

from hitless.errors import HitlessError
from hitless.live import ports
from hitless.service.netlink import REQUEST, attributes, message, messages

_GET_LINK, _NEW_LINK = 18, 16
_INTERFACE = struct.Struct("=BBHiII")
"""`struct ifinfomsg`."""
_MASTER = 10
"""IFLA_MASTER."""
_ANSWER_S = 1.0
_ANSWER_BYTES = 1 << 16


def master_of(name: str) -> str | None:
    """Return the master of an interface in this thread's network namespace. Raises `HitlessError`."""
    index = ports.opened(name).index
    request = message(_GET_LINK, REQUEST, _INTERFACE.pack(0, 0, 0, index, 0, 0))
    try:
        # /sys/class/net shows another namespace to a process that only entered this one.
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0) as kernel:
            kernel.settimeout(_ANSWER_S)
            kernel.send(request)
            answers = [body for kind, _, body in messages(kernel.recv(_ANSWER_BYTES)) if kind == _NEW_LINK]
        masters = [dict(attributes(body[_INTERFACE.size :])).get(_MASTER) for body in answers]
        return socket.if_indextoname(struct.unpack("=I", masters[0])[0]) if masters and masters[0] else None
    except OSError as refused:
        raise HitlessError(f"{name}: {refused.strerror}") from refused


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
