"""Shared setup of all tests."""

import signal

import pytest
from hypothesis import HealthCheck, settings

# Other load on the machine must not fail a test: tests check behaviour, not speed.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_configure():
    """Let programs that tests start receive Ctrl-C, which a shell makes its background jobs ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Refuse tests of the fake simulator (tests/python) together with others, which need the real one."""
    folders = {item.path.relative_to(item.config.rootpath).parts[1] for item in items}
    if "python" in folders and len(folders) > 1:
        others = ", ".join(sorted(f"tests/{folder}" for folder in folders - {"python"}))
        raise pytest.UsageError(f"tests/python replaces the simulator by a fake: run it without {others}")
