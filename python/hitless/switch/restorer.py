"""A small process that restores the interfaces if the main process is killed."""

import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from hitless.errors import HitlessError
from hitless.service.privileges import drop_all_but

log = logging.getLogger(__name__)

_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals to the whole group: the process ends after the main one, whatever ends that."""


@contextmanager
def restoring(restore: Callable[[], None]) -> Iterator[None]:
    """Call ``restore`` at the end of the block, in another process if this one is killed in it.

    Must begin before the first thread, because it forks.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(theirs)
        _wait_and_restore(ours, restore)
    os.close(ours)
    try:
        yield
    finally:
        # The other process restores after a normal end too, so that there is one way.
        os.close(theirs)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)


def _wait_and_restore(pipe: int, restore: Callable[[], None]) -> None:
    """Restore at the end of the main process, and exit."""
    try:
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        drop_all_but(["CAP_NET_ADMIN"])
        os.read(pipe, 1)
        restore()
    except (HitlessError, OSError) as failed:
        log.warning("the interfaces were not restored: %s", failed)
    finally:
        os._exit(0)
