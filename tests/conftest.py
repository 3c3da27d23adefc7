"""Shared setup of all tests."""

import signal

from hypothesis import HealthCheck, settings

# Other load on the machine must not fail a test: tests check behaviour, not speed.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_configure():
    """Let programs that tests start receive Ctrl-C, which a shell makes its background jobs ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
