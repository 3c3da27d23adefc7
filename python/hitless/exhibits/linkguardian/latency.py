"""Completion times of flows of one packet (paper, section 4.3, figure 10).

One connection, one message after the other, at 100G. A message is one data packet, so the share of messages that meet
a loss is the loss rate itself: at "about 1e-3" the 99.9th percentile lies on the edge between those that do and those
that do not. The runs use 1.16e-3, what the authors measured for it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hitless.analysis import Interval, percentile, percentile_interval, percentile_ratio
from hitless.exhibits import Context, Exact, Exhibit, Gain, Point, Row, Runs, Unjudged, above_one, exhibit
from hitless.exhibits.judge import Judge
from hitless.exhibits.linkguardian import testbed
from hitless.plot import Plot, tail_series
from hitless.simulation import Run

_TRANSPORTS: Mapping[str, Mapping[str, Any]] = {
    "DCTCP": testbed.DCTCP,
    "RDMA": {"kind": "roce", "timeout": "1 ms"},
}
_PAPER_GAIN = {"DCTCP": 51.0, "RDMA": 66.0}
_WHY = {
    "DCTCP": "loss waits for the RTO, 1 ms + SRTT rounded up to kernel ticks; no loss, for the kernel's jitter, fitted "
    "to table 2",
    "RDMA": "loss waits for the NIC's timeout of 1 ms; no loss, for the jitter of the card, which is assumed",
}
_RESAMPLES = 1_000
_SCHEMES = {"no loss": ("none", 0.0), "loss": ("none", testbed.MEASURED_LOSS)} | {
    scheme: (scheme, testbed.MEASURED_LOSS) for scheme in testbed.MODES
}


def completion_us(run: Run) -> list[float]:
    """Microseconds from the write of each complete message to the sender's knowledge that all has arrived."""
    messages = run.completed_messages()
    times: list[float] = ((messages["acknowledged_ps"] - messages["started_ps"]) / 1e6).to_list()
    return times


def slower(slow: Sequence[float], fast: Sequence[float], percent: float, apart: float) -> tuple[float, Interval, Judge]:
    """The ratio of a percentile of two samples, its interval, and whether that shows the first to be slower.

    ``apart`` is the share by which it must be able to be slower (`above_one`). Resampling cannot go beyond the largest
    values seen, so it has no say where the trials do not bound a percentile.
    """
    ratio, interval = percentile_ratio(slow, fast, percent, resamples=_RESAMPLES)
    if not all(math.isfinite(percentile_interval(sample, percent).high) for sample in (slow, fast)):
        return ratio, interval, Unjudged()
    return ratio, interval, above_one(interval, "the first is slower", apart)


@exhibit("lg/fig10", title="Completion times of 143 B flows at 100G and a loss of 1e-3", headline=True)
class Figure10(Exhibit):
    """300,000 trials of each; LG and LG_NB cannot be told from no loss."""

    def points(self, context: Context) -> Iterable[Point]:
        trials = context.length("trials", full=300_000, quick=300_000)
        flows = {"kind": "requests", "size": "143 B", "count": trials, "gap": "10 us"}
        for transport, settings in _TRANSPORTS.items():
            for label, (scheme, loss) in _SCHEMES.items():
                made = testbed.scenario(100, name="trials", transport=settings, flows=flows, loss=loss, scheme=scheme)
                yield Point(f"{transport} {label}", made, keep=("messages",))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for transport in _TRANSPORTS:
            times = {label: completion_us(runs[f"{transport} {label}"]) for label in _SCHEMES}
            for label, sample in times.items():
                interval = percentile_interval(sample, 99.9)
                yield Row(label, transport, "p99.9 FCT", "us", percentile(sample, 99.9), interval=interval)
            for scheme in testbed.MODES:
                over, interval = percentile_ratio(times[scheme], times["no loss"], 99.9, resamples=_RESAMPLES)
                judge = Exact(0.05)
                yield Row(scheme, transport, "p99.9 FCT over no loss", "times", over, 1.0, interval, judge)
                gain, interval = percentile_ratio(times["loss"], times[scheme], 99.9, resamples=_RESAMPLES)
                yield Row(
                    scheme,
                    transport,
                    "p99.9 FCT, loss over it",
                    "times",
                    gain,
                    _PAPER_GAIN[transport],
                    interval,
                    Gain(better="higher"),
                    _WHY[transport],
                )

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for transport in _TRANSPORTS:
            series = [tail_series(label, completion_us(runs[f"{transport} {label}"])) for label in _SCHEMES]
            title = f"{transport}, 143 B, 100G"
            yield Plot(title, "FCT (us)", "share of flows at or above", series, x_scale="log", y_scale="log")
