"""A port that Prometheus may read."""

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
"""0: none."""

CONNECTION_S = 10.0
"""How long a connection may last, from its first byte to the last: who is silent, or slow, is cut off."""
CONNECTIONS_MAX = 32
"""At once; others are cut off."""


class Metrics(Checked):
    """``[metrics]``."""

    port: PortNumber
    address: str = "127.0.0.1"


def family(
    kind: type[CounterMetricFamily | GaugeMetricFamily],
    name: str,
    text: str,
    labels: Sequence[str],
    rows: Iterable[tuple[Sequence[str], float | None]],
) -> Metric:
    """A metric with a value for each choice of labels, but where that is None."""
    made = kind(name, text, labels=labels)
    for chosen, value in rows:
        if value is not None:
            made.add_metric(chosen, value)
    return made


@contextmanager
def serving(collector: Collector, section: Metrics, program: str) -> Iterator[None]:
    """Serve while the block runs, unless the port is 0. Raises `HitlessError` when the port is taken."""
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
    """A thread for each connection, which ends with its deadline."""

    daemon_threads = True

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._places = threading.BoundedSemaphore(CONNECTIONS_MAX)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Is there a place?"""
        return self._places.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one connection, and hang up when that takes too long."""
        deadline = threading.Timer(CONNECTION_S, _hang_up, [request])
        deadline.daemon = True
        deadline.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            deadline.cancel()
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that have gone or were cut off."""


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
        """Do not log requests."""


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _serving_at(address: str, port: int, registry: CollectorRegistry) -> WSGIServer:
    """A server of metrics that listens. Raises `OSError`."""
    family, _, _, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    kind = type("_ServerOfFamily", (_Server,), {"address_family": family})
    return make_server(str(where[0]), port, make_wsgi_app(registry), kind, _Handler)
