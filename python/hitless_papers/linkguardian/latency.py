"""Completion times of flows of one packet (paper, section 4.3, figure 10).

One message after the other at 100G: over a connection of its own each with DCTCP, as in the authors' scripts, and over
one connection with RDMA. The one segment of a flow is on its way before the program closes, so it carries no FIN. A
message is one data packet, so the share of messages that meet
a loss is the loss rate itself: at "about 1e-3" the 99.9th percentile lies on the edge between those that do and those
that do not. The runs use 1.16e-3, what the authors measured for it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hitless.analysis.serial import too_few_beyond
from hitless.drawing.plot import Plot, tail_series
from hitless.simulation import Run
from hitless_papers import Context, Exact, Exhibit, Gain, Point, Row, Runs, Unjudged, above_one, exhibit
from hitless_papers.estimates import percentile_of, ratio_of
from hitless_papers.judge import Decided, Judge
from hitless_papers.linkguardian import basis, testbed
from hitless_papers.statements import resting_on

_TRANSPORTS: Mapping[str, Mapping[str, Any]] = {
    "DCTCP": testbed.DCTCP,
    "RDMA": {"kind": "roce", "timeout": "1 ms"},
}
_PAPER_GAIN = {"DCTCP": 51.0, "RDMA": 66.0}
_WHY = {
    "DCTCP": "loss waits for the RTO, 1 ms + SRTT rounded up to kernel ticks; no loss, for the kernel's jitter",
    "RDMA": "loss waits for the NIC's timeout of 1 ms; no loss, for the card's jitter",
}
_RESTS_ON = {"DCTCP": basis.KERNEL_NOTE, "RDMA": basis.CARD_NOTE}
UNBOUNDED = "too few trials to bound this percentile from above"


def completion_us(run: Run) -> list[float]:
    """Microseconds from the write of each complete message to the sender's knowledge that all has arrived."""
    messages = run.completed_messages()
    times: list[float] = ((messages["acknowledged_ps"] - messages["started_ps"]) / 1e6).to_list()
    return times


def slower(slow: Sequence[float], fast: Sequence[float], percent: float, apart: float) -> Judge:
    """Does the ratio of a percentile of two samples show the first to be slower?

    ``apart`` is the share by which it must be able to be slower (`above_one`). Resampling cannot go beyond the largest
    values seen, so it has no say where the trials do not bound a percentile.
    """
    if not is_bounded(slow, fast, percent=percent):
        return Unjudged(UNBOUNDED)
    ratio = ratio_of(slow, fast, percent)
    return Decided(judge := above_one("the first is slower", apart), judge.judge(ratio.value, None, ratio.interval))


def is_bounded(*samples: Sequence[float], percent: float) -> bool:
    """Do the trials bound a percentile of every sample from above?"""
    return not any(too_few_beyond(len(sample), percent) for sample in samples)


@exhibit("lg/fig10", title="Completion times of 143 B flows at 100G and a loss of 1e-3", headline=True)
class Figure10(Exhibit):
    """300,000 trials of each; LG and LG_NB cannot be told from no loss."""

    def points(self, context: Context) -> Iterable[Point]:
        trials = context.length("trials", full=300_000, quick=300_000)
        requests = {"kind": "requests", "size": "143 B", "count": trials, "gap": "10 us"}
        for transport, settings in _TRANSPORTS.items():
            flows = testbed.trials(143, trials) if transport == "DCTCP" else requests
            for label, (scheme, loss) in testbed.SERIES.items():
                made = testbed.scenario(100, name="trials", transport=settings, flows=flows, loss=loss, scheme=scheme)
                yield Point(f"{transport} {label}", made, keep=("messages",))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for transport in _TRANSPORTS:
            yield from resting_on(self._transport(transport, runs), _RESTS_ON[transport])

    def _transport(self, transport: str, runs: Runs) -> Iterator[Row]:
        times = {label: completion_us(runs[f"{transport} {label}"]) for label in testbed.SERIES}
        shares = {label: basis.share(label, runs[f"{transport} {label}"]) for label in testbed.SERIES}
        for label, sample in times.items():
            p999 = percentile_of(sample, 99.9)
            yield p999.row(label, transport, "p99.9 FCT", unit="us", completed=(shares[label],))
        for scheme in testbed.MODES:
            over, both = ratio_of(times[scheme], times["no loss"], 99.9), (shares[scheme], shares["no loss"])
            yield over.row(scheme, transport, "p99.9 FCT over no loss", 1.0, Exact(0.05), completed=both)
            gain, both = ratio_of(times["loss"], times[scheme], 99.9), (shares["loss"], shares[scheme])
            paper, judge, why = _PAPER_GAIN[transport], Gain(better="higher"), _WHY[transport]
            yield gain.row(scheme, transport, "p99.9 FCT, loss over it", paper, judge, note=why, completed=both)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for transport in _TRANSPORTS:
            series = [tail_series(label, completion_us(runs[f"{transport} {label}"])) for label in testbed.SERIES]
            title = f"{transport}, 143 B, 100G"
            yield Plot(title, "FCT (us)", "share of flows at or above", series, x_scale="log", y_scale="log")
