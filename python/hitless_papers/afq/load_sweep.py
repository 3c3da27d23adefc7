"""Completion times in the cluster at rising load, and by size at 70 %: figures 8 and 9.

In a run of 20 ms a load of 90 % uses the core links to 61 %. The rate of arrivals is computed as if each flow had its
host's link to itself. But the run begins empty, large flows arrive faster than they end, and several of them share a
host's link. Max-min fair rates on the same links, without packets and transports, give 58 %
(tests/validation/afq_load.py). `Utilization` is figure 9 at loads that use the core links to 70 and 90 % over the whole
run, with Ideal-FQ.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from hitless.analysis import Interval
from hitless.drawing.plot import Plot, Series
from hitless_papers import Context, Exact, Exhibit, Gain, Point, Range, Row, Runs, Shape, Tail, above_one, exhibit
from hitless_papers.afq import cluster, ratios, schemes
from hitless_papers.afq.cluster import ClusterCase
from hitless_papers.afq.flows import ALL_FLOWS, SHORT_FLOWS, Compared
from hitless_papers.afq.schemes import Scheme
from hitless_papers.afq.sizes import ENTERPRISE, PARETO, SHORT_BYTES, Sizes
from hitless_papers.estimates import curve

BUCKETS_KB = ((0, 10), (10, 100), (100, 1_000), (1_000, 10_000), (10_000, 1_000_000_000))
"""Section 6.2.3 has buckets; the text does not give them."""
BUCKET_LOAD = 70
HIGH_LOAD = 70
"""Minimum of a high load, the load of the paper's size buckets."""
TOLERANCE = 0.15
"""How near "close to ideal" must be, and "similar"."""

_MEAN = Range(2, 4)
"""Section 6.2.3, of DCTCP; the abstract, of TCP too."""
_TAILS = {
    "": ("section 6.2.3", Range(3, 5)),
    ", as the abstract says": ("the introduction: up to 5 to 10", Range(4, 8)),
}
"""Of TCP and DCTCP: two claims of the paper about one number."""
_WINDOWS = {
    schemes.DROP_TAIL.name: schemes.TCP_NOTE,
    schemes.DCTCP_MARKING.name: schemes.TCP_NOTE,
    schemes.TCP_WINDOW_10.name: "initial window of 10 segments, assumed",
    schemes.DCTCP_WINDOW_10.name: "initial window of 10 segments, assumed",
}
"""The rivals, and what the comparison with each hangs on."""


class _LoadSweep(Exhibit):
    sizes: ClassVar[Sizes]
    quick_ms: ClassVar[int]

    def points(self, context: Context) -> Iterable[Point]:
        self._loads = _loads(context)
        length_ms = cluster.duration_ms(context, self.quick_ms)
        for load in self._loads:
            for case in self._cases(load):
                yield case.point(length_ms, keep=("links",))

    def _cases(self, load: int) -> list[ClusterCase]:
        extra = (schemes.TCP_WINDOW_10, schemes.DCTCP_WINDOW_10) if load == BUCKET_LOAD else ()
        return [ClusterCase(self.sizes, load, scheme) for scheme in (*schemes.COMPARED, *extra)]

    def _compared(self, runs: Runs) -> Mapping[int, Compared]:
        return {load: cluster.compared(runs, self._cases(load)) for load in self._loads}

    def _reached(self, runs: Runs, load: int) -> str:
        percent = 100 * cluster.utilization(runs[ClusterCase(self.sizes, load, schemes.PAIR_AFQ).key])
        return f"AFQ used the core links to {percent:.0f} %"

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        compared = self._compared(runs)
        reached = {load: self._reached(runs, load) for load in self._loads}
        for load, flows in compared.items():
            yield from beside_ideal(f"{load} %", flows, reached[load])
            if load >= HIGH_LOAD:
                yield from gains(f"{load} %", flows, reached[load])
        yield from _over_all(compared[BUCKET_LOAD], reached[BUCKET_LOAD])
        yield _sfq_degrades(compared)
        yield _alike_when_idle(compared)
        for load, flows in compared.items():
            yield from _slowdowns(load, flows)
            for case in self._cases(load):
                percent = 100 * cluster.utilization(runs[case.key])
                yield Row(case.scheme.name, f"{load} %", "utilization of the core links", "%", percent)
        yield from by_bucket(buckets(compared[BUCKET_LOAD], BUCKETS_KB), BUCKET_LOAD)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        compared = self._compared(runs)
        for title in (ALL_FLOWS, SHORT_FLOWS):
            yield _plot(f"Mean FCT of {title}", {load: flows.by_length[title] for load, flows in compared.items()})
        yield _bucket_plot(compared[BUCKET_LOAD])


