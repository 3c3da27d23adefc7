"""Completion times in the cluster at rising load, and by size at 70 %: figures 8 and 9."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

import polars as pl

from hitless.exhibits import Context, Exact, Exhibit, Gain, Point, Row, Runs, Shape, exhibit
from hitless.exhibits.afq import cluster, schemes, statistics
from hitless.exhibits.afq.cluster import Case
from hitless.exhibits.afq.flows import Compared
from hitless.exhibits.afq.sizes import ENTERPRISE, PARETO, Sizes
from hitless.plot import Plot, Series

BUCKETS_KB = ((0, 10), (10, 100), (100, 1_000), (1_000, 10_000), (10_000, 1_000_000_000))
"""Section 6.2.3 has buckets; the text does not give them."""
BUCKET_LOAD = 70
HIGH_LOAD = 70
"""From where on a load is called high: that of the paper's size buckets."""
TOLERANCE = 0.15
"""How near "close to ideal" must be."""

_OTHERS = (schemes.DROP_TAIL.name, schemes.DCTCP_MARKING.name)
_MEAN_NOTE = "paper: 2 to 4 times"
_TAIL_NOTE = "paper: 3 to 5 times"


class _LoadSweep(Exhibit):
    """Five schemes at several loads."""

    sizes: ClassVar[Sizes]
    quick_ms: ClassVar[int]

    def points(self, context: Context) -> Iterable[Point]:
        self._loads = _loads(context)
        length_ms = cluster.duration_ms(context, self.quick_ms)
        for load in self._loads:
            for case in self._cases(load):
                yield case.point(length_ms, keep=("links",))

    def _cases(self, load: int) -> list[Case]:
        extra = (schemes.DCTCP_WINDOW_10,) if load == BUCKET_LOAD else ()
        return [Case(self.sizes, load, scheme) for scheme in (*schemes.COMPARED, *extra)]

    def _compared(self, runs: Runs) -> Mapping[int, Compared]:
        return {load: cluster.compared(runs, self._cases(load)) for load in self._loads}

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        compared = self._compared(runs)
        yield _larger_window(compared[BUCKET_LOAD])
        for load, flows in compared.items():
            yield from _beside_ideal(load, flows)
            if load >= HIGH_LOAD:
                yield from _gains(load, flows)
        yield _sfq_degrades(compared)
        yield _alike_when_idle(compared)
        for load, flows in compared.items():
            yield from _slowdowns(load, flows)
            run = runs[Case(self.sizes, load, schemes.IDEAL).key]
            percent = 100 * cluster.utilization(run)
            note = f"{flows.missing_percent:.2g} % of the flows left out, which some scheme did not finish"
            yield Row("Ideal-FQ", f"{load} %", "utilization of the core links", "%", percent, note=note)
        yield from _buckets(compared[BUCKET_LOAD])

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        compared = self._compared(runs)
        yield _plot("Mean FCT of all flows", {load: flows.all for load, flows in compared.items()})
        yield _plot("Mean FCT of flows below 100 KB", {load: flows.short for load, flows in compared.items()})
        yield _bucket_plot(compared[BUCKET_LOAD])


@exhibit("afq/fig8", title="Completion times in the cluster, synthetic (Pareto) workload")
class Figure8(_LoadSweep):
    """Pareto sizes of shape 1.1 and mean 30 KB."""

    sizes = PARETO
    quick_ms = 10


@exhibit("afq/fig9", title="Completion times in the cluster, enterprise workload", headline=True)
class Figure9(_LoadSweep):
    """CONGA's enterprise sizes."""

    sizes = ENTERPRISE
    quick_ms = 20


def _loads(context: Context) -> Sequence[int]:
    return (30, 50, 70, 90) if context.effort == "quick" else (10, 20, 30, 40, 50, 60, 70, 80, 90)


def _beside_ideal(load: int, flows: Compared) -> Iterator[Row]:
    for title, group in (("flows below 100 KB", flows.short), ("all flows", flows.all)):
        value, interval = statistics.mean_ratio(group, "AFQ", "Ideal-FQ")
        judge = Exact(TOLERANCE)
        yield Row("AFQ", f"{load} %", f"mean FCT of {title}, over Ideal-FQ", "times", value, 1.0, interval, judge)


def _gains(load: int, flows: Compared) -> Iterator[Row]:
    for name in _OTHERS:
        value, interval = statistics.mean_ratio(flows.short, name, "AFQ")
        judge = Gain(better="higher")
        metric = "mean FCT of flows below 100 KB, over AFQ"
        yield Row(name, f"{load} %", metric, "times", value, 2.0, interval, judge, _MEAN_NOTE)
        value, interval = statistics.tail_ratio(flows.short, name, "AFQ", 99)
        metric = "p99 FCT of flows below 100 KB, over AFQ"
        yield Row(name, f"{load} %", metric, "times", value, 3.0, interval, judge, _TAIL_NOTE)


