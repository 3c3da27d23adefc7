"""A metrics port for Prometheus."""

import socket
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from socketserver import ThreadingMixIn
from typing import Annotated, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from pydantic import Field

from hitless.errors import HitlessError
from hitless.service.configuration import Checked

PortNumber = Annotated[int, Field(ge=0, le=65_535)]
"""Port number; 0 disables it."""

CONNECTION_S = 10.0
"""Maximum duration of a connection, including idle and slow ones."""
CONNECTIONS_MAX = 32
"""Maximum number of concurrent connections; further ones are closed."""


class Metrics(Checked):
    """``[metrics]``."""

    port: PortNumber
    """TCP port for Prometheus; 0 for no metrics."""
    address: str = "127.0.0.1"
    """Address to listen on. There is no authentication."""


def family(
    kind: type[CounterMetricFamily | GaugeMetricFamily],
    name: str,
    text: str,
    labels: Sequence[str],
    rows: Iterable[tuple[Sequence[str], float | None]],
) -> Metric:
    """Return a metric with a value for each choice of labels, leaving out None."""
    made = kind(name, text, labels=labels)
    for chosen, value in rows:
        if value is not None:
            made.add_metric(chosen, value)
    return made


@contextmanager
def serving(collector: Collector, section: Metrics, program: str) -> Iterator[None]:
    """Serve while the block runs, unless the port is 0. Raises `HitlessError` if the port is taken."""
    if section.port == 0:
        yield
        return
    registry = CollectorRegistry()
    registry.register(collector)
    try:
        server = _serving_at(section.address, section.port, registry)
    except OSError as failed:
        hint = f"another {program} may be running; metrics.port = 0 turns them off"
        raise HitlessError(f"metrics: {section.address}:{section.port}: {failed.strerror}", hint=hint) from failed
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingMixIn, WSGIServer):
    """A thread for each connection, with a deadline."""

    daemon_threads = True

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._places = threading.BoundedSemaphore(CONNECTIONS_MAX)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Is there a free slot?"""
        return self._places.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one connection, and close it at the deadline."""
        deadline = threading.Timer(CONNECTION_S, _hang_up, [request])
        deadline.daemon = True
        deadline.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            deadline.cancel()
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that left or were disconnected."""


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
        """Do not log requests."""


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _serving_at(address: str, port: int, registry: CollectorRegistry) -> WSGIServer:
    """Return a metrics server that listens. Raises `OSError`."""
    family, _, _, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    kind = type("_ServerOfFamily", (_Server,), {"address_family": family})
    return make_server(str(where[0]), port, make_wsgi_app(registry), kind, _Handler)