@exhibit("afq/fig8", title="Completion times in the cluster, synthetic (Pareto) workload")
class Figure8(_LoadSweep):
    """Pareto sizes of shape 1.1 and mean 30 KB."""

    sizes = PARETO
    quick_ms = 10


@exhibit("afq/fig9", title="Completion times in the cluster, enterprise workload", headline=True)
class Figure9(_LoadSweep):
    """CONGA's enterprise sizes."""

    tail = Tail(
        f"{SHORT_FLOWS}, {BUCKET_LOAD} % load",
        (schemes.DROP_TAIL.name, ClusterCase(ENTERPRISE, BUCKET_LOAD, schemes.DROP_TAIL).key),
        (schemes.PAIR_AFQ.name, ClusterCase(ENTERPRISE, BUCKET_LOAD, schemes.PAIR_AFQ).key),
        bytes_below=SHORT_BYTES,
    )
    sizes = ENTERPRISE
    quick_ms = 9


def _loads(context: Context) -> Sequence[int]:
    return (30, 70) if context.effort == "quick" else (10, 20, 30, 40, 50, 60, 70, 80, 90)


def beside_ideal(x: str, flows: Compared, reached: str) -> Iterator[Row]:
    """AFQ "achieves close to ideal fair queueing performance for all network load" (section 6.2.3)."""
    for title, group in flows.by_length.items():
        ratio = ratios.mean(group, "AFQ", "Ideal-FQ")
        judge = Exact(TOLERANCE, better="lower")
        note = f"{reached}; {schemes.PAIR_NOTE}"
        yield ratio.row("AFQ", x, f"mean FCT of {title}, over Ideal-FQ", 1.0, judge, note=note)


def gains(x: str, flows: Compared, reached: str) -> Iterator[Row]:
    judge = Gain(better="higher")
    short = flows.short
    for rival, window in _WINDOWS.items():
        if rival not in flows.names:
            continue
        note = f"{rival}: {window}; {reached}; AFQ: {schemes.PAIR_NOTE}"
        metric = f"mean FCT of {SHORT_FLOWS}, {rival} over it"
        yield ratios.mean(short, rival, "AFQ").row("AFQ", x, metric, _MEAN, judge, note=note)
        tail = ratios.tail(short, rival, "AFQ")
        for words, (where, paper) in _TAILS.items():
            metric = f"p99 FCT of {SHORT_FLOWS}, {rival} over it{words}"
            yield tail.row("AFQ", x, metric, paper, judge, note=f"{where}; {note}")


def _over_all(flows: Compared, reached: str) -> Iterator[Row]:
    """Section 6.2.3 ends: "AFQ achieves similar performance to DCTCP for all flows"."""
    for rival in (schemes.DCTCP_MARKING.name, schemes.DCTCP_WINDOW_10.name):
        metric, note = f"mean FCT of {ALL_FLOWS}, {rival} over it", f"{rival}: {_WINDOWS[rival]}; {reached}"
        ratio = ratios.mean(flows, rival, "AFQ")
        yield ratio.row("AFQ", f"{BUCKET_LOAD} %", metric, 1.0, Exact(TOLERANCE), note=note)


def _sfq_degrades(compared: Mapping[int, Compared]) -> Row:
    least, most = min(compared), max(compared)
    low, high = (ratios.mean(compared[load].short, "SFQ", "AFQ") for load in (least, most))
    metric = f"mean FCT of {SHORT_FLOWS}, over AFQ: at {most} % over at {least} %"
    shares = (*low.completed, *high.completed)
    if not (low.value and high.value):
        return Row("SFQ", "all loads", metric, "times", None, completed=shares)
    growth = None
    if low.interval and high.interval:
        growth = Interval(high.interval.low / low.interval.high, high.interval.high / low.interval.low)
    judge = above_one("SFQ falls behind AFQ as the load grows")
    note = f"{schemes.TCP_NOTE}; the interval is the widest that the two loads' allow"
    value = high.value / low.value
    return Row(
        "SFQ", "all loads", metric, "times", value, None, interval=growth, judge=judge, note=note, completed=shares
    )


