"""Dropping the capabilities of a root process that it no longer needs."""

import ctypes
import os
from collections.abc import Collection

from hitless.errors import HitlessError

CAPABILITIES = {
    "CAP_DAC_OVERRIDE": 1,
    "CAP_KILL": 5,
    "CAP_NET_ADMIN": 12,
    "CAP_NET_RAW": 13,
    "CAP_SYS_PTRACE": 19,
    "CAP_SYS_ADMIN": 21,
    "CAP_SYS_NICE": 23,
}
"""Capabilities that are needed or kept somewhere, with their bits (linux/capability.h)."""

OF_FORWARDING = ("CAP_NET_ADMIN", "CAP_SYS_NICE")
"""Capabilities needed after packet sockets are open: for offloads, MTUs and the forwarding thread's priority."""
OF_LABS = (*OF_FORWARDING, "CAP_SYS_ADMIN", "CAP_KILL", "CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE")
"""Labs also remove their namespaces, and find and end any programs in them."""

_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_VERSION_3 = 0x20080522
"""_LINUX_CAPABILITY_VERSION_3: 64 bits in two words."""


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _Sets(ctypes.Structure):
    _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)]


def drop_all_but(kept: Collection[str]) -> None:
    """Permanently drop all capabilities but ``kept`` from this thread and its future children.

    Missing capabilities stay missing. Programs started later cannot regain the dropped ones, even if they are
    set-user-ID. Threads that run already are unaffected. Raises `HitlessError`.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    wanted = sum(1 << CAPABILITIES[name] for name in kept)
    header, sets = _Header(_VERSION_3, 0), (_Sets * 2)()
    _require(libc.capget(ctypes.byref(header), ctypes.byref(sets)), "be read")
    if sets[0].effective >> 8 & 1:  # CAP_SETPCAP
        for bit in range(64):
            if not wanted >> bit & 1 and libc.prctl(_PR_CAPBSET_DROP, bit, 0, 0, 0) != 0:
                break  # unknown to this kernel
    _require(libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "be given up")
    _require(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "be given up")
    for half, words in enumerate(sets):
        mask = wanted >> 32 * half & 0xFFFF_FFFF
        words.effective &= mask
        words.permitted &= mask
        words.inheritable = 0
    _require(libc.capset(ctypes.byref(header), ctypes.byref(sets)), "be given up")


def _require(code: int, what: str) -> None:
    if code != 0:
        raise HitlessError(f"the capabilities of this process cannot {what}: {os.strerror(ctypes.get_errno())}")
