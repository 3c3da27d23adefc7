"""Futures in completion order, with a callback several times a second.

The cost of waiting for one future does not grow with the number of pending ones, unlike with `concurrent.futures.wait`.
This matters for thousands of runs that take a few milliseconds each.
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
    """Pending futures, each with its subject."""

    def __init__(self, look: Callable[[], None]) -> None:
        self._look = look
        self._look_due_s = time.monotonic()
        self._done: queue.SimpleQueue[Future[Result]] = queue.SimpleQueue()
        self._pending: dict[Future[Result], Subject] = {}

    def add(self, future: Future[Result], subject: Subject) -> None:
        """Wait for a future, too."""
        self._pending[future] = subject
        future.add_done_callback(self._done.put)

    def each(self, stopped: threading.Event | None = None) -> Iterator[tuple[Subject, Future[Result]]]:
        """Yield each future when it is done; once ``stopped`` is set, yield all others, done or not."""
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
        """Return the next future that is done; None if the callback is due first."""
        left_s = self._look_due_s - time.monotonic()
        if left_s <= 0.0:
            self._look()
            self._look_due_s = time.monotonic() + _LOOK_EVERY_S
            left_s = _LOOK_EVERY_S
        try:
            return self._done.get(timeout=left_s)
        except queue.Empty:
            return None
