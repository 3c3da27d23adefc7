"""Metrics for Prometheus."""

import threading
from collections.abc import Iterator, Mapping
from typing import get_args

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hitless.corruptd.daemon import Daemon, Watch
from hitless.corruptd.detection import Phase
from hitless.corruptd.protocol import Fate
from hitless.service.metrics import family

PREFIX = "hitless_corruptd_"


class DaemonCollector(Collector):
    """Reads a daemon on request; ``lock`` keeps it out of the middle of a step."""

    def __init__(self, daemon: Daemon, lock: threading.Lock) -> None:
        self.daemon = daemon
        self._lock = lock

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            metrics = [*_of_daemon(self.daemon), *_of_watches(self.daemon), *_of_guards(self.daemon)]
        yield from metrics


def _of_daemon(daemon: Daemon) -> Iterator[Metric]:
    tally = daemon.tally
    yield CounterMetricFamily(f"{PREFIX}polls", "Polls of the counters.", value=tally.polls)
    yield CounterMetricFamily(f"{PREFIX}messages_sent", "Messages that somebody received.", value=tally.sent)
    yield CounterMetricFamily(f"{PREFIX}messages_unsent", "Messages that nobody received.", value=tally.unsent)
    fates = [([fate], tally.received[fate]) for fate in get_args(Fate)] + [(["invalid"], tally.refused)]
    text = "Messages, by what became of them."
    yield family(CounterMetricFamily, f"{PREFIX}messages_received", text, ["fate"], fates)
    yield GaugeMetricFamily(f"{PREFIX}bus_connected", "1 if messages can pass.", value=int(daemon.bus.is_connected))


_OF_WATCH: dict[str, tuple[type[CounterMetricFamily | GaugeMetricFamily], str]] = {
    "loss_rate": (GaugeMetricFamily, "Present loss rate of an incoming link."),
    "window_frames": (GaugeMetricFamily, "Frames in the moving window."),
    "window_bad_frames": (GaugeMetricFamily, "Corrupted frames in the moving window."),
    "copies_wanted": (GaugeMetricFamily, "Requested copies per lost packet; 0 is off."),
    "acknowledged": (GaugeMetricFamily, "1 if the upstream switch has executed the request."),
    "counters_readable": (GaugeMetricFamily, "1 if the last reading of the counters succeeded."),
    "frames": (CounterMetricFamily, "Frames received while watched, good and bad."),
    "bad_frames": (CounterMetricFamily, "Corrupted frames received while watched."),
    "read_errors": (CounterMetricFamily, "Readings that failed."),
    "counter_restarts": (CounterMetricFamily, "Number of counter resets."),
    "fec_uncorrectable_blocks": (GaugeMetricFamily, "Uncorrectable blocks counted by the port."),
}


def _values(watch: Watch) -> Mapping[str, float | None]:
    detector, setting, last = watch.detector, watch.detector.decision.setting, watch.detector.last
    return {
        "loss_rate": detector.loss_rate,
        "window_frames": detector.window.frames,
        "window_bad_frames": detector.window.bad,
        "copies_wanted": setting.copies if setting else 0,
        "acknowledged": watch.requester.is_acknowledged,
        "counters_readable": not watch.error,
        "frames": detector.frames_seen,
        "bad_frames": detector.bad_seen,
        "read_errors": watch.read_errors,
        "counter_restarts": detector.restarts,
        "fec_uncorrectable_blocks": last.fec_uncorrectable if last else None,
    }


def _of_watches(daemon: Daemon) -> Iterator[Metric]:
    watches = daemon.watches.items()
    values = [([link], _values(watch)) for link, watch in watches]
    for name, (kind, text) in _OF_WATCH.items():
        yield family(kind, PREFIX + name, text, ["link"], ((labels, of[name]) for labels, of in values))
    phases = (
        ([link, known.value], watch.detector.decision.phase is known) for link, watch in watches for known in Phase
    )
    yield family(GaugeMetricFamily, f"{PREFIX}phase", "1 for the current phase of a link.", ["link", "phase"], phases)


def _of_guards(daemon: Daemon) -> Iterator[Metric]:
    appliers = [watch.receiver for watch in daemon.watches.values()]
    appliers += [guarded.sender for guarded in daemon.guards.values()]
    ends = [((applier.target.link, applier.target.end), applier) for applier in appliers]
    copies = ((end, applier.in_force.copies if applier.in_force else 0) for end, applier in ends)
    text = "Copies per lost packet set at one end of a link."
    yield family(GaugeMetricFamily, f"{PREFIX}copies_applied", text, ["link", "end"], copies)
    failures = ((end, applier.failures) for end, applier in ends)
    yield family(CounterMetricFamily, f"{PREFIX}action_failures", "Actions that failed.", ["link", "end"], failures)
    expired = (([link], guarded.guard.expirations) for link, guarded in daemon.guards.items())
    text = "Requests that expired."
    yield family(CounterMetricFamily, f"{PREFIX}expirations", text, ["link"], expired)
