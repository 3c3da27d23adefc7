"""The program ``hitless``, and `python -m hitless`. Ctrl-C works at once, even while its modules load."""

import signal


def main() -> None:
    """Load the command line and run it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        # An interrupted import raises various errors, and some libraries swallow them.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from hitless.cli.main import main as program  # noqa: PLC0415 - this is what takes a while

    signal.signal(signal.SIGINT, before)
    program()


if __name__ == "__main__":
    main()
