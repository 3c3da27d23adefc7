import pytest

from servers import RedisServer


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
