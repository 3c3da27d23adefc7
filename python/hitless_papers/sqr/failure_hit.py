"""Flows that a failure hits: figures 3 and 8."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from hitless.analysis import mean_interval, percentile, proportion_interval
from hitless.drawing.plot import Plot, Series, cdf_series
from hitless.simulation import Run
from hitless_papers import Context, Exact, Exhibit, Factor, Point, Range, Row, Runs, Shape, Share, Unjudged, exhibit
from hitless_papers.estimates import percent_of, percentile_of
from hitless_papers.sqr import fct, testbed

_TRANSPORTS = {"SB'": testbed.TCP, "SB', RACK and probes": testbed.RACK, "SB', delayed ACKs": testbed.DELAYED_ACKS}
_NO_FAILURE = "no failure"
_CAPPED = "no failure, receive window of 29,200 B"
_WINDOWS = {_NO_FAILURE: testbed.TCP, _CAPPED: {**testbed.TCP, "receive_window": "29200 B"}}
"""Experiment with Linux's initial receive window, which in Linux grows as the program reads."""
_MSS_BYTES = 1_448
_BATCHES = 20


@dataclass(frozen=True)
class _Band:
    """A cluster of completion times in the figure."""

    name: str
    low_ms: float
    high_ms: float
    centre_ms: float

    def rows(self, series: str, times_ms: fct.Times, done: Share, *, is_judged: bool) -> Iterator[Row]:
        """Yield the share of the hit flows in the cluster, and its median."""
        inside = times_ms[(times_ms >= self.low_ms) & (times_ms < self.high_ms)]
        judge: Shape | Unjudged = Shape(inside.size > 0, f"some hit flows take {self.name}") if is_judged else _VARIANT
        if not times_ms.size:
            judge = Unjudged("no flow was hit")
        note = testbed.HOSTS_NOTE if is_judged else ""
        share, metric = percent_of(inside.size, times_ms.size), "share of the hit flows"
        yield share.row(series, self.name, metric, None, judge, unit="%", note=note, completed=[done])
        if inside.size:
            paper, rule = (self.centre_ms, Factor()) if is_judged else (None, _VARIANT)
            median = percentile_of(inside, 50)
            yield median.row(series, self.name, "median FCT", paper, rule, unit="ms", note=note, completed=[done])


_VARIANT = Unjudged("the paper has a single kind of host")
_BANDS = (
    _Band("about 10 ms", 4.0, 40.0, 10.0),
    _Band("about 100 ms", 40.0, 400.0, 100.0),
    _Band("about 1 s", 400.0, 4_000.0, 1_000.0),
)


@exhibit("sqr/fig3", title="FCT of web search flows under failures, ShareBackup' alone")
class Figure3(Exhibit):
    """Web search flows without other traffic. Two further series change the transport, which may affect the clusters.

    The congestion windows are sampled every 10 us in flows without failures.
    """

    def points(self, context: Context) -> Iterable[Point]:
        count = context.length("flows", full=30_000, quick=30_000)
        for name, transport in _TRANSPORTS.items():
            made = testbed.scenario(
                "short-flows",
                [fct.short_flows("web search", count)],
                transports={"tcp": transport},
                failures=[testbed.failures(testbed.SAME_PORT)],
                recovery=testbed.recovery(testbed.SAME_PORT),
                measure={"order": True},
            )
            yield Point(name, made, keep=fct.TABLES)
        count = context.length("flows whose window is looked at", full=30_000, normal=10_000, quick=3_000)
        measured = {"flow": [{"group": "short", "period": "10 us"}]}
        for name, transport in _WINDOWS.items():
            flows = [fct.short_flows("web search", count)]
            made = testbed.scenario("windows", flows, transports={"tcp": transport}, measure=measured)
            yield Point(name, made, keep=("flows", "messages", "flow_progress"))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for name in _TRANSPORTS:
            yield from self._series(name, fct.flows(runs[name], holds_back=False), fct.share(runs[name], name))
        for name in _WINDOWS:
            yield from self._windows(name, runs[name])

    def _series(self, name: str, table: pl.DataFrame, done: Share) -> Iterator[Row]:
        """Yield the rows of a transport; only the paper's transport is judged."""
        hit = table.filter(pl.col("is_hit"))
        is_paper = name == "SB'"
        times_ms = fct.times_us(hit) / 1e3
        share = proportion_interval(hit.height, table.height)
        yield Row(name, "all", "flows hit by a failure", "", hit.height, interval=share.scaled(table.height))
        for band in _BANDS:
            yield from band.rows(name, times_ms, done, is_judged=is_paper)
        below = int((times_ms < _BANDS[0].low_ms).sum())
        yield Row(name, "all", "hit flows below 4 ms", "", below, note="only ACKs were lost")
        fast = int((hit["fast_recoveries"] > 0).sum())
        judge: Exact | Unjudged = _VARIANT if not is_paper else Exact() if hit.height else Unjudged("no flow was hit")
        paper, note = (0.0, f"of {hit.height:,} hit flows") if is_paper else (None, "")
        yield Row(name, "all", "hit flows with a fast retransmission", "", fast, paper, judge=judge, note=note)
        longest_ms = float(fct.times_us(table.filter(~pl.col("is_hit"))).max()) / 1e3
        limit, judge = (Range(high=2.0), Exact()) if is_paper else (None, _VARIANT)
        yield Row(name, _NO_FAILURE, "largest FCT", "ms", longest_ms, limit, judge=judge, completed=[done])

    @staticmethod
    def _windows(name: str, run: Run) -> Iterator[Row]:
        """Section II: "at 90th percentile, the cwnd size is about 10 MSS segments", and at most 32."""
        samples = run.table("flow_progress").select(
            batch=pl.col("flow") % _BATCHES, segments=pl.col("cwnd_bytes") / _MSS_BYTES
        )
        x = f"{len(run.table('flows')):,} flows"
        note = "each 10 us of a flow are one sample; slow start lasts until the flow ends"
        done, judge = [fct.share(run, name)], Factor() if name == _NO_FAILURE else _VARIANT
        # Samples of the same flow are correlated, so the interval is over batches of flows.
        batches = [
            percentile(batch["segments"].to_numpy(), 90) for _, batch in samples.group_by("batch", maintain_order=True)
        ]
        value, interval = percentile(samples["segments"].to_numpy(), 90), mean_interval(batches)
        yield Row(
            name, x, "p90 window", "segments", value, 10.0, interval=interval, judge=judge, note=note, completed=done
        )
        largest = float(samples["segments"].max())  # type: ignore[arg-type]
        yield Row(
            name, x, "largest window", "segments", largest, 32.0, interval=None, judge=judge, note=note, completed=done
        )

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for name in _TRANSPORTS:
            table = fct.flows(runs[name], holds_back=False)
            series = []
            for title, part in (
                ("no failure", table.filter(~pl.col("is_hit"))),
                ("hit", table.filter(pl.col("is_hit"))),
            ):
                shown = part.head(2_000)
                x = [float(value) for value in shown["flow"].to_list()]
                series.append(Series(title, x, (fct.times_us(shown) / 1e3).tolist(), style="points"))
            yield Plot(f"FCT under failures, {name}", "flow", "FCT (ms)", series, y_scale="log")


