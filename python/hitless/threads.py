"""How many threads one simulation has, and how many cores there are."""

import os

from hitless.errors import BadInput

_MOST = 1024

THREADS = "HITLESS_THREADS"
"""The environment variable that says on how many threads one simulation runs."""


def thread_count() -> int:
    """On how many threads one simulation runs: what ``HITLESS_THREADS`` says, or 1.

    Results do not depend on it. Raises BadInput where that is no number of threads.
    """
    text = os.environ.get(THREADS, "1")
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _MOST:
        raise BadInput(
            f"{text!r} is no number of threads",
            where=f"the environment variable {THREADS}",
            rule=f"1 to {_MOST}",
            hint="leave it out for 1",
        )
    return int(text)


def take_threads(asked: int | None = None) -> int:
    """The threads of a command's one run, which has the machine to itself; `thread_count` says the same afterwards.

    As many as were asked for, what ``HITLESS_THREADS`` says, or all cores. Raises BadInput as `thread_count` does.
    """
    if asked is not None:
        os.environ[THREADS] = str(asked)
    os.environ.setdefault(THREADS, str(core_count()))
    return thread_count()


def core_count() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
