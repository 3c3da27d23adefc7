"""One long TCP flow on a link that starts to corrupt and is then protected (paper, section 4.2 and appendix B.3).

The link is clean for a sixth of the run, loses one frame in a thousand for five twelfths, and is protected by
LinkGuardian for the last five twelfths, in proportion to the paper's 2, 5 and 5 seconds. Rows about a part exclude its
first fifth, because the window must settle. The paper's text omits the numbers of these figures, so its statements
about their shape are judged. "Link throughput" counts arrivals at h8. The effective link speed is the speed of a UDP
flow at line rate through the same three parts, as in the paper.

A switch port holds 7,000 cells of 80 bytes, as in the published switch programs; this limit decides when CUBIC sees
congestion. The host stacks are the same in all exhibits: their jitter, calibrated on flows of 17 packets, sometimes
stops a busy sender for tens of microseconds.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from hitless.analysis import percentile
from hitless.checking import Fields
from hitless.drawing.plot import Plot, Series
from hitless.simulation import Run
from hitless_papers import Context, Exact, Exhibit, Point, Row, Runs, Shape, exhibit
from hitless_papers.estimates import Estimate, mean_in_run
from hitless_papers.judge import Judge, Unjudged
from hitless_papers.linkguardian import basis, testbed

LOSS = 1e-3
PARTS = ("clean", "loss", "LG on")
_LINK, _PORT, _BUFFER = "sw6->h8", "sw2->sw6", "sw6.recirculation0"
_TABLES = ("goodput", "throughput", "queues", "mechanisms", "drops")
_UDP = "UDP at line rate"
_BACKPRESSURE = {True: "LG", False: "LG without backpressure"}
_BUFFER_KB = 200.0
"""Size of the reordering buffer (section 4)."""
_AGAIN = "end-to-end retransmissions"
_CLOSE = 0.05
"""Tolerance of "comparable to the effective link speed"."""
_SMALL = 1.1
"""Maximum ratio that counts as "a small increase" of throughput."""
_SHARP = 0.8
"""Maximum remaining share of a throughput that "is reduced sharply"."""


@dataclass(frozen=True)
class Course:
    total_ms: int

    @property
    def period_ms(self) -> float:
        """Length of a sampling interval; a run has about 600."""
        return max(0.5, self.total_ms / 600)

    @property
    def ends_ms(self) -> tuple[float, float, float]:
        return self.total_ms / 6, self.total_ms * 7 / 12, float(self.total_ms)

    def settled_ms(self, part: str) -> tuple[float, float]:
        """Return start and end of a part without its first fifth."""
        number = PARTS.index(part)
        start, end = (0.0, *self.ends_ms)[number], self.ends_ms[number]
        return start + (end - start) / 5, end

    def settled(self, samples: pl.DataFrame, part: str) -> pl.DataFrame:
        """Return the samples of a part; each sample covers the interval before its time."""
        start_ms, end_ms = self.settled_ms(part)
        time_ms = pl.col("time_ps") / 1e9
        return samples.filter((time_ms - self.period_ms >= start_ms) & (time_ms <= end_ms))


def long_flow(
    rate_gbps: int, transport: Mapping[str, Any], course: Course, *, backpressure: bool = True, is_tcp: bool = True
) -> Fields:
    """Build the flow, the three parts and the measurements."""
    end_s = course.total_ms / 1e3
    starts_s = [end_ms / 1e3 for end_ms in course.ends_ms[:2]]
    period = testbed.seconds(course.period_ms / 1e3)
    measure = {
        "throughput": [{"links": [_LINK], "period": period}],
        "queue": [{"ports": [_PORT, _BUFFER], "period": "20 us"}],
        "goodput": [{"group": "iperf", "period": period}],
    }
    kind = "long" if is_tcp else "constant-rate"
    made = testbed.scenario(
        rate_gbps,
        name="iperf",
        transport=transport,
        flows={"kind": kind, "stop": testbed.seconds(end_s)},
        duration_s=end_s,
        measure=measure,
    )
    loss = {"kind": "bernoulli", "rate": LOSS}
    activation = [{"at": testbed.seconds(starts_s[1]), "active": True}]
    guardian = testbed.guardian("LG", backpressure=backpressure, activation=activation)
    buffer = {"kind": "shared", "total": "22 MB", "alpha": 1.0, "queue_max": "560 KB"}
    changed: dict[str, Any] = {
        **made,
        "switch": {**made["switch"], "buffer": buffer},
        "link": [{"name": testbed.LINK, "changes": [{"at": testbed.seconds(starts_s[0]), "loss": loss}]}],
        "mechanism": [guardian],
    }
    return changed


@dataclass(frozen=True)
class Measured:
    run: Run
    course: Course

    def throughput(self, part: str) -> Estimate:
        """Return the throughput of the link to h8 in Gb/s, with preamble and gap."""
        return mean_in_run([gbps for _, gbps in self._gbps(part)])

    def gbps(self, part: str) -> float:
        return self.throughput(part).number

    def usual_throughput(self, part: str) -> float:
        """Return the median of the intervals, which BBR's pauses of 200 ms in every 10 s do not change."""
        return percentile([gbps for _, gbps in self._gbps(part)], 50.0)

    def _gbps(self, part: str | None = None) -> Iterator[tuple[float, float]]:
        samples = self.run.table("throughput").filter(pl.col("link") == _LINK)
        if part is not None:
            samples = self.course.settled(samples, part)
        scale = testbed.WIRE_BYTES / testbed.FRAME_BYTES * 8 / (self.course.period_ms * 1e-3) / 1e9
        for time_ps, value in samples.select("time_ps", "value_bytes").iter_rows():
            yield time_ps / 1e9, value * scale

    def per_second(self, column: str, part: str) -> Estimate:
        samples = self.course.settled(self.run.table("goodput"), part)[column].to_list()
        return mean_in_run([count / (self.course.period_ms * 1e-3) for count in samples])

    def depth_kb(self, port: str, part: str) -> tuple[float, float]:
        """Return mean and maximum depth of a port's queue."""
        start_ms, end_ms = self.course.settled_ms(part)
        time_ms = pl.col("time_ps") / 1e9
        samples = self.run.table("queues").filter((pl.col("port") == port) & time_ms.is_between(start_ms, end_ms))
        depths = samples["value_bytes"].to_numpy() / 1e3
        return float(depths.mean()), float(depths.max())

    def series(self, name: str) -> Series:
        points = list(self._gbps())
        return Series(name, [time for time, _ in points], [gbps for _, gbps in points])

    def retransmissions(self, name: str) -> Series:
        samples = self.run.table("goodput")
        return Series(name, (samples["time_ps"] / 1e9).to_list(), samples["packets_retransmitted"].to_list())

    def depths(self, name: str, port: str) -> Series:
        """Return the maximum depth of a port's queue in each interval."""
        samples = self.run.table("queues").filter(pl.col("port") == port)
        slots = samples.group_by((pl.col("time_ps") / (self.course.period_ms * 1e9)).floor().alias("slot"))
        largest = slots.agg(pl.col("value_bytes").max()).sort("slot")
        time_ms = (largest["slot"] * self.course.period_ms).to_list()
        return Series(name, time_ms, (largest["value_bytes"] / 1e3).to_list())


