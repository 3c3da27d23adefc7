"""Flows that share one link of 10 Gbps: how fast shares converge, and how fair they are (appendix B).

Each flow has a separate host and passes one link between two switches. Links of hosts have 100 Gbps in figure 14,
where the paper has two hosts, so that the queue is at the switch and not in a network card; 10 Gbps in figure 16.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from hitless.analysis import jain_index
from hitless.analysis.intervals import Numbers
from hitless.checking import Fields
from hitless.drawing.plot import Plot, Series
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Point, Row, Runs, Shape, Unjudged, exhibit, falling
from hitless_papers.afq import schemes
from hitless_papers.afq.schemes import Buffers, Scheme

_GBPS = 10
_BUFFERS = Buffers("512 KB", {_GBPS: "20 packets"})
_TCP_AFQ = Scheme("TCP+AFQ", schemes.TCP, afq=schemes.AFQ)
_TCP_IDEAL = Scheme("TCP+Ideal-FQ", schemes.TCP, flow_queueing={"kind": "ideal-fq"})


def scenario(
    name: str,
    scheme: Scheme,
    flows: Sequence[Mapping[str, Any]],
    *,
    hosts: int,
    rtt_us: float,
    duration: str,
    host_gbps: int,
    measure: Mapping[str, Any] | None = None,
    buffers: Buffers = _BUFFERS,
) -> Fields:
    """Build ``hosts`` senders, h0 onwards, one bottleneck, and one receiver."""
    delay = f"{round(rtt_us * 1e3 / 6)} ns"
    topology = {
        "kind": "dumbbell",
        "hosts_left": hosts,
        "hosts_right": 1,
        "host_link": {"rate": f"{host_gbps} Gbps", "delay": delay},
        "bottleneck": {"rate": f"{_GBPS} Gbps", "delay": delay},
    }
    of = {"name": name, "duration": duration, "topology": topology, "flows": list(flows), "measure": measure or {}}
    return scheme.scenario(buffers, **of)


_CONVERGENCE = f"{_BUFFERS.per_port} of buffer; {schemes.TCP_NOTE}"
_FLOWS = 5
_SAMPLES = 20
"""In each interval between two changes."""


@exhibit("afq/fig14", title="Convergence: flows start and stop on a link of 10 Gb/s")
class Figure14(Exhibit):
    """Five TCP flows start one after the other, and stop in the same order; drop-tail, AFQ and Ideal-FQ.

    The paper's text does not give the number of flows.
    """

    _SCHEMES = (schemes.DROP_TAIL, _TCP_AFQ, _TCP_IDEAL)

    def points(self, context: Context) -> Iterable[Point]:
        self._step_ms = context.length("ms between two changes", full=1_000, quick=200)
        period = f"{round(1e6 * self._step_ms / _SAMPLES)} ns"
        for scheme in self._SCHEMES:
            made = scenario(
                "convergence",
                scheme,
                [self._flow(number) for number in range(_FLOWS)],
                hosts=_FLOWS,
                rtt_us=10,
                duration=f"{(2 * _FLOWS - 1) * self._step_ms} ms",
                host_gbps=100,
                measure={"flow": [{"group": f"flow {number}", "period": period} for number in range(_FLOWS)]},
            )
            yield Point(scheme.name, made, keep=("flow_progress",))

    def _flow(self, number: int) -> Mapping[str, Any]:
        start, stop = number * self._step_ms, (number + _FLOWS) * self._step_ms
        ends = {"sources": [f"h{number}"], "destinations": [f"h{_FLOWS}"]}
        made = {"name": f"flow {number}", "transport": "transport", "kind": "long", "start": f"{start} ms", **ends}
        return made if number == _FLOWS - 1 else {**made, "stop": f"{stop} ms"}

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        spreads = {scheme.name: self._deviation(runs[scheme.name]) for scheme in self._SCHEMES}
        late = {scheme.name: self._after_a_change(runs[scheme.name]) for scheme in self._SCHEMES}
        tail, afq = spreads["TCP"], spreads["TCP+AFQ"]
        statement = "with AFQ throughputs stay within 5 % of the fair share, and vary five times as much with drop-tail"
        judge = Shape(afq <= 5 and tail >= 5 * afq, statement)
        for name, value in spreads.items():
            of, metric = judge if name == _TCP_AFQ.name else Unjudged(), "standard deviation from the fair share"
            yield Row(name, "all intervals", metric, "%", value, judge=of, note=_CONVERGENCE)
        statement = "with AFQ flows have their fair share at once: within 10 % in the first twentieth of an interval"
        for name, value in late.items():
            metric = "deviation from the fair share right after a change"
            of = Shape(value <= 10, statement) if name == _TCP_AFQ.name else Unjudged()
            yield Row(name, "all changes", metric, "%", value, judge=of, note=_CONVERGENCE)
        for name in spreads:
            for number, share in enumerate(self._utilization(runs[name])):
                yield Row(name, f"interval {number}", "goodput of all flows", "Gb/s", share)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for scheme in self._SCHEMES:
            rates = self._rates_gbps(runs[scheme.name])
            times = [(place + 0.5) * self._step_ms / _SAMPLES / 1e3 for place in range(rates.shape[1])]
            series = [
                Series(f"flow {number}", times, [float(rate) if rate > 0 else None for rate in rates[number]])
                for number in range(_FLOWS)
            ]
            yield Plot(f"Throughput, {scheme.name}", "time (s)", "goodput (Gb/s)", series)

    def _rates_gbps(self, run: Run) -> Numbers:
        columns = (2 * _FLOWS - 1) * _SAMPLES
        sample_s = self._step_ms / _SAMPLES / 1e3
        rates = np.zeros((_FLOWS, columns))
        progress = run.table("flow_progress")
        for number in range(_FLOWS):
            own = progress.filter(pl.col("group") == f"flow {number}")
            place = np.round(own["time_ps"].to_numpy() / 1e12 / sample_s).astype(np.int64)
            delivered = np.full(columns + 1, -1.0)
            delivered[place[place <= columns]] = own["delivered_bytes"].to_numpy()[place <= columns]
            before, after = delivered[:-1], delivered[1:]
            # 0 where the flow was not under way at one of the two samples.
            grown = np.where((before >= 0) & (after >= 0), after - before, 0.0)
            rates[number] = grown * 8 / sample_s / 1e9
        return rates

    def _fair(self) -> Iterator[tuple[int, int, int]]:
        """Each interval with the first and the last of the flows that are under way."""
        for interval in range(2 * _FLOWS - 1):
            yield interval, max(0, interval - _FLOWS + 1), min(_FLOWS - 1, interval)

    def _relative(self, run: Run) -> Iterator[Numbers]:
        """For each interval with several flows the rates over their fair share: flows by samples."""
        rates = self._rates_gbps(run)
        for interval, first, last in self._fair():
            within = rates[first : last + 1, interval * _SAMPLES : (interval + 1) * _SAMPLES]
            if last > first:
                yield within / within.sum(axis=0).mean() * (last - first + 1)

    def _deviation(self, run: Run) -> float:
        """Return percent, without the first sample of each interval."""
        apart = np.concatenate([(relative[:, 1:] - 1).ravel() for relative in self._relative(run)])
        return 100 * float(np.sqrt((apart**2).mean()))

    def _after_a_change(self, run: Run) -> float:
        """Percent, in the second sample of each interval: the first holds the change itself."""
        apart = np.concatenate([(relative[:, 1] - 1).ravel() for relative in self._relative(run)])
        return 100 * float(np.sqrt((apart**2).mean()))

    def _utilization(self, run: Run) -> Iterator[float]:
        rates = self._rates_gbps(run)
        for interval, first, last in self._fair():
            within = rates[first : last + 1, interval * _SAMPLES : (interval + 1) * _SAMPLES]
            yield float(within.sum(axis=0)[1:].mean())


_RTT_US = 25
_BURST_BYTES = 30_000
_OFF_US = 100
"""Each sender sends 30 KB, is silent for 100 us, and so on: the text gives neither."""
_DEFAULT_FLOWS = 512
AMPLE = replace(_BUFFERS, per_port="16 MB")
"""Room for all flows up to the rounds at which they are marked. The text omits the buffer, and finds the sketch to be
the limit. With the 512 KB of a leaf the buffer is the limit: 43 flows of 8 packets fill it, as separate rows show."""

UNFAIRNESS = "1 - Jain's index"
_SHARING = f"{AMPLE.per_port} of buffer, chosen after {_BUFFERS.per_port} was seen; {schemes.TCP_NOTE}"

DCTCP_AFQ = Scheme("AFQ", schemes.DCTCP, afq=schemes.AFQ)
_FAIRNESS = (
    Scheme("drop-tail", schemes.DCTCP, marks=True),
    Scheme("SFQ", schemes.DCTCP, flow_queueing={"kind": "sfq", "queues": 32}, marks=True),
    Scheme("FQ-CoDel", schemes.DCTCP, flow_queueing={"kind": "fq-codel"}),
    DCTCP_AFQ,
    Scheme("Ideal-FQ", schemes.DCTCP, flow_queueing=schemes.IDEAL_FQ),
)


@dataclass(frozen=True)
class Sharing:
    """On-off senders under a scheme."""

    scheme: Scheme
    flows: int
    buffers: Buffers = AMPLE

    @property
    def key(self) -> str:
        return f"{self.scheme.name} {self.flows} flows, {self.buffers.per_port}"

    def scenario(self, duration_ms: int) -> Fields:
        """Build a host for each sender, with starts staggered over a round trip."""
        on_off = {
            "name": "on-off",
            "transport": "transport",
            "kind": "requests",
            "sources": [f"h0..h{self.flows - 1}"],
            "destinations": [f"h{self.flows}"] * self.flows,
            "size": f"{_BURST_BYTES} B",
            "count": 1_000_000,
            "gap": f"{_OFF_US} us",
            "spacing": f"{round(1e3 * _RTT_US / self.flows)} ns",
            "stop": f"{duration_ms} ms",
        }
        return scenario(
            "fairness",
            self.scheme,
            [on_off],
            hosts=self.flows,
            rtt_us=_RTT_US,
            duration=f"{duration_ms} ms",
            host_gbps=_GBPS,
            buffers=self.buffers,
        )


def unfairness(run: Run) -> float:
    """One minus Jain's index of what each flow has delivered."""
    return 1 - jain_index(run.table("flows")["delivered_bytes"].to_numpy().astype(np.float64))


