"""Giving up what a process that runs as root does not need once it has opened what it works on."""

import ctypes
import os
from collections.abc import Collection

from hitless.errors import HitlessError

_BITS = {
    "CAP_DAC_OVERRIDE": 1,
    "CAP_KILL": 5,
    "CAP_NET_ADMIN": 12,
    "CAP_SYS_PTRACE": 19,
    "CAP_SYS_ADMIN": 21,
    "CAP_SYS_NICE": 23,
}
"""Those that something here keeps (linux/capability.h)."""

OF_FORWARDING = ("CAP_NET_ADMIN", "CAP_SYS_NICE")
"""What is left to do once packet sockets are open: give offloads and MTUs back, and hasten the thread that forwards."""
OF_LABS = (*OF_FORWARDING, "CAP_SYS_ADMIN", "CAP_KILL", "CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE")
"""A lab also removes its namespaces, and finds and ends the programs in them, whoever started these."""

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
    """Give up, for good, all capabilities of this thread and of those that it will start, but for ``kept``.

    What it had not, it has not afterwards. No program that it starts gets back what is given up, not even one that is
    set-user-ID. Threads that run already keep what they have. Raises `HitlessError`.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    wanted = sum(1 << _BITS[name] for name in kept)
    header, sets = _Header(_VERSION_3, 0), (_Sets * 2)()
    _require(libc.capget(ctypes.byref(header), ctypes.byref(sets)), "be read")
    if sets[0].effective >> 8 & 1:  # CAP_SETPCAP
        for bit in range(64):
            if not wanted >> bit & 1 and libc.prctl(_PR_CAPBSET_DROP, bit, 0, 0, 0) != 0:
                break  # the kernel has no more
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
