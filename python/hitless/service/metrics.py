"""A port that Prometheus may read."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.registry import Collector
from pydantic import Field

from hitless.errors import HitlessError
from hitless.service.configuration import Section

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer

PortNumber = Annotated[int, Field(ge=0, le=65_535)]
"""0: none."""


class Metrics(Section):
    """``[metrics]``."""

    port: PortNumber
    address: str = "127.0.0.1"


class MetricsServer:
    """Serves /metrics until `close`. Raises OSError when the port is taken."""

    def __init__(self, collector: Collector, port: int, address: str) -> None:
        registry = CollectorRegistry()
        registry.register(collector)
        server, thread = start_http_server(port, address, registry)
        self._server: WSGIServer = server
        self._thread = thread

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_port)

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def serving(collector: Collector, section: Metrics, program: str) -> Iterator[None]:
    """Serve while the block runs, unless the port is 0. Raises `HitlessError` when the port is taken."""
    if section.port == 0:
        yield
        return
    try:
        server = MetricsServer(collector, section.port, section.address)
    except OSError as failed:
        hint = f"another {program} may be running; metrics.port = 0 turns them off"
        raise HitlessError(f"metrics: {section.address}:{section.port}: {failed.strerror}", hint=hint) from failed
    try:
        yield
    finally:
        server.close()