class OverTime(Exhibit):
    """Common parts of the four figures: the flow, and the curve of the effective link speed."""

    rests_on = f"{basis.KERNEL_NOTE}; {basis.REPAIR_NOTE}"
    rate_gbps: int
    scheme: str
    transport: Mapping[str, Any]
    quick_ms: int = 1_200

    def _decided(self, context: Context) -> Course:
        return Course(
            context.length("ms of traffic", full=12_000, normal=max(3_000, self.quick_ms), quick=self.quick_ms)
        )

    def points(self, context: Context) -> Iterable[Point]:
        self._course = self._decided(context)
        yield Point(self.scheme, long_flow(self.rate_gbps, self.transport, self._course), keep=_TABLES)
        udp = {"kind": "udp", "rate": f"{self.rate_gbps} Gbps"}
        yield Point(_UDP, long_flow(self.rate_gbps, udp, self._course, is_tcp=False), keep=_TABLES)

    def _measured(self, runs: Runs, key: str) -> Measured:
        return Measured(runs[key], self._course)

    def _throughput(self, measured: Measured, series: str) -> Iterator[Row]:
        for part in PARTS:
            yield measured.throughput(part).row(series, part, "link throughput", unit="Gb/s")
        for part in PARTS[:2]:
            yield measured.per_second("packets_retransmitted", part).row(series, part, _AGAIN, unit="1/s")

    def _sent_again(self, measured: Measured) -> Row:
        """Return the retransmissions without a verdict, because they include congestion losses."""
        return measured.per_second("packets_retransmitted", "LG on").row("LG", "LG on", _AGAIN, unit="1/s")

    def _returns(self, runs: Runs) -> Row:
        flow, line = (self._measured(runs, key) for key in (self.scheme, _UDP))
        speed, around = line.gbps("LG on"), line.throughput("LG on").interval
        note = f"effective link speed {speed:.2f} Gb/s ({around.low:.2f} to {around.high:.2f})" if around else ""
        over, metric = flow.throughput("LG on").scaled(100 / speed), "throughput over the effective link speed"
        return over.row("LG", "LG on", metric, 100.0, Exact(_CLOSE), unit="%", note=note)

    def _collapses(self, runs: Runs) -> Row:
        measured = self._measured(runs, self.scheme)
        left = measured.gbps("loss") / measured.gbps("clean")
        judge = Shape(left < _SHARP, "reduced sharply")
        return Row("none", "loss", "throughput over that of the clean link", "%", 100 * left, judge=judge)

    def _queue(self, measured: Measured) -> Row:
        before, _ = measured.depth_kb(_PORT, "clean")
        during, most = measured.depth_kb(_PORT, "LG on")
        judge = Shape(during > before, "qdepth builds up because the link is slower than its sender")
        note = f"{before:.1f} KB before; at most {most:.1f} KB"
        return Row("LG", "LG on", "mean queue of sw2", "KB", during, judge=judge, note=note)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        measured = self._measured(runs, self.scheme)
        line = self._measured(runs, _UDP).series("effective link speed")
        depths = [measured.depths("qdepth", _PORT), measured.depths("Rx buffer", _BUFFER)]
        flow, again = measured.series("flow"), measured.retransmissions("end-to-end")
        yield from _plots(f"{self.scheme}, {self.rate_gbps}G", [flow, line], "Buffers", depths, [again])


