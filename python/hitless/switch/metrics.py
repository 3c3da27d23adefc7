"""Prometheus metrics of a live run."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hitless.errors import HitlessError
from hitless.live import Status
from hitless.service.metrics import family

PREFIX = "hitless_live_"

_LINK_COUNTERS = {
    "frames_sent": "Frames put on a link.",
    "frames_arrived": "Frames that arrived without an error.",
    "arrived_bytes": "Bytes of these frames, without check sequence.",
    "frames_corrupted": "Frames that the link corrupted.",
    "frames_lost_down": "Frames lost because the link was down.",
}
_PORT_COUNTERS = {
    "frames_received": "Frames received on an interface.",
    "frames_overrun": "Frames dropped because the receive ring was full.",
    "frames_sent": "Frames sent on an interface.",
    "frames_refused": "Frames dropped because the transmit ring was full, or because they were too long.",
    "frames_discarded": "Frames that were in the transmit ring when the interface was down.",
    "frames_merged": "Frames dropped because an offload had merged them.",
    "buffers_split": "Buffers of TCP that an offload had merged, split into frames.",
    "frames_left_to_kernel": "Received frames that the kernel's path forwards.",
}


class LiveCollector(Collector):
    """Collects the metrics of a run on request."""

    def __init__(self, status: Callable[[], Status]) -> None:
        self._status = status

    def collect(self) -> Iterator[Metric]:
        """Yield every metric, as of now; only "down" if the run does not answer."""
        try:
            status = self._status()
        except HitlessError:
            yield GaugeMetricFamily(f"{PREFIX}up", "1 if the switch forwards.", value=0)
            return
        yield GaugeMetricFamily(f"{PREFIX}up", "1 if the switch forwards.", value=1)
        yield from _of_run(status)
        yield from _of_links(status.values)
        yield from _of_ports(status.values)
        yield from _of_reasons(status.values)
        yield _of_mechanisms(status.values)
        yield from _of_kernel(status.values)


def _of_run(status: Status) -> Iterator[Metric]:
    values = status.values
    yield GaugeMetricFamily(f"{PREFIX}overloaded", "1 if it could not always keep up.", value=int(status.is_overloaded))
    yield CounterMetricFamily(
        f"{PREFIX}deadline_misses", "Departures and timers later than the slack.", value=status.misses
    )
    yield CounterMetricFamily(
        f"{PREFIX}frames_entered", "Frames that entered the fabric.", value=values["frames_entered"]
    )
    yield CounterMetricFamily(f"{PREFIX}frames_left", "Frames that left the fabric.", value=values["frames_left"])
    yield GaugeMetricFamily(f"{PREFIX}frames_inside", "Frames in the fabric.", value=values["frames_inside"])


def _of_links(values: Mapping[str, Any]) -> Iterator[Metric]:
    kinds = [(CounterMetricFamily, field, text) for field, text in _LINK_COUNTERS.items()]
    for kind, field, text in [*kinds, (GaugeMetricFamily, "queue_bytes", "Bytes queued for a link.")]:
        rows = (([link["link"]], link[field]) for link in values["links"])
        yield family(kind, f"{PREFIX}link_{field}", text, ["link"], rows)


def _of_ports(values: Mapping[str, Any]) -> Iterator[Metric]:
    for field, text in _PORT_COUNTERS.items():
        rows = (([port["node"], port["interface"]], port[field]) for port in values["ports"])
        yield family(CounterMetricFamily, f"{PREFIX}port_{field}", text, ["node", "interface"], rows)
    returns = (([port["node"], port["interface"]], port["returns"]) for port in values["ports"])
    text = "Number of times that an interface disappeared and returned."
    yield family(CounterMetricFamily, f"{PREFIX}port_returns", text, ["node", "interface"], returns)
    labels = ["node", "interface", "mode"]
    usable = (([port[label] for label in labels], "failed" not in port) for port in values["ports"])
    yield family(GaugeMetricFamily, f"{PREFIX}port_usable", "1 while an interface is used.", labels, usable)


def _of_reasons(values: Mapping[str, Any]) -> Iterator[Metric]:
    for field, text in (("drops", "Packets lost in the fabric."), ("retired", "Packets removed without a loss.")):
        rows = (([reason], count) for reason, count in values[field].items())
        yield family(CounterMetricFamily, f"{PREFIX}{field}", text, ["reason"], rows)


def _of_mechanisms(values: Mapping[str, Any]) -> Metric:
    labels = ["switch", "mechanism", "at", "counter"]
    # A gauge, because some counters of mechanisms are depths, which fall again.
    rows = ((labels_of, value) for *labels_of, value in values["mechanisms"])
    return family(GaugeMetricFamily, f"{PREFIX}mechanism", "Counters of mechanisms.", labels, rows)


def _of_kernel(values: Mapping[str, Any]) -> Iterator[Metric]:
    labels = ["node", "interface", "way"]
    counter = CounterMetricFamily(f"{PREFIX}kernel_drops", "Frames that the kernel dropped.", labels=labels)
    for row in values.get("kernel_drops", []):
        counter.add_metric([row["node"], row["interface"], "in"], row["received"])
        counter.add_metric([row["node"], row["interface"], "out"], row["sent"])
    yield counter
