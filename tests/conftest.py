"""What all tests share."""

import signal

from hypothesis import HealthCheck, settings

# Other work on the machine must not fail a test: they say what holds, not how fast.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_configure():
    """Let programs that tests start hear Ctrl-C, which a shell has its background jobs ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
