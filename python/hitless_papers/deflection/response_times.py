"""Figure 5b: response times of a key-value store, on a link to the client that is full of bulk data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from hitless.analysis import REPLICAS_MIN
from hitless.drawing.plot import Plot, tail_series
from hitless.simulation import Run
from hitless_papers import Context, Exact, Gain, Point, Range, Replicated, Row, Runs, Unjudged
from hitless_papers.deflection import outcomes, testbed
from hitless_papers.deflection.setting import reduced
from hitless_papers.deflection.statistics import Durations, complete_share
from hitless_papers.deflection.testbed import Scheme
from hitless_papers.estimates import mean_of
from hitless_papers.judge import Direction, Judge

REQUESTS_PER_SECOND = 500_000
REQUEST_BYTES, ANSWER_BYTES = 100, 1_000
"""Section 5.1 has neither: a key of some tens of bytes with what the protocol adds, and a value of a common size."""
THINK = {"mean": "10 us", "deviation": "2 us"}
"""An assumption."""
LONG_THINK = {"mean": "150 us", "deviation": "130 us"}
"""Servers that take longer, in separate rows: **calibrated** once, on the ratios to PD, which are no evidence
there. The ratios to Simple and to 12 MB were not looked at."""
STREAMS = 8
"""Flows of each of the two Iperf instances: one for each core of the servers' processor. **Calibrated** on "totaling up
to 35 Gbps" in section 5.1: with a single one each, 80 KB at the port leave 27 Gbps."""
BACKGROUND_MS = 100
"""How long the background has been sending when the requests begin."""
TIMEOUT_MS = 200
"""Minimum timeout of Linux: a request this late lost its last packet."""
RUNS = 5
"""Section 5.1: "averaged over 5 runs"."""

SCHEMES = (*testbed.COMPARED, testbed.ALONE)
TABLES = ("messages", "flows", "throughput", "mechanisms")

_RATIOS: Sequence[tuple[Scheme, Sequence[Scheme], float, Direction | None]] = (
    (testbed.DROP_TAIL, testbed.QUANTILES, 425, "higher"),
    (testbed.SIMPLE, testbed.QUANTILES, 51, "higher"),
    (testbed.LARGE, testbed.QUANTILES, 199, None),
    (testbed.DROP_TAIL, testbed.DISTRIBUTIONS, 437, "higher"),
    (testbed.DROP_TAIL, (testbed.SIMPLE,), 8, "higher"),
)
"""Ratio of p99 between the first and each of the second, in the paper."""
_SLOW_SCHEMES = (
    testbed.DROP_TAIL,
    testbed.LARGE,
    testbed.SIMPLE,
    testbed.QUANTILE,
    testbed.DISTRIBUTION,
    testbed.ALONE,
)
_NOTHING = 0.05
"""Tolerance around the paper's 1.0059: bulk flows do not slow the requests."""
_ONE_STREAM = Scheme("no deflection, 2 bulk flows")
"""Fewer flows lose fewer packets: what decides whether p99 is a timeout."""
_NOT_JUDGED = Unjudged()
_CALIBRATED = Unjudged("the servers' time is calibrated once on such ratios")
_X = f"{REQUESTS_PER_SECOND:,} requests/s"
_SLOW_X = f"{_X}, servers that take {LONG_THINK['mean']}"


def scenario(
    scheme: Scheme, requests_ms: float, streams: int = STREAMS, think: Mapping[str, str] = THINK
) -> Mapping[str, Any]:
    """Bulk flows of two servers to the busy one, and answers of the third to its requests."""
    return testbed.scenario(
        scheme,
        BACKGROUND_MS + requests_ms,
        {"tcp": testbed.TCP},
        [_background(streams), _requests(think)],
        measure={"throughput": [{"links": [testbed.BUSY_PORT], "period": "10 ms"}]},
    )


def _background(streams: int) -> Mapping[str, Any]:
    """Flows that take what they can get, as Iperf does."""
    return {
        "name": testbed.LOW,
        "transport": "tcp",
        "kind": "long",
        "sources": list(testbed.SENDERS) * streams,
        "destinations": [testbed.BUSY] * len(testbed.SENDERS) * streams,
        "rank": testbed.LOW_RANK,
    }


def _requests(think: Mapping[str, str]) -> Mapping[str, Any]:
    """Each request alone on its connection, which is open, as of clients that wait for each answer.

    The answers, not the requests, share a link with the background: so the background gets what the paper says.
    """
    return {
        "name": testbed.HIGH,
        "transport": "tcp",
        "kind": "poisson",
        "start": f"{BACKGROUND_MS} ms",
        "flows_per_second": REQUESTS_PER_SECOND,
        "sources": [testbed.THIRD],
        "destinations": [testbed.BUSY],
        "sizes": {"kind": "fixed", "bytes": f"{ANSWER_BYTES} B"},
        "request": {"size": f"{REQUEST_BYTES} B", "think": think},
        "rank": testbed.HIGH_RANK,
    }