def within_a_burst(run: Run) -> bool:
    """Is no sender more than one burst ahead of another, which on-off senders cannot help?"""
    delivered = run.table("flows")["delivered_bytes"]
    return int(delivered.max()) - int(delivered.min()) <= _BURST_BYTES  # type: ignore[arg-type]


def _by_scheme(runs: Mapping[str, Run], flows: int) -> Iterator[Row]:
    of = {name: unfairness(run) for name, run in runs.items()}
    rivals = {name: value for name, value in of.items() if name not in ("AFQ", "Ideal-FQ")}
    best = min(rivals, key=lambda name: rivals[name])
    statement = f"of {flows:,} flows AFQ is fairer than any other scheme but Ideal-FQ"
    judge: Shape | Unjudged = Shape(of["AFQ"] <= rivals[best], statement)
    if within_a_burst(runs["AFQ"]) and within_a_burst(runs[best]):
        judge = Unjudged(f"with AFQ and {best} no sender is more than a burst ahead of another")
    for name, value in of.items():
        verdict = judge if name == "AFQ" else Unjudged()
        yield Row(name, f"{flows:,} flows", UNFAIRNESS, "", value, judge=verdict, note=_SHARING)


def _judged_last(values: Mapping[str, float], judge: Shape) -> Iterator[Row]:
    """Show unfairness of AFQ by one setting; the last row has the verdict about all."""
    for x, value in values.items():
        of = judge if x == [*values][-1] else Unjudged()
        yield Row("AFQ", f"{x}, {_DEFAULT_FLOWS} flows", UNFAIRNESS, "", value, judge=of, note=_SHARING)