_FIGURE_8 = fct.FlowCase("web search", "SB'+SQR")
_ALL, _INTERRUPTED = "hit flows", "data came before the failure"
_TO_FIRST_DATA_US = 130.0
"""Time from a write until the first data have passed the failing link: 1.5 round trips without the last pass."""


@dataclass(frozen=True)
class _Recovery:
    """Recovery times of the hit flows that sent data before the failure, and the number of other hit flows."""

    gaps_us: fct.Times
    between_syn_and_data: int
    before_syn: int
    after_data: int

    @classmethod
    def of(cls, run: Run) -> "_Recovery":
        """Group the flows by the time when their first packets passed the link."""
        hit = fct.flows(run, holds_back=True).filter(pl.col("is_hit"))
        started_ps, delivered_ps = hit["started_ps"].to_numpy(), hit["delivered_ps"].to_numpy()
        down_ps = fct.Outages(run.table("failures")).down_ps_of(started_ps)
        is_complete = delivered_ps - fct.FROM_LINK_US * 1e6 < down_ps
        had_data = started_ps + _TO_FIRST_DATA_US * 1e6 <= down_ps
        had_syn = started_ps + fct.TO_LINK_US * 1e6 <= down_ps
        gaps_us = hit["network_longest_gap_ps"].fill_null(0).to_numpy()[had_data & ~is_complete] / 1e6
        return cls(gaps_us, int((had_syn & ~had_data).sum()), int((~had_syn).sum()), int(is_complete.sum()))


@exhibit("sqr/fig8", title="Recovery time that the receiver sees, SB'+SQR")
class Figure8(Exhibit):
    """Longest gap between two arrivals of data at the receiver, in flows that a failure hit.

    The checker at the receiver measures gaps between data packets. The paper's capture also shows the SYN: a flow
    interrupted between its SYN and its first data has a gap there that is longer than the repair, and is counted as
    such. A flow waited less if its SYN came after the failure. A receiver does not notice a failure that only delays
    the last acknowledgements, so such flows do not count. The paper's "about 90 %" is judged within 10 %.
    """

    def points(self, context: Context) -> Iterable[Point]:
        count = context.length("flows", full=150_000, normal=60_000, quick=20_000)
        yield from fct.points([_FIGURE_8], count)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        run = runs[_FIGURE_8.key]
        found = _Recovery.of(run)
        done = [fct.share(run, _FIGURE_8.scheme)]
        gaps_us, handshakes = found.gaps_us, found.between_syn_and_data
        above = int((gaps_us > testbed.ROUTE_FAILURE_US).sum())
        hit = gaps_us.size + handshakes + found.before_syn
        counted = (
            f"{hit} flows, {handshakes} of them interrupted between SYN and data, {found.before_syn} before the SYN"
        )
        note = f"{counted}; excluded: {found.after_data} flows that only lost or delayed their last ACKs"
        metric, about = "recovery times above 760 us", Exact(0.1)
        share = percent_of(above + handshakes, hit)
        yield share.row("SB'+SQR", _ALL, metric, 90.0, about, unit="%", note=note, completed=done)
        share, note = percent_of(above, gaps_us.size), f"{gaps_us.size} flows"
        yield share.row("SB'+SQR", _INTERRUPTED, "gaps above 760 us", unit="%", note=note)
        if gaps_us.size == 0:
            return
        for rank in (50, 99):
            yield percentile_of(gaps_us, rank).row("SB'+SQR", _INTERRUPTED, f"p{rank} recovery time", unit="us")

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = [cdf_series(_INTERRUPTED, _Recovery.of(runs[_FIGURE_8.key]).gaps_us)]
        yield Plot("Recovery time, SB'+SQR", "longest gap at the receiver (us)", "share of flows", series)