def _alike_when_idle(compared: Mapping[int, Compared]) -> Row:
    load = min(compared)
    short = compared[load].short.only(*(scheme.name for scheme in schemes.COMPARED))
    means = sorted(ratios.normalized_mean(short, name).value or 0.0 for name in short.names)
    statement = "at the least load most schemes are close to the best: the third of five within twice the best"
    spread = means[2] / means[0] if means[0] else None
    metric = f"mean FCT of {SHORT_FLOWS}, third of the five schemes over the best"
    judge = Shape(spread is not None and spread <= 2, statement)
    return Row("all", f"{load} %", metric, "times", spread, judge=judge, note=schemes.TCP_NOTE, completed=short.shares)


def _slowdowns(load: int, flows: Compared) -> Iterator[Row]:
    short = flows.short
    for name in flows.names:
        for title, group in flows.by_length.items():
            yield ratios.normalized_mean(group, name).row(name, f"{load} %", f"mean FCT of {title}, normalized")
        metric = f"p99 FCT of {SHORT_FLOWS}, normalized"
        yield ratios.normalized_percentile(short, name).row(name, f"{load} %", metric)


def bucket_name(low_kb: int, high_kb: int) -> str:
    return f"above {low_kb:,} KB" if high_kb >= BUCKETS_KB[-1][1] else f"{low_kb:,}-{high_kb:,} KB"


def buckets(flows: Compared, edges_kb: Sequence[tuple[int, int]]) -> Mapping[str, Compared]:
    """Group flows by size; sizes without any flow are left out."""
    groups = {bucket_name(low, high): flows.of_sizes(1e3 * low, 1e3 * high) for low, high in edges_kb}
    return {title: group for title, group in groups.items() if group.shares[0].begun}


def by_bucket(groups: Mapping[str, Compared], load: int) -> Iterator[Row]:
    for title, group in groups.items():
        x = f"{load} %, {title}"
        for name in group.names:
            yield ratios.normalized_mean(group, name).row(name, x, "mean FCT, normalized")
            yield ratios.normalized_percentile(group, name).row(name, x, "p99 FCT, normalized")


def _plot(title: str, groups: Mapping[int, Compared]) -> Plot:
    series = []
    for scheme in schemes.COMPARED:
        points = [ratios.normalized_mean(group, scheme.name) for group in groups.values()]
        loads = [float(load) for load in groups]
        series.append(curve(scheme.name, loads, points))
    return Plot(title, "load (%)", "FCT over that in an idle network (times)", series, y_scale="log")


def _bucket_plot(flows: Compared) -> Plot:
    groups = buckets(flows, BUCKETS_KB)
    series = []
    for name in flows.names:
        values = [ratios.normalized_mean(group, name).value for group in groups.values()]
        series.append(Series(name, list(groups), values, style="bars"))
    title = f"Mean FCT by size at {BUCKET_LOAD} % load"
    return Plot(title, "size", "FCT over that in an idle network (times)", series, y_scale="log")


USED_MS = 20
"""At every effort: the loads of `OFFERED` were found for this length."""
OFFERED: Mapping[int, int] = {70: 113, 90: 212}
"""By the utilization of the core links in percent; found with seed 1."""
_SCHEMES: tuple[Scheme, ...] = (schemes.DROP_TAIL, schemes.DCTCP_MARKING, schemes.PAIR_AFQ, schemes.IDEAL)


@exhibit("afq/utilization", title="Figure 9 where the core links are used as much as the load says")
class Utilization(Exhibit):
    """Short flows at 70 and 90 % of the core links used; DCTCP with ten segments too."""

    def points(self, context: Context) -> Iterable[Point]:
        for used in OFFERED:
            for case in self._cases(used):
                yield case.point(USED_MS, keep=("links",))

    def _cases(self, used: int) -> list[ClusterCase]:
        return [ClusterCase(ENTERPRISE, OFFERED[used], scheme) for scheme in (*_SCHEMES, schemes.DCTCP_WINDOW_10)]

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for used, offered in OFFERED.items():
            cases = self._cases(used)
            percent = {case.scheme.name: 100 * cluster.utilization(runs[case.key]) for case in cases}
            reached = f"AFQ used the core links to {percent['AFQ']:.0f} %, offered {offered} % in {USED_MS} ms"
            flows, x = cluster.compared(runs, cases), f"{used} % used"
            yield from beside_ideal(x, flows, reached)
            yield from gains(x, flows, reached)
            for name, value in percent.items():
                yield Row(name, x, "utilization of the core links", "%", value, note=f"offered {offered} %")
