"""The number of threads of a simulation, and of available cores."""

import os

from hitless.errors import BadInput

_MOST = 1024

THREADS = "HITLESS_THREADS"
"""Environment variable with the number of threads of a simulation."""


def thread_count() -> int:
    """Return the number of threads of a simulation: ``HITLESS_THREADS``, or 1.

    Results do not depend on it. Raises `BadInput` for an invalid number of threads.
    """
    text = os.environ.get(THREADS, "1")
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _MOST:
        raise BadInput(
            f"{text!r} is not a number of threads",
            where=f"the environment variable {THREADS}",
            rule=f"1 to {_MOST}",
            hint="omit it for 1",
        )
    return int(text)


def take_threads(asked: int | None = None) -> int:
    """Set the threads of a command with a single run, if its user asked for a number, and return `thread_count`."""
    if asked is not None:
        os.environ[THREADS] = str(asked)
    return thread_count()


def core_count() -> int:
    """Return the number of cores that this process can use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
