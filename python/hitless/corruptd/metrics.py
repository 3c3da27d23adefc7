"""What Prometheus may see."""

import threading
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from hitless.corruptd.daemon import Daemon, Guarded, Watch
from hitless.corruptd.detection import Phase

PREFIX = "hitless_corruptd_"


class DaemonCollector(Collector):
    """Reads a daemon when somebody asks; ``lock`` keeps it from being in the middle of a step."""

    def __init__(self, daemon: Daemon, lock: threading.Lock) -> None:
        self.daemon = daemon
        self._lock = lock

    def collect(self) -> Iterator[Metric]:
        """Every metric, as of now."""
        with self._lock:
            metrics = [*_of_daemon(self.daemon), *_of_watches(self.daemon), *_of_guards(self.daemon)]
        yield from metrics


def _of_daemon(daemon: Daemon) -> Iterator[Metric]:
    tally = daemon.tally
    yield CounterMetricFamily(f"{PREFIX}polls", "Polls of the counters.", value=tally.polls)
    yield CounterMetricFamily(f"{PREFIX}messages_sent", "Messages that somebody received.", value=tally.sent)
    yield CounterMetricFamily(f"{PREFIX}messages_unsent", "Messages that nobody received.", value=tally.unsent)
    received = CounterMetricFamily(f"{PREFIX}messages_received", "Messages, by what became of them.", labels=["fate"])
    for fate in ("accepted", "duplicate", "stale", "foreign"):
        received.add_metric([fate], tally.received[fate])
    received.add_metric(["invalid"], tally.refused)
    yield received
    yield GaugeMetricFamily(f"{PREFIX}bus_connected", "1 when messages can pass.", value=int(daemon.bus.is_connected))


def _of_watches(daemon: Daemon) -> Iterator[Metric]:
    def counter(name: str, text: str) -> CounterMetricFamily:
        return CounterMetricFamily(PREFIX + name, text, labels=["link"])

    def gauge(name: str, text: str) -> GaugeMetricFamily:
        return GaugeMetricFamily(PREFIX + name, text, labels=["link"])

    loss_rate = gauge("loss_rate", "Present loss rate of a link that ends here.")
    frames = gauge("window_frames", "Frames in the moving window.")
    bad = gauge("window_bad_frames", "Corrupted frames in the moving window.")
    wanted = gauge("copies_wanted", "Copies per lost packet that are asked for; 0 is off.")
    acknowledged = gauge("acknowledged", "1 when the upstream switch has done what was asked.")
    readable = gauge("counters_readable", "1 when the last reading of the counters succeeded.")
    received = counter("frames", "Frames received while watched, good and bad.")
    corrupted = counter("bad_frames", "Corrupted frames received while watched.")
    errors = counter("read_errors", "Readings that failed.")
    restarts = counter("counter_restarts", "Times that the counters began anew.")
    fec = gauge("fec_uncorrectable_blocks", "Uncorrectable blocks, as the port counts them.")
    phase = GaugeMetricFamily(f"{PREFIX}phase", "1 for what is thought of a link.", labels=["link", "phase"])
    for link, watch in daemon.watches.items():
        window, setting = watch.detector.window, watch.detector.decision.setting
        loss_rate.add_metric([link], watch.detector.loss_rate)
        frames.add_metric([link], window.frames)
        bad.add_metric([link], window.bad)
        wanted.add_metric([link], setting.copies if setting else 0)
        acknowledged.add_metric([link], int(watch.requester.is_acknowledged))
        readable.add_metric([link], int(not watch.error))
        received.add_metric([link], watch.detector.frames_seen)
        corrupted.add_metric([link], watch.detector.bad_seen)
        errors.add_metric([link], watch.read_errors)
        restarts.add_metric([link], watch.detector.restarts)
        for known in Phase:
            phase.add_metric([link, known.value], int(watch.detector.decision.phase is known))
        _add_fec(fec, watch)
    yield from (
        loss_rate,
        frames,
        bad,
        wanted,
        acknowledged,
        readable,
        received,
        corrupted,
        errors,
        restarts,
        fec,
        phase,
    )


def _add_fec(metric: GaugeMetricFamily, watch: Watch) -> None:
    last = watch.detector.last
    if last is not None and last.fec_uncorrectable is not None:
        metric.add_metric([watch.link], last.fec_uncorrectable)


def _of_guards(daemon: Daemon) -> Iterator[Metric]:
    copies = GaugeMetricFamily(
        f"{PREFIX}copies_applied", "Copies per lost packet that one end of a link was set to.", labels=["link", "end"]
    )
    failures = CounterMetricFamily(f"{PREFIX}action_failures", "Actions that failed.", labels=["link", "end"])
    expired = CounterMetricFamily(f"{PREFIX}expirations", "Requests that ran out unrefreshed.", labels=["link"])
    ends = [watch.receiver for watch in daemon.watches.values()]
    ends += [guarded.sender for guarded in daemon.guards.values()]
    for applier in ends:
        labels = [applier.target.link, applier.target.end]
        copies.add_metric(labels, applier.in_force.copies if applier.in_force else 0)
        failures.add_metric(labels, applier.failures)
    for link, guarded in daemon.guards.items():
        expired.add_metric([link], _expirations(guarded))
    yield from (copies, failures, expired)


def _expirations(guarded: Guarded) -> int:
    return guarded.guard.expirations
