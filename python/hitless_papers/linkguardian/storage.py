"""Completion times of 2 MB flows (paper, section 4.3, figure 12).

2 MB is the largest flow of the Alibaba storage workload: 1,382 packets, of which some flow in five loses none. The
paper does not say how many trials it made; it takes 3,688 to bound a 99.9th percentile from above.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hitless.checking import Fields
from hitless.drawing.plot import Plot, tail_series
from hitless_papers import Context, Exact, Exhibit, Gain, Point, Row, Runs, exhibit
from hitless_papers.estimates import percent_of, percentile_of, ratio_of
from hitless_papers.judge import Judge, Unjudged
from hitless_papers.linkguardian import basis, testbed
from hitless_papers.linkguardian.latency import UNBOUNDED, completion_us, is_bounded
from hitless_papers.statements import resting_on

_BYTES = 2_000_000
_PACKETS = 1_382
_NOMINAL_LOSS = 1e-3
_PAPER_GAIN = {"LG": 4.0, "LG_NB": 2.0}
_PAPER_NON_BLOCKING_OVER_LG = 2.0
"""The quotient of the two gains."""
_AFFECTED_PERCENT = 80.0
_NO_UNDO = "LG_NB, no undo"
_WHY = (
    "a needless retransmission ends slow start; a window that is not restored then grows by a packet a round trip, and "
    "how soon senders find out decides the tail of LG_NB"
)


def _storage(scheme: str, loss: float, transport: Mapping[str, Any], trials: int) -> Fields:
    flows = testbed.trials(_BYTES, trials)
    return testbed.scenario(100, name="storage", transport=transport, flows=flows, loss=loss, scheme=scheme)


@exhibit("lg/fig12", title="Completion times of 2 MB DCTCP flows at 100G and a loss of 1e-3")
class Figure12(Exhibit):
    """What LG and LG_NB gain at the 99.9th percentile, and how many flows meet a loss."""

    rests_on = basis.KERNEL_NOTE

    def points(self, context: Context) -> Iterable[Point]:
        trials = context.length("trials", full=20_000, normal=5_000, quick=4_000)
        keep = ("messages", "flows")
        for label, (scheme, loss) in testbed.SERIES.items():
            yield Point(label, _storage(scheme, loss, testbed.CLOSING, trials), keep=keep)
        without_undo = {**testbed.CLOSING, "dsack_undo": False}
        yield Point(_NO_UNDO, _storage("LG_NB", testbed.MEASURED_LOSS, without_undo, trials), keep=keep)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        shares = tuple(basis.share(label, runs[label]) for label in (*testbed.SERIES, _NO_UNDO))
        return resting_on(self._all(runs), completed=shares)

    def _all(self, runs: Runs) -> Iterator[Row]:
        times = {label: completion_us(runs[label]) for label in testbed.SERIES}
        for label, sample in times.items():
            for share in (50.0, 99.0, 99.9):
                yield percentile_of(sample, share).row(label, "DCTCP", f"p{share:g} FCT", unit="us")
        for scheme, paper in _PAPER_GAIN.items():
            gain, note = ratio_of(times["loss"], times[scheme], 99.9), _WHY if scheme == "LG_NB" else ""
            yield gain.row(scheme, "DCTCP", "p99.9 FCT, loss over it", paper, Gain(better="higher"), note=note)
        over = ratio_of(times["LG_NB"], times["LG"], 99.9)
        ordered: Judge = Gain() if is_bounded(times["LG_NB"], times["LG"], percent=99.9) else Unjudged(UNBOUNDED)
        yield over.row("LG_NB", "DCTCP", "p99.9 FCT over LG's", _PAPER_NON_BLOCKING_OVER_LG, ordered)
        yield self._affected(runs)
        without = percentile_of(completion_us(runs[_NO_UNDO]), 99.9)
        yield without.row(_NO_UNDO, "DCTCP", "p99.9 FCT", unit="us", note=_WHY)

    def _affected(self, runs: Runs) -> Row:
        flows = runs["loss"].table("flows")
        lost = int((flows["packets_sent"] > flows["packets_received"]).sum())
        expected = [f"{100 * (1 - (1 - p) ** _PACKETS):.1f} % at {p:g}" for p in (testbed.MEASURED_LOSS, _NOMINAL_LOSS)]
        note = f"1 - (1 - p)^{_PACKETS} is {' and '.join(expected)}, which the paper calls the rate"
        share, metric = percent_of(lost, len(flows)), "flows that lost a packet"
        return share.row("loss", "DCTCP", metric, _AFFECTED_PERCENT, Exact(0.05), unit="%", note=note)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = [tail_series(label, completion_us(runs[label])) for label in testbed.SERIES]
        title = "DCTCP, 2 MB, 100G"
        yield Plot(title, "FCT (us)", "share of flows at or above", series, x_scale="log", y_scale="log")
