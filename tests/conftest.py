"""What all tests share."""

import signal


def pytest_configure():
    """Let programs that tests start hear Ctrl-C, which a shell has its background jobs ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
