"""Futures in the order in which they are done, with a look around several times a second.

To wait for one takes a time that does not grow with how many are left, as that of `concurrent.futures.wait` does: it
matters for thousands of runs of a few milliseconds each.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Generic, TypeVar

Result = TypeVar("Result")
Subject = TypeVar("Subject")

_LOOK_EVERY_S = 0.1


class Arrivals(Generic[Subject, Result]):
    """What is waited for, each with what it belongs to."""

    def __init__(self, look: Callable[[], None]) -> None:
        self._look = look
        self._look_due_s = time.monotonic()
        self._done: queue.SimpleQueue[Future[Result]] = queue.SimpleQueue()
        self._pending: dict[Future[Result], Subject] = {}

    def add(self, future: Future[Result], subject: Subject) -> None:
        """Wait for another one."""
        self._pending[future] = subject
        future.add_done_callback(self._done.put)

    def each(self, stopped: threading.Event | None = None) -> Iterator[tuple[Subject, Future[Result]]]:
        """Each as it is done; once ``stopped`` is set, all that are left, done or cancelled or neither."""
        while self._pending:
            future = self._next()
            if stopped is not None and stopped.is_set():
                for left in self._pending:
                    left.cancel()
                yield from [(subject, left) for left, subject in self._pending.items()]
                return
            if future is not None:
                yield self._pending.pop(future), future

    def _next(self) -> Future[Result] | None:
        """The next one that is done; None when it is time to look around first."""
        left_s = self._look_due_s - time.monotonic()
        if left_s <= 0.0:
            self._look()
            self._look_due_s = time.monotonic() + _LOOK_EVERY_S
            left_s = _LOOK_EVERY_S
        try:
            return self._done.get(timeout=left_s)
        except queue.Empty:
            return None
