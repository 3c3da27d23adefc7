"""Figure 5, and its part 5c: bursts of UDP packets of high priority, and how many of them arrive."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from hitless.analysis import REPLICAS_MIN
from hitless.drawing.plot import Plot, Series
from hitless.simulation import Run
from hitless_papers import Context, Exact, Gain, Parts, Point, Replicated, Row, Runs, Tail, exhibit
from hitless_papers.deflection import testbed
from hitless_papers.deflection.response_times import RUNS, ResponseTimes
from hitless_papers.deflection.testbed import Scheme
from hitless_papers.estimates import mean_of
from hitless_papers.judge import Judge

BURSTS, PACKETS = 5, 10_000
"""Section 5.1; "in a 5-second period", so that one comes each second."""
LOADS = (50, 90)
"""Of the background, in percent of the busy server's link."""
FIRST_MS = 1
"""When the first burst comes; until then the background settles."""

_FRAME_BYTES, _PAYLOAD_BYTES = 1_518, 1_472
"""Full frames: the paper says "large" of the background's flows and nothing of the packets."""


def scenario(scheme: Scheme, load: int, period_ms: float) -> Mapping[str, Any]:
    """Background at a constant rate of two servers, and bursts of the third at the rate of its link."""
    rate_gbps = testbed.LINK_GBPS * load / 100 / len(testbed.SENDERS)
    udp = {"kind": "udp", "frame_bytes": f"{_FRAME_BYTES} B"}
    transports = {"slow": {**udp, "rate": f"{rate_gbps:g} Gbps"}, "fast": {**udp, "rate": f"{testbed.LINK_GBPS} Gbps"}}
    background = {
        "name": testbed.LOW,
        "transport": "slow",
        "kind": "constant-rate",
        "sources": list(testbed.SENDERS),
        "destinations": [testbed.BUSY] * len(testbed.SENDERS),
        "rank": testbed.LOW_RANK,
    }
    bursts = {
        "name": testbed.HIGH,
        "transport": "fast",
        "kind": "schedule",
        "start": f"{FIRST_MS} ms",
        "period": f"{period_ms:g} ms",
        "count": BURSTS,
        "sources": [testbed.THIRD],
        "destinations": [testbed.BUSY],
        "sizes": {"kind": "fixed", "bytes": f"{PACKETS * _PAYLOAD_BYTES} B"},
        "rank": testbed.HIGH_RANK,
    }
    length_ms = FIRST_MS + BURSTS * period_ms
    return testbed.scenario(scheme, length_ms, transports, [background, bursts], measure={"order": True})


def delivered_percent(run: Run, group: str = testbed.HIGH) -> float:
    """Return the share of sent packets of a group that the network did not lose; NaN if none were sent.

    It counts losses, not arrivals: the transport ends with its last packet, when 12 MB can be in a queue.
    """
    flows = run.table("flows").filter(pl.col("group") == group)
    sent = int(flows["packets_sent"].sum())
    return 100 * (1 - int(flows["network_packets_lost"].sum()) / sent) if sent else math.nan


_NO_GAIN = 0.05
"""How near "fails to provide any improvement" is to 1."""


class Bursts(Replicated):
    _RATIOS: ClassVar[Sequence[tuple[Sequence[Scheme], Scheme, int, float, Judge]]] = (
        (testbed.PREEMPTIVE, testbed.DROP_TAIL, 90, 1.23, Gain(better="higher")),
        (testbed.PREEMPTIVE, testbed.SIMPLE, 90, 1.24, Gain(better="higher")),
        (testbed.PREEMPTIVE, testbed.LARGE, 90, 1.35, Gain()),
        ((testbed.SIMPLE,), testbed.DROP_TAIL, 50, 1.05, Gain(better="higher")),
        ((testbed.SIMPLE,), testbed.DROP_TAIL, 90, 1.0, Exact(_NO_GAIN)),
        ((testbed.LARGE,), testbed.DROP_TAIL, 50, 1.05, Gain()),
    )
    """Packets that arrive under each of the first over those under the second, in the paper."""

    def points(self, context: Context) -> Iterable[Point]:
        count = context.length("runs", full=RUNS, normal=RUNS, quick=REPLICAS_MIN)
        period_ms = context.length("ms for each burst", full=1_000, normal=100, quick=25)
        of = ((scheme, load) for load in LOADS for scheme in testbed.COMPARED)
        cases = {f"bursts {scheme.name} {load}": scenario(scheme, load, period_ms) for scheme, load in of}
        return self.replicated(count, cases, keep=("flows", "mechanisms"))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for load in LOADS:
            for scheme in testbed.COMPARED:
                is_pd, x = scheme in testbed.PREEMPTIVE, f"{load} % background"
                paper, rule, note = (100.0, Exact(), testbed.ALPHA_NOTE) if is_pd else (None, None, "")
                mean, metric = mean_of(self._delivered(runs, scheme, load)), "packets of bursts that arrive"
                yield mean.row(scheme.name, x, metric, paper, rule, unit="%", note=note)
        for schemes, below, load, paper, judge in self._RATIOS:
            for above in schemes:
                pairs = zip(self._delivered(runs, above, load), self._delivered(runs, below, load), strict=True)
                over = mean_of([first / second if second else math.nan for first, second in pairs])
                metric = f"packets of bursts that arrive, over {below.name}"
                note = testbed.ALPHA_NOTE if above in testbed.PREEMPTIVE else ""
                yield over.row(above.name, f"{load} % background", metric, paper, judge, note=note)
        for load in LOADS:
            for scheme in testbed.COMPARED:
                mean = mean_of(self._delivered(runs, scheme, load, testbed.LOW))
                metric = "packets of the background that arrive"
                yield mean.row(scheme.name, f"{load} % background", metric, unit="%")

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        names = [f"{load} %" for load in LOADS]
        series = []
        for scheme in testbed.COMPARED:
            values = [mean_of(self._delivered(runs, scheme, load)).value for load in LOADS]
            series.append(Series(scheme.name, names, values, style="bars"))
        yield Plot("Packets of high priority that arrive", "background", "share (%)", series)

    def _delivered(self, runs: Runs, scheme: Scheme, load: int, group: str = testbed.HIGH) -> list[float]:
        return [delivered_percent(run, group) for run in self.each(runs, f"bursts {scheme.name} {load}")]


@exhibit("pd/fig5", title="Testbed: response times beside bulk flows, and UDP bursts that arrive")
class Figure5(Parts):
    tail = Tail(
        "responses beside bulk flows",
        (testbed.DROP_TAIL.name, f"requests {testbed.DROP_TAIL.name} 0"),
        (testbed.QUANTILE.name, f"requests {testbed.QUANTILE.name} 0"),
        testbed.HIGH,
    )
    parts = (ResponseTimes, Bursts)
