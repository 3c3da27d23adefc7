"""Ctrl-C, SIGTERM and SIGHUP stop a command with its partial results; a second ends it. SIGQUIT asks for its state."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from hitless.terminal.console import leave_terminal, print_note

EXIT_INTERRUPTED = 130


@contextmanager
def on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Call ``stop`` at the first interrupt, termination or hangup; the next one raises `KeyboardInterrupt`."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    if before[signal.SIGHUP] == signal.SIG_IGN:  # nohup
        del before[signal.SIGHUP]

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def handle(number: int, _frame: FrameType | None) -> None:
        for each, handler in before.items():
            signal.signal(each, signal.default_int_handler if handler == signal.SIG_DFL else handler)
        if number == signal.SIGHUP:
            leave_terminal()
        print_note("interrupted: keeping finished work (interrupt again to end at once)")
        stop()

    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        restore()


@contextmanager
def on_quit(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` on another thread at each SIGQUIT, if this is the main thread of a system that has it."""
    number = getattr(signal, "SIGQUIT", None)
    if number is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, lambda *_: threading.Thread(target=tell, daemon=True).start())
    try:
        yield
    finally:
        signal.signal(number, signal.SIG_DFL if before is None else before)
