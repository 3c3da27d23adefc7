"""Why recovery out of order is enough for TCP (paper, section 4.4, figure 13).

Of the 24,387 B flows over DCTCP at 100G under LG_NB, those that received a selective acknowledgement are "affected".
They are classified from the sender's own record: the most bytes that were selectively acknowledged at once, what it
had not sent when they rose above two segments, and where the gap was. The figure's counts are not in the paper's
text.
"""

from collections.abc import Iterable

import polars as pl

from hitless.analysis import percentile, proportion_interval
from hitless.exhibits import Context, Exact, Exhibit, Point, Row, Runs, Shape, Unjudged, exhibit
from hitless.exhibits.linkguardian import testbed
from hitless.exhibits.linkguardian.ablation import web_search
from hitless.exhibits.linkguardian.latency import completion_us
from hitless.plot import Plot, Series
from hitless.simulation import Run

_MSS_BYTES = 1_448
_TOLERATED_BYTES = 2 * _MSS_BYTES
_TAIL_PACKETS = 3
_PENDING_MSS = 7.0
_FEW = 0.25
"""The share of the affected flows that "a small fraction" is held to be, at most."""

CLASSES = {
    "A": "at most 2 MSS sacked, no tail loss",
    "B": "at most 2 MSS sacked, tail loss",
    "C": "more than 2 MSS sacked, nothing pending",
    "D": "more than 2 MSS sacked, data pending",
}


def affected(run: Run) -> pl.DataFrame:
    """The flows that received a selective acknowledgement, with their class and completion time."""
    packets = -(-testbed.WEB_SEARCH_BYTES // _MSS_BYTES)
    in_tail = pl.col("sack_gap_offset_bytes") >= (packets - _TAIL_PACKETS) * _MSS_BYTES
    tolerated = pl.col("sacked_peak_bytes") <= _TOLERATED_BYTES
    without_pending = pl.col("sack_pending_bytes") == 0
    of_tolerated = pl.when(in_tail).then(pl.lit("B")).otherwise(pl.lit("A"))
    of_others = pl.when(without_pending).then(pl.lit("C")).otherwise(pl.lit("D"))
    classified = run.table("flows").filter(pl.col("sacked_peak_bytes") > 0)
    times = run.table("messages").select("flow", fct_us=(pl.col("acknowledged_ps") - pl.col("started_ps")) / 1e6)
    return classified.with_columns(
        group_of=pl.when(tolerated).then(of_tolerated).otherwise(of_others),
        pending_mss=pl.col("sack_pending_bytes") / _MSS_BYTES,
    ).join(times, on="flow")


@exhibit("lg/fig13", title="Classes of the 24,387 B flows that LG_NB recovers out of order")
class Figure13(Exhibit):
    """The tree of the figure with its counts, and what the text says of each class."""

    def points(self, context: Context) -> Iterable[Point]:
        trials = context.length("trials", full=300_000, quick=100_000)
        keep = ("messages", "flows")
        yield Point("LG_NB", web_search("LG_NB", testbed.MEASURED_LOSS, {}, trials), keep=keep)
        yield Point("no loss", web_search("none", 0.0, {}, trials), keep=keep)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        run = runs["LG_NB"]
        flows, all_flows = affected(run), len(run.table("flows"))
        interval = proportion_interval(len(flows), all_flows).scaled(100.0)
        share = 100 * len(flows) / all_flows
        yield Row("LG_NB", "all", "flows affected", "%", share, interval=interval, note=f"{len(flows):,} flows")
        for name, words in CLASSES.items():
            count = len(flows.filter(pl.col("group_of") == name))
            interval = proportion_interval(count, len(flows)).scaled(100.0)
            few = Shape(count <= _FEW * len(flows), "a small fraction: at most a quarter")
            judge = few if name == "D" else Unjudged()
            share, note = 100 * count / len(flows), f"{words}: {count:,} flows"
            yield Row("LG_NB", name, "of the affected flows", "%", share, interval=interval, judge=judge, note=note)
        yield from self._statements(flows, runs)

    def _statements(self, flows: pl.DataFrame, runs: Runs) -> Iterable[Row]:
        """What the text says of the classes."""
        of = {name: flows.filter(pl.col("group_of") == name) for name in CLASSES}
        most = max(of["D"]["pending_mss"].to_list(), default=0.0)
        below = Shape(most <= _PENDING_MSS, "no more than 7 MSS are pending")
        yield Row("LG_NB", "D", "most that was pending", "MSS", most, _PENDING_MSS, judge=below)
        for name in CLASSES:
            share = 100 * int((of[name]["fast_recoveries"] > 0).sum()) / max(len(of[name]), 1)
            kept = Shape(share == 0, "the window is not reduced")
            judge = kept if name in "AB" else Unjudged()
            yield Row("LG_NB", name, "flows with a reduced window", "%", share, judge=judge)
        clean_us = percentile(completion_us(runs["no loss"]), 50)
        for name in CLASSES:
            over = percentile(of[name]["fct_us"].to_list(), 50) / clean_us if len(of[name]) else None
            same = name in "ABC"
            note = "the text: the completion time is not affected" if same else "somewhat higher in the text"
            paper = 1.0 if same else None
            yield Row("LG_NB", name, "median FCT over no loss", "times", over, paper, judge=Exact(0.1), note=note)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        flows = affected(runs["LG_NB"])
        counts: list[float | None] = [float(len(flows.filter(pl.col("group_of") == name))) for name in CLASSES]
        series = [Series("LG_NB", [f"{name}: {words}" for name, words in CLASSES.items()], counts, style="bars")]
        yield Plot("Flows with a selective acknowledgement", "class", "flows", series)