def _plots(
    flow: str, throughput: list[Series], buffer: str, depths: list[Series], again: list[Series]
) -> Iterator[Plot]:
    title, time = f"{flow}, loss {LOSS:g}", "time (ms)"
    yield Plot(f"Throughput: {title}", time, "on the link (Gb/s)", throughput)
    yield Plot(f"{buffer}: {title}", time, "maximum depth (KB)", depths)
    yield Plot(f"Retransmissions: {title}", time, "packets per interval", again)


@exhibit("lg/fig9a", title="DCTCP over time on a 25G link: clean, loss of 1e-3, LinkGuardian")
class Figure9a(OverTime):
    """Throughput falls under loss, and then returns to the effective link speed."""

    rate_gbps = 25
    scheme = "DCTCP"
    transport = testbed.DCTCP

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        measured = self._measured(runs, self.scheme)
        yield from self._throughput(measured, self.scheme)
        yield self._collapses(runs)
        yield self._returns(runs)
        yield self._queue(measured)
        again, note = measured.per_second("packets_retransmitted", "LG on"), "the corruption losses are eliminated"
        yield again.row("LG", "LG on", _AGAIN, 0.0, Exact(), unit="1/s", note=note)
        echoes = measured.per_second("congestion_echoes", "LG on")
        marks = Shape(echoes.number > 0, "the queue triggers ECN marking")
        yield echoes.row("LG", "LG on", "acknowledgements that echo congestion", None, marks, unit="1/s")
        mean, most = measured.depth_kb(_BUFFER, "LG on")
        low = Shape(most < _BUFFER_KB, "backpressure keeps it low: it never fills")
        yield Row("LG", "LG on", "largest Rx buffer", "KB", most, judge=low, note=f"mean {mean:.1f} KB")


