"""Prometheus metrics of a live run."""

from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hitless.errors import HitlessError
from hitless.live import Status
from hitless.service.metrics import family

PREFIX = "hitless_live_"

LINK_COUNTERS = {
    "frames_sent": "Frames put on a link.",
    "frames_arrived": "Frames that arrived without an error.",
    "arrived_bytes": "Bytes of these frames, without check sequence.",
    "frames_corrupted": "Frames that the link corrupted.",
    "frames_lost_down": "Frames lost because the link was down.",
}
PORT_COUNTERS = {
    "frames_received": "Frames received on an interface.",
    "frames_overrun": "Frames dropped because the receive ring was full.",
    "frames_sent": "Frames sent on an interface.",
    "frames_refused": "Frames dropped because the transmit ring was full, or because they were too long.",
    "frames_discarded": "Frames that were in the transmit ring when the interface was down.",
    "frames_merged": "Frames dropped because an offload had merged them.",
    "buffers_split": "Buffers of TCP that an offload had merged, split into frames.",
    "buffers_whole": "Buffers of TCP that an offload had merged, received and kept whole.",
    "buffers_sent": "Buffers of TCP of at least two frames, sent whole.",
    "frames_sent_together": "Frames sent in such buffers; frames_sent counts them too.",
    "frames_left_to_kernel": "Received frames that the kernel's path forwards.",
}


def _is_active(end: Mapping[str, Any]) -> bool | None:
    return None if end["phase"] == "unknown" else end["phase"] == "on"


_OF_PROTECTION: dict[
    str, tuple[type[CounterMetricFamily | GaugeMetricFamily], str, Callable[[Mapping[str, Any]], float | None]]
] = {
    "commanded": (GaugeMetricFamily, "1 if this end of a link was switched on.", itemgetter("is_commanded")),
    "active": (GaugeMetricFamily, "1 if packets are protected; a receiver tells it from the last frame.", _is_active),
    "ordered": (GaugeMetricFamily, "1 in blocking mode, which keeps the order.", itemgetter("keeps_order")),
    "copies": (GaugeMetricFamily, "Copies sent of each lost packet; only of senders.", itemgetter("copies")),
    "packets": (CounterMetricFamily, "Packets protected; at a receiver delivered.", itemgetter("packets")),
    "lost_on_link": (
        CounterMetricFamily,
        "Packets that the link lost; at a sender those that the receiver reported.",
        itemgetter("lost_on_link"),
    ),
    "recovered": (
        CounterMetricFamily,
        "Lost packets that were recovered; at a sender retransmitted.",
        itemgetter("recovered"),
    ),
    # A gauge, because a late repair makes it fall.
    "lost": (GaugeMetricFamily, "Packets lost in spite of protection; only of receivers.", itemgetter("lost")),
}


class LiveCollector(Collector):
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
        yield from _of_protections(status.values)
        yield from _of_kernel(status.values)
        yield from _of_peer(status.values)


def _of_run(status: Status) -> Iterator[Metric]:
    values = status.values
    yield GaugeMetricFamily(
        f"{PREFIX}overloaded", "1 if it could not keep up in the last minute.", value=int(status.is_overloaded)
    )
    yield CounterMetricFamily(
        f"{PREFIX}deadline_misses", "Departures and timers later than the slack.", value=status.misses
    )
    yield CounterMetricFamily(
        f"{PREFIX}frames_entered", "Frames that entered the fabric.", value=values["frames_entered"]
    )
    yield CounterMetricFamily(f"{PREFIX}frames_left", "Frames that left the fabric.", value=values["frames_left"])
    yield GaugeMetricFamily(f"{PREFIX}frames_inside", "Frames in the fabric.", value=values["frames_inside"])


def _of_links(values: Mapping[str, Any]) -> Iterator[Metric]:
    kinds = [(CounterMetricFamily, field, text) for field, text in LINK_COUNTERS.items()]
    for kind, field, text in [*kinds, (GaugeMetricFamily, "queue_bytes", "Bytes queued for a link.")]:
        rows = (([link["link"]], link[field]) for link in values["links"])
        yield family(kind, f"{PREFIX}link_{field}", text, ["link"], rows)


def _of_ports(values: Mapping[str, Any]) -> Iterator[Metric]:
    for field, text in PORT_COUNTERS.items():
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
    rows = ((labels_of, value) for *labels_of, _, value in values["mechanisms"])
    return family(GaugeMetricFamily, f"{PREFIX}mechanism", "Counters of mechanisms.", labels, rows)


def _of_protections(values: Mapping[str, Any]) -> Iterator[Metric]:
    for field, (kind, text, value) in _OF_PROTECTION.items():
        rows = (([end["link"], end["end"]], value(end)) for end in values["protections"])
        yield family(kind, f"{PREFIX}protection_{field}", text, ["link", "end"], rows)


def _of_peer(values: Mapping[str, Any]) -> Iterator[Metric]:
    if "peer" in values:
        text = "1 if both ends of the link agree to protect it; otherwise frames are not protected."
        yield GaugeMetricFamily(f"{PREFIX}peer_answers", text, value=int(values["peer"]["answers"]))


def _of_kernel(values: Mapping[str, Any]) -> Iterator[Metric]:
    labels = ["node", "interface", "way"]
    counter = CounterMetricFamily(f"{PREFIX}kernel_drops", "Frames that the kernel dropped.", labels=labels)
    for row in values.get("kernel_drops", []):
        counter.add_metric([row["node"], row["interface"], "in"], row["received"])
        counter.add_metric([row["node"], row["interface"], "out"], row["sent"])
    yield counter
