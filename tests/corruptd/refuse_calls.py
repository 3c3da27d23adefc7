"""Runs PROGRAM and arguments under a filter that refuses system calls, as systemd's SystemCallFilter does.

``python refuse_calls.py kill|ERRNO PROGRAM ARGUMENT...`` refuses the calls of systemd's group @resources, by ending the
process or with an error number. Only for x86_64, because of its call numbers.
"""

import ctypes
import os
import struct
import sys

RESOURCES = {
    "setpriority": 141,
    "sched_setparam": 142,
    "sched_setscheduler": 144,
    "setrlimit": 160,
    "sched_setaffinity": 203,
    "mbind": 237,
    "set_mempolicy": 238,
    "ioprio_set": 251,
    "migrate_pages": 256,
    "move_pages": 279,
    "sched_setattr": 314,
    "set_mempolicy_home_node": 450,
}
LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, KILL_PROCESS, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
SET_NO_NEW_PRIVILEGES, SET_SECCOMP, MODE_FILTER = 38, 22, 2


class Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def instructions(refusal):
    numbers = list(RESOURCES.values())
    jumps = [(JUMP_IF_EQUAL, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
    whole = [(LOAD_NUMBER, 0, 0, 0), *jumps, (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, refusal)]
    return b"".join(struct.pack("=HBBI", *one) for one in whole)


def refuse(refusal):
    kernel = ctypes.CDLL(None, use_errno=True)
    code = instructions(refusal)
    held = ctypes.create_string_buffer(code, len(code))
    program = Program(len(code) // 8, ctypes.addressof(held))
    for arguments in ((SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0)):
        if kernel.prctl(*arguments) != 0:
            sys.exit(f"this machine sets no filter: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    refuse(KILL_PROCESS if sys.argv[1] == "kill" else ERROR | int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - that is what it is for
