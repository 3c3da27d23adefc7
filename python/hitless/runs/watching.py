"""Runs of a call from Python: progress on stderr, and Ctrl-C."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from hitless.runs.pool import Task
from hitless.terminal.interrupt import on_interrupt
from hitless.terminal.progress import ProgressDisplay


@contextmanager
def watched(what: str, stop: Callable[[], None]) -> Iterator[Callable[[Sequence[Task]], None]]:
    """Show progress on stderr, and stop cleanly on Ctrl-C if this is the main thread."""
    with ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            stack.enter_context(on_interrupt(stop))
        display = stack.enter_context(ProgressDisplay(what))
        yield lambda tasks: display.look([task for task in tasks if not task.was_there])
