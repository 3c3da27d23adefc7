"""Ctrl-C stops a command with its partial results; a second one ends it at once."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from hitless.terminal.console import print_note

EXIT_INTERRUPTED = 130


@contextmanager
def on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Call ``stop`` at the first interrupt or termination, and restore the usual handling for the next."""
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in signals}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def handle(_number: int, _frame: FrameType | None) -> None:
        restore()
        print_note("interrupted: keeping finished work (interrupt again to end at once)")
        stop()

    for number in signals:
        signal.signal(number, handle)
    try:
        yield
    finally:
        restore()
