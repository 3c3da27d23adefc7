"""The program ``hitless``, and `python -m hitless`. Its modules take a while to load, and Ctrl-C ends that at once."""

import signal


def main() -> None:
    """Load the command line and run it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        # An import that is interrupted raises many things, and some libraries swallow it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from hitless.cli.main import main as program  # noqa: PLC0415 - this is what takes a while

    signal.signal(signal.SIGINT, before)
    program()


if __name__ == "__main__":
    main()