def _larger_window(flows: Compared) -> Row:
    name = schemes.DCTCP_WINDOW_10.name
    value, interval = statistics.mean_ratio(flows.short, name, "AFQ")
    metric = "mean FCT of flows below 100 KB, over AFQ"
    note = "what an initial window of ten segments leaves of the difference"
    return Row(name, f"{BUCKET_LOAD} %", metric, "times", value, interval=interval, note=note)


def _sfq_degrades(compared: Mapping[int, Compared]) -> Row:
    ratios = [statistics.mean_ratio(flows.short, "SFQ", "AFQ")[0] for flows in compared.values()]
    statement = "SFQ falls behind AFQ as the load grows: from the least to the highest load by a tenth or more"
    holds = ratios[-1] >= 1.1 * ratios[0]
    least, most = min(compared), max(compared)
    metric = f"mean FCT of flows below 100 KB, over AFQ: at {most} % over at {least} %"
    return Row("SFQ", "all loads", metric, "times", ratios[-1] / ratios[0], judge=Shape(holds, statement))


def _alike_when_idle(compared: Mapping[int, Compared]) -> Row:
    load = min(compared)
    short = compared[load].short
    means = [statistics.mean_ratio(short, scheme.name, "idle_us")[0] for scheme in schemes.COMPARED]
    statement = "at the least load most schemes are close to the best: the third of five within twice the best"
    spread = sorted(means)[2] / min(means)
    metric = "mean FCT of flows below 100 KB, third of the five schemes over the best"
    return Row("all", f"{load} %", metric, "times", spread, judge=Shape(spread <= 2, statement))


def _slowdowns(load: int, flows: Compared) -> Iterator[Row]:
    for name in flows.names:
        for title, group in (("all flows", flows.all), ("flows below 100 KB", flows.short)):
            value, interval = statistics.mean_ratio(group, name, "idle_us")
            yield Row(name, f"{load} %", f"mean FCT of {title}, normalized", "times", value, interval=interval)
        value, interval = statistics.slowdown_percentile(flows.short, name, 99)
        metric = "p99 FCT of flows below 100 KB, normalized"
        yield Row(name, f"{load} %", metric, "times", value, interval=interval)


def bucket_name(low_kb: int, high_kb: int) -> str:
    """How a bucket of sizes is called."""
    largest = BUCKETS_KB[-1][1]
    return f"above {low_kb:,} KB" if high_kb == largest else f"{low_kb:,}-{high_kb:,} KB"


def _buckets(flows: Compared) -> Iterator[Row]:
    for low, high in BUCKETS_KB:
        group = flows.of_sizes(1e3 * low, 1e3 * high)
        x = f"{BUCKET_LOAD} %, {bucket_name(low, high)}"
        if group.is_empty():
            continue
        note = f"{len(group):,} flows"
        for name in flows.names:
            value, interval = statistics.mean_ratio(group, name, "idle_us")
            yield Row(name, x, "mean FCT, normalized", "times", value, interval=interval, note=note)
            value, interval = statistics.slowdown_percentile(group, name, 99)
            yield Row(name, x, "p99 FCT, normalized", "times", value, interval=interval)


def _plot(title: str, groups: Mapping[int, pl.DataFrame]) -> Plot:
    series = []
    for scheme in schemes.COMPARED:
        pairs = [statistics.mean_ratio(group, scheme.name, "idle_us") for group in groups.values()]
        values, intervals = [value for value, _ in pairs], [interval for _, interval in pairs]
        series.append(Series(scheme.name, [float(load) for load in groups], values, intervals))
    return Plot(title, "load (%)", "FCT over that in an idle network (times)", series, y_scale="log")


def _bucket_plot(flows: Compared) -> Plot:
    groups = {bucket_name(low, high): flows.of_sizes(1e3 * low, 1e3 * high) for low, high in BUCKETS_KB}
    groups = {name: group for name, group in groups.items() if not group.is_empty()}
    series = [
        Series(
            name,
            list(groups),
            [statistics.mean_ratio(group, name, "idle_us")[0] for group in groups.values()],
            style="bars",
        )
        for name in flows.names
    ]
    title = f"Mean FCT by size at {BUCKET_LOAD} % load"
    return Plot(title, "size", "FCT over that in an idle network (times)", series, y_scale="log")