@exhibit("lg/fig9b", title="The same without backpressure: the reordering buffer overflows")
class Figure9b(OverTime):
    """With LinkGuardian on, end-to-end retransmissions appear, and throughput is lower than with backpressure.

    Runs at 100G help to explain differences from the paper: there the link is as fast as the recirculation port of
    100 Gb/s that empties the buffer; at 25G it has a quarter of that rate.
    """

    rate_gbps = 25
    scheme = _BACKPRESSURE[False]
    transport = testbed.DCTCP

    def points(self, context: Context) -> Iterable[Point]:
        self._course = self._decided(context)
        self._fast = Course(self._course.total_ms // 5)
        for rate_gbps, course in ((25, self._course), (100, self._fast)):
            for backpressure, name in _BACKPRESSURE.items():
                made = long_flow(rate_gbps, self.transport, course, backpressure=backpressure)
                yield Point(_key(name, rate_gbps), made, keep=_TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for rate_gbps, course in ((25, self._course), (100, self._fast)):
            found = (runs[_key(name, rate_gbps)] for name in _BACKPRESSURE.values())
            with_it, without = (Measured(run, course) for run in found)
            yield from self._throughput(without, _key(self.scheme, rate_gbps))
            yield from self._statements(with_it, without, rate_gbps)

    def _statements(self, with_it: Measured, without: Measured, rate_gbps: int) -> Iterator[Row]:
        """Judge the paper's statements about 25G, and show the same quantities at 100G."""
        series = _key(self.scheme, rate_gbps)

        def judged(holds: bool, statement: str) -> Judge:
            return Shape(holds, statement) if rate_gbps == self.rate_gbps else Unjudged()

        before = without.per_second("packets_retransmitted", "loss").number
        during = without.per_second("packets_retransmitted", "LG on")
        judge = judged(during.number > 2 * before, "more severe than the corruption before")
        note = f"{before:.0f} per second while the link corrupts without protection"
        yield during.row(series, "LG on", _AGAIN, None, judge, unit="1/s", note=note)
        lost = without.run.counter("packets_lost", "sw6")
        judge = judged(lost > 0, "the reordering buffer overflows")
        yield Row(series, "LG on", "packets lost by LinkGuardian", "", lost, judge=judge)
        mean, most = without.depth_kb(_BUFFER, "LG on")
        judge = judged(most > 0.95 * _BUFFER_KB, "periodically builds up to its size of 200 KB")
        note = f"mean {mean:.1f} KB; maximum with backpressure {with_it.depth_kb(_BUFFER, 'LG on')[1]:.1f} KB"
        yield Row(series, "LG on", "largest Rx buffer", "KB", most, judge=judge, note=note)
        slower, faster = without.gbps("LG on"), with_it.gbps("LG on")
        judge = judged(slower < 0.98 * faster, "lower than with backpressure")
        metric, note = "throughput over that with backpressure", f"{slower:.2f} Gb/s after {faster:.2f}"
        yield Row(series, "LG on", metric, "%", 100 * slower / faster, judge=judge, note=note)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for rate_gbps, course in ((25, self._course), (100, self._fast)):
            found = {name: Measured(runs[_key(name, rate_gbps)], course) for name in _BACKPRESSURE.values()}
            flows = [measured.series(name) for name, measured in found.items()]
            buffers = [measured.depths(name, _BUFFER) for name, measured in found.items()]
            again = [measured.retransmissions(name) for name, measured in found.items()]
            yield from _plots(f"DCTCP, {rate_gbps}G", flows, "Rx buffer", buffers, again)


def _key(name: str, rate_gbps: int) -> str:
    return f"{name}, {rate_gbps}G"


@exhibit("lg/fig21a", title="CUBIC over time on a 25G link: clean, loss of 1e-3, LinkGuardian")
class Figure21a(OverTime):
    """Like DCTCP, but the queue of the slower link overflows; LinkGuardian does not repair congestion losses."""

    rate_gbps = 25
    scheme = "CUBIC"
    quick_ms = 3_600
    transport: Mapping[str, Any] = {**testbed.DCTCP, "congestion": "cubic"}

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        measured = self._measured(runs, self.scheme)
        yield from self._throughput(measured, self.scheme)
        yield self._collapses(runs)
        over = measured.throughput("LG on").scaled(100 / measured.gbps("clean"))
        yield over.row("LG", "LG on", "throughput over that of the clean link", 100.0, Exact(_CLOSE), unit="%")
        yield self._returns(runs)
        yield self._queue(measured)
        yield self._sent_again(measured)
        drops = congestion_losses(measured.run)
        seen = Shape(drops > 0, "congestion losses once LinkGuardian is on")
        yield Row("LG", "LG on", "frames that sw2 had no room for", "", drops, judge=seen)
        lost = measured.run.counter("packets_lost", "sw6")
        none = Shape(lost <= drops / 100 + 1, "the corruption losses are nearly eliminated")
        yield Row("LG", "LG on", "packets lost by LinkGuardian", "", lost, judge=none)


@exhibit("lg/fig21b", title="BBR over time on a 10G link: clean, loss of 1e-3, LinkGuardian")
class Figure21b(OverTime):
    """BBR hardly reacts to losses, and LinkGuardian still helps a little."""

    rate_gbps = 10
    scheme = "BBR"
    transport: Mapping[str, Any] = {**testbed.DCTCP, "congestion": "bbr"}

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        measured = self._measured(runs, self.scheme)
        yield from self._throughput(measured, self.scheme)
        clean, lossy = measured.gbps("clean"), measured.gbps("loss")
        minimal = Shape(lossy >= 0.9 * clean, "minimal degradation: at most 10 %")
        interval = measured.throughput("loss").scaled(100 / clean).interval
        metric = "throughput over that of the clean link"
        yield Row("none", "loss", metric, "%", 100 * lossy / clean, interval=interval, judge=minimal)
        before, after = measured.usual_throughput("loss"), measured.usual_throughput("LG on")
        more = Shape(before < after <= _SMALL * before, "a small increase: at most 10 %")
        note = f"medians: {after:.3f} Gb/s after {before:.3f}"
        metric = "throughput more than with the losses"
        yield Row("LG", "LG on", metric, "%", 100 * (after / before - 1), judge=more, note=note)
        yield self._returns(runs)
        yield self._sent_again(measured)


def congestion_losses(run: Run) -> int:
    """Count the frames dropped because a queue or the buffer of a switch was full."""
    drops = run.table("drops").filter(pl.col("reason").is_in(["queue full", "buffer full"]))
    return int(drops["packets"].sum())