@exhibit("afq/fig16", title="Unfairness: one minus Jain's index, on-off DCTCP senders")
class Figure16(Exhibit):
    """By scheme and number of flows, by columns of the sketch, and by number of queues."""

    _NUMBERS = (8, 32, 128, 512, 2_048)
    _COLUMNS = (32, 128, 512, 2_048, 16_384)
    _QUEUES = (4, 8, 16, 32, 60)

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = context.length("ms of traffic", full=1_000, quick=200)
        cases = {case.key: case for case in self._cases()}
        for key, case in cases.items():
            yield Point(key, case.scenario(length_ms), keep=("flows",))

    def _cases(self) -> Iterator[Sharing]:
        yield from (Sharing(scheme, flows) for flows in self._NUMBERS for scheme in _FAIRNESS)
        yield from (self._small_buffer(scheme) for scheme in _FAIRNESS)
        yield from (self._sketch(columns) for columns in self._COLUMNS)
        yield from (self._queues(queues) for queues in self._QUEUES)

    def _small_buffer(self, scheme: Scheme) -> Sharing:
        return Sharing(scheme, _DEFAULT_FLOWS, _BUFFERS)

    def _sketch(self, columns: int) -> Sharing:
        scheme = DCTCP_AFQ.with_afq(sketch={"rows": 2, "columns": columns})
        return Sharing(replace(scheme, name=f"AFQ 2 x {columns}"), _DEFAULT_FLOWS)

    def _queues(self, queues: int) -> Sharing:
        scheme = DCTCP_AFQ.with_afq(queues=queues, ecn_rounds=min(8, queues - 1))
        return Sharing(replace(scheme, name=f"AFQ {queues} queues"), _DEFAULT_FLOWS)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        values = {key: unfairness(runs[key]) for key in runs}
        for flows in self._NUMBERS:
            yield from _by_scheme({scheme.name: runs[Sharing(scheme, flows).key] for scheme in _FAIRNESS}, flows)
        for scheme in _FAIRNESS:
            case = self._small_buffer(scheme)
            x = f"{case.flows} flows, {case.buffers.per_port}"
            yield Row(scheme.name, x, UNFAIRNESS, "", values[case.key])
        by_columns = {f"2 x {columns:,}": values[self._sketch(columns).key] for columns in self._COLUMNS}
        falls = list(by_columns.values())
        statement = (
            "unfairness falls as the sketch grows, and is that of the largest once there are cells for all flows"
        )
        holds = falls[0] >= 2 * falls[-1] and falls[-2] <= 1.5 * falls[-1] + 0.005
        yield from _judged_last(by_columns, Shape(holds and falling(falls, slack=0.1), statement))
        by_queues = {f"{queues} queues": values[self._queues(queues).key] for queues in self._QUEUES}
        few, *_, many = by_queues.values()
        judge = Shape(many <= 1.1 * few + 0.005, "unfairness does not grow with the number of queues")
        yield from _judged_last(by_queues, judge)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = []
        for scheme in _FAIRNESS:
            values = [unfairness(runs[Sharing(scheme, flows).key]) for flows in self._NUMBERS]
            series.append(Series(scheme.name, [float(flows) for flows in self._NUMBERS], values))
        y_title = UNFAIRNESS
        yield Plot("Unfairness by scheme", "flows", y_title, series, x_scale="log", y_scale="log")
        by_columns = [unfairness(runs[self._sketch(columns).key]) for columns in self._COLUMNS]
        sketch = Series("AFQ", [float(columns) for columns in self._COLUMNS], by_columns)
        yield Plot(
            f"Unfairness by sketch, {_DEFAULT_FLOWS} flows", "columns of two rows", y_title, [sketch], "log", "log"
        )
        by_queues = [unfairness(runs[self._queues(queues).key]) for queues in self._QUEUES]
        queues = Series("AFQ", [float(number) for number in self._QUEUES], by_queues)
        yield Plot(f"Unfairness by queues, {_DEFAULT_FLOWS} flows", "queues", y_title, [queues], y_scale="log")