@dataclass(frozen=True, eq=False)
class Responses:
    run: Run

    @cached_property
    def times(self) -> Durations:
        """From a request to the last byte of its answer."""
        return outcomes.requested(self.run, testbed.HIGH)

    @property
    def p99_us(self) -> float:
        """What 1 % of the requests exceed; those without an answer at the end have waited until then at least."""
        return 1e6 * (self.times.whole_percentile_s(99) or float("nan"))

    @property
    def median_us(self) -> float:
        return 1e6 * (self.times.whole_percentile_s(50) or float("nan"))

    @property
    def timed_out_percent(self) -> float:
        return 100 * float(np.mean(self.times.lasted_s >= TIMEOUT_MS / 1e3))

    @property
    def background_gbps(self) -> float:
        """What of the background was delivered while there were requests, payload."""
        flows = self.run.table("flows").filter(pl.col("group") == testbed.LOW)
        return float(flows["delivered_bytes"].sum()) * 8 / 1e9 / float(self.run.summary["simulated_s"])


class ResponseTimes(Replicated):
    def points(self, context: Context) -> Iterable[Point]:
        count = context.length("runs", full=RUNS, normal=RUNS, quick=REPLICAS_MIN)
        requests_ms = context.length("ms of requests", full=5_000, normal=1_000, quick=220)
        cases = {f"requests {scheme.name}": scenario(scheme, requests_ms) for scheme in SCHEMES}
        cases[f"requests {_ONE_STREAM.name}"] = scenario(testbed.DROP_TAIL, requests_ms, streams=1)
        for scheme in _SLOW_SCHEMES:
            cases[f"slow servers {scheme.name}"] = scenario(scheme, requests_ms, think=LONG_THINK)
        return self.replicated(count, cases, keep=TABLES, reduce=reduced)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        p99 = {scheme.name: [of.p99_us for of in self._of(runs, scheme)] for scheme in SCHEMES}
        for above, schemes, paper, better in _RATIOS:
            for below in schemes:
                yield _ratio((above, below), p99, paper, Gain(better=better))
        for scheme in testbed.QUANTILES:
            yield _ratio((scheme, testbed.ALONE), p99, 1.0059, Exact(_NOTHING))
        for scheme in testbed.DISTRIBUTIONS:
            yield _ratio((scheme, testbed.ALONE), p99)
        for scheme in (*SCHEMES, _ONE_STREAM):
            yield from self._scheme(scheme, self._of(runs, scheme))
        yield from self._slow(runs)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = [tail_series(scheme.name, 1e6 * self._of(runs, scheme)[0].times.lasted_s) for scheme in SCHEMES]
        yield Plot("Response times", "time (us)", "share of requests above", series, x_scale="log", y_scale="log")

    def _slow(self, runs: Runs) -> Iterator[Row]:
        """The ratios of figure 5b with servers that take longer."""
        of = {
            scheme.name: [Responses(run) for run in self.each(runs, f"slow servers {scheme.name}")]
            for scheme in _SLOW_SCHEMES
        }
        p99 = {name: [each.p99_us for each in responses] for name, responses in of.items()}
        pairs = [(above, below, paper) for above, schemes, paper, _ in _RATIOS for below in schemes]
        for above, below, paper in (*pairs, (testbed.QUANTILE, testbed.ALONE, 1.0059)):
            if below in _SLOW_SCHEMES:
                yield replace(_ratio((above, below), p99, paper, _CALIBRATED), x=_SLOW_X)
        for scheme in _SLOW_SCHEMES:
            yield replace(_mean_row(scheme, "p99 response time", "us", p99[scheme.name]), x=_SLOW_X)

    def _scheme(self, scheme: Scheme, runs: Sequence[Responses]) -> Iterator[Row]:
        yield _mean_row(scheme, "p99 response time", "us", [run.p99_us for run in runs])
        yield _mean_row(scheme, "median response time", "us", [run.median_us for run in runs])
        metric = f"requests that took {TIMEOUT_MS} ms or more"
        yield _mean_row(scheme, metric, "%", [run.timed_out_percent for run in runs])
        yield _mean_row(scheme, "requests answered", "%", [100 * (complete_share(run.times) or 0.0) for run in runs])
        if scheme.has_background:
            row = _mean_row(scheme, "background", "Gbps", [run.background_gbps for run in runs])
            calibrated = Unjudged(f"the {STREAMS} flows of each sender are calibrated on it")
            is_calibrated = scheme is testbed.DROP_TAIL
            yield replace(row, paper=Range(high=35.0), judge=calibrated) if is_calibrated else row

    def _of(self, runs: Runs, scheme: Scheme) -> list[Responses]:
        return [Responses(run) for run in self.each(runs, f"requests {scheme.name}")]


def _ratio(
    pair: tuple[Scheme, Scheme],
    values: Mapping[str, Sequence[float]],
    paper: float | None = None,
    judge: Judge = _NOT_JUDGED,
) -> Row:
    above, below = pair
    note = testbed.ALPHA_NOTE if {above, below} & set(testbed.PREEMPTIVE) else ""
    ratios = [first / second for first, second in zip(values[above.name], values[below.name], strict=True)]
    return mean_of(ratios).row(above.name, _X, f"p99 response time over that of {below.name}", paper, judge, note=note)


def _mean_row(scheme: Scheme, metric: str, unit: str, values: Sequence[float]) -> Row:
    return mean_of(values).row(scheme.name, _X, metric, unit=unit)
