import pytest
from hypothesis import HealthCheck, settings

from servers import RedisServer

# Other work on the machine must not fail a test: they say what holds, not how fast.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture
def redis_server(tmp_path):
    server = RedisServer(tmp_path)
    yield server
    server.end()


@pytest.fixture
def redis_server_with_tls(tmp_path):
    server = RedisServer(tmp_path, tls=True)
    yield server
    server.end()
