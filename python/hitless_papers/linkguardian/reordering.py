"""Effect of out-of-order recovery on TCP (paper, section 4.4, figure 13).

The flows have 24,387 B and run over DCTCP at 100G under LG_NB. A flow with a selective acknowledgement is "affected".
The sender's record classifies it: the maximum of selectively acknowledged bytes, the unsent bytes when they exceeded
two segments, and the place of the gap. The paper's text does not give the figure's counts.
"""

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from hitless.drawing.plot import Plot, Series
from hitless.simulation import Run
from hitless_papers import Context, Exact, Exhibit, Point, Range, Row, Runs, Shape, above_one, at_most, exhibit
from hitless_papers.estimates import percent_of, ratio_of
from hitless_papers.judge import Judge, Unjudged
from hitless_papers.linkguardian import basis, testbed
from hitless_papers.linkguardian.ablation import web_search
from hitless_papers.linkguardian.completion import completion_us
from hitless_papers.statements import resting_on

_MSS_BYTES = 1_448
_TOLERATED_BYTES = 2 * _MSS_BYTES
_TAIL_PACKETS = 3
_PENDING_MSS = Range(high=7)
_FEW = 0.25
"""Maximum share of the affected flows that counts as "a small fraction"; the number is ours."""
_SAME = 0.1
"""Maximum difference of a completion time that is "not affected"; the number is ours."""

CLASSES = {
    "A": "at most 2 MSS sacked, no tail loss",
    "B": "at most 2 MSS sacked, tail loss",
    "C": "more than 2 MSS sacked, nothing pending",
    "D": "more than 2 MSS sacked, data pending",
}


def affected(run: Run) -> pl.DataFrame:
    """Return the complete flows with a selective acknowledgement, with their class and completion time."""
    in_tail = pl.col("sack_gap_offset_bytes") >= (testbed.WEB_SEARCH_PACKETS - _TAIL_PACKETS) * _MSS_BYTES
    tolerated = pl.col("sacked_peak_bytes") <= _TOLERATED_BYTES
    without_pending = pl.col("sack_pending_bytes") == 0
    of_tolerated = pl.when(in_tail).then(pl.lit("B")).otherwise(pl.lit("A"))
    of_others = pl.when(without_pending).then(pl.lit("C")).otherwise(pl.lit("D"))
    classified = run.table("flows").filter(pl.col("sacked_peak_bytes") > 0)
    times = run.completed_messages().select("flow", fct_us=(pl.col("acknowledged_ps") - pl.col("started_ps")) / 1e6)
    return classified.with_columns(
        group_of=pl.when(tolerated).then(of_tolerated).otherwise(of_others),
        pending_mss=pl.col("sack_pending_bytes") / _MSS_BYTES,
    ).join(times, on="flow")


@exhibit("lg/fig13", title="Classes of the 24,387 B flows that LG_NB recovers out of order")
class Figure13(Exhibit):
    """Counts in the figure's tree, and the text's statement about each class."""

    rests_on = basis.KERNEL_NOTE

    def points(self, context: Context) -> Iterable[Point]:
        trials = context.length("trials", full=300_000, quick=100_000)
        keep = ("messages", "flows")
        yield Point("LG_NB", web_search("LG_NB", testbed.MEASURED_LOSS, {}, trials), keep=keep)
        yield Point("no loss", web_search("none", 0.0, {}, trials), keep=keep)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        shares = tuple(basis.share(label, runs[label]) for label in ("LG_NB", "no loss"))
        return resting_on(self._all(runs), completed=shares)

    def _all(self, runs: Runs) -> Iterator[Row]:
        run = runs["LG_NB"]
        flows, all_flows = affected(run), len(run.table("flows"))
        share = percent_of(len(flows), all_flows)
        yield share.row("LG_NB", "all", "flows affected", unit="%", note=f"{len(flows):,} flows")
        for name, words in CLASSES.items():
            count = len(flows.filter(pl.col("group_of") == name))
            judge = at_most(100 * _FEW, "a small fraction: at most a quarter") if name == "D" else Unjudged()
            share, note = percent_of(count, len(flows)), f"{words}: {count:,} flows"
            yield share.row("LG_NB", name, "of the affected flows", None, judge, unit="%", note=note)
        yield from self._statements(flows, runs)

    def _statements(self, flows: pl.DataFrame, runs: Runs) -> Iterable[Row]:
        of = {name: flows.filter(pl.col("group_of") == name) for name in CLASSES}
        most = max(of["D"]["pending_mss"].to_list(), default=0.0)
        arithmetic = f"{testbed.WEB_SEARCH_PACKETS} packets minus the initial window of RFC 6928: not evidence"
        judge: Judge = Unjudged(arithmetic)
        yield Row("LG_NB", "D", "most that was pending", "MSS", most, _PENDING_MSS, judge=judge)
        reduced = {name: int((of[name]["fast_recoveries"] > 0).sum()) for name in CLASSES}
        kept = Shape(reduced["A"] + reduced["B"] == 0, "the window is not reduced in classes A and B")
        for name in CLASSES:
            count, judge = len(of[name]), kept if name in "AB" else Unjudged()
            share, note = 100 * reduced[name] / max(count, 1), f"{reduced[name]:,} of {count:,} flows"
            judge = judge if count else Unjudged("0 of 0 flows")
            yield Row("LG_NB", name, "flows with a reduced window", "%", share, judge=judge, note=note)
        times = {name: of[name]["fct_us"].to_list() for name in CLASSES}
        clean = completion_us(runs["no loss"])
        for name in CLASSES:
            yield _over(name, "median FCT over no loss", times[name], clean, is_same=name in "ABC")
        yield _over("D", "median FCT over class C's", times["D"], times["C"], is_same=False)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        flows = affected(runs["LG_NB"])
        counts: list[float | None] = [float(len(flows.filter(pl.col("group_of") == name))) for name in CLASSES]
        series = [Series("LG_NB", [f"{name}: {words}" for name, words in CLASSES.items()], counts, style="bars")]
        yield Plot("Flows with a selective acknowledgement", "class", "flows", series)


def _over(name: str, metric: str, sample: Sequence[float], other: Sequence[float], *, is_same: bool) -> Row:
    """Judge the ratio of two medians: 1 or above 1, by the text."""
    if not sample or not other:
        return Row("LG_NB", name, metric, "times", None, judge=Unjudged("the class has 0 flows"))
    over = ratio_of(sample, other, 50)
    if is_same:
        note = "the text: the completion time is not affected, read as within 10 %"
        return over.row("LG_NB", name, metric, 1.0, Exact(_SAME), note=note)
    judge = above_one(f"the text: class D has a somewhat higher one, {metric}", apart=0.0)
    return over.row("LG_NB", name, metric, None, judge)
