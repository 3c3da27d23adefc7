"""Figure 5c: bursts of UDP packets of high priority, and how many of them arrive."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from hitless.exhibits import Context, Exact, Gain, Point, Row, Runs, Unjudged
from hitless.exhibits.deflection import testbed
from hitless.exhibits.deflection.response_times import RUNS, mean_of
from hitless.exhibits.deflection.testbed import Scheme
from hitless.plot import Plot, Series
from hitless.simulation import Run

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
    transports = {
        "slow": {**udp, "rate": f"{rate_gbps:g} Gbps"},
        "fast": {**udp, "rate": f"{testbed.LINK_GBPS} Gbps"},
    }
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
    """Packets of a group that the network did not lose, of those sent.

    Not those that the transport was given: it does not wait for what is in a queue of 12 MB when the last is sent.
    """
    flows = run.table("flows").filter(pl.col("group") == group)
    return 100 * (1 - int(flows["network_packets_lost"].sum()) / max(1, int(flows["packets_sent"].sum())))


_MORE = Gain(better="higher")


class Bursts:
    """Its runs and rows."""

    _RATIOS: ClassVar[Sequence[tuple[Scheme, Scheme, int, float]]] = (
        (testbed.QUANTILE, testbed.DROP_TAIL, 90, 1.23),
        (testbed.QUANTILE, testbed.SIMPLE, 90, 1.24),
        (testbed.QUANTILE, testbed.LARGE, 90, 1.35),
        (testbed.SIMPLE, testbed.DROP_TAIL, 50, 1.05),
        (testbed.LARGE, testbed.DROP_TAIL, 50, 1.05),
    )
    """Packets that arrive under the first over those under the second, in the paper."""

    def points(self, context: Context) -> Iterator[Point]:
        """Each scheme at each load."""
        self._runs = context.length("runs", full=RUNS, normal=RUNS, quick=2)
        period_ms = context.length("ms for each burst", full=1_000, normal=100, quick=25)
        for replica in range(self._runs):
            for load in LOADS:
                for scheme in testbed.COMPARED:
                    made = scenario(scheme, load, period_ms)
                    yield Point(_key(scheme, load, replica), made, replica, keep=("flows", "mechanisms"))

    def rows(self, runs: Runs) -> Iterator[Row]:
        """What arrives, then the paper's quotients."""
        for load in LOADS:
            for scheme in testbed.COMPARED:
                is_paper = scheme in (testbed.QUANTILE, testbed.DISTRIBUTION)
                judge = Exact() if is_paper else Unjudged()
                value, interval = mean_of(self._delivered(runs, scheme, load))
                paper = 100.0 if is_paper else None
                metric = "packets of bursts that arrive"
                yield Row(scheme.name, f"{load} % background", metric, "%", value, paper, interval, judge)
        for above, below, load, paper_ratio in self._RATIOS:
            pairs = zip(self._delivered(runs, above, load), self._delivered(runs, below, load), strict=True)
            value, interval = mean_of([first / second for first, second in pairs])
            metric = f"packets of bursts that arrive, over {below.name}"
            yield Row(above.name, f"{load} % background", metric, "times", value, paper_ratio, interval, _MORE)
        for load in LOADS:
            for scheme in testbed.COMPARED:
                value, interval = mean_of(self._delivered(runs, scheme, load, testbed.LOW))
                metric = "packets of the background that arrive"
                yield Row(scheme.name, f"{load} % background", metric, "%", value, interval=interval)

    def plots(self, runs: Runs) -> Iterator[Plot]:
        """Bars by load."""
        names = [f"{load} %" for load in LOADS]
        series = []
        for scheme in testbed.COMPARED:
            values = [mean_of(self._delivered(runs, scheme, load))[0] for load in LOADS]
            series.append(Series(scheme.name, names, values, style="bars"))
        yield Plot("Packets of high priority that arrive", "background", "share (%)", series)

    def _delivered(self, runs: Runs, scheme: Scheme, load: int, group: str = testbed.HIGH) -> list[float]:
        return [delivered_percent(runs[_key(scheme, load, replica)], group) for replica in range(self._runs)]


def _key(scheme: Scheme, load: int, replica: int) -> str:
    return f"bursts {scheme.name} {load} {replica}"
