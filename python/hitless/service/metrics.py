"""A port that Prometheus may read."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from pydantic import Field

from hitless.errors import HitlessError
from hitless.service.configuration import Checked

PortNumber = Annotated[int, Field(ge=0, le=65_535)]
"""0: none."""


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
        server, thread = start_http_server(section.port, section.address, registry)
    except OSError as failed:
        hint = f"another {program} may be running; metrics.port = 0 turns them off"
        raise HitlessError(f"metrics: {section.address}:{section.port}: {failed.strerror}", hint=hint) from failed
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
