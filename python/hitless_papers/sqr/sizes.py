"""Sizes of the flows of both workloads: figure 6."""

from collections.abc import Iterable

import polars as pl

from hitless.drawing.plot import Plot, cdf_series
from hitless.simulation import Run
from hitless_papers import Context, Exact, Exhibit, Point, Range, Row, Runs, Unjudged, exhibit
from hitless_papers.estimates import mean_in_run, percentile_of
from hitless_papers.sqr import fct, testbed

_LARGEST_KB = 100.0
_CURVE = Unjudged("the curve of the figure is not in the text")


@exhibit("sqr/fig6", title="Sizes of the flows, web search and data mining")
class Figure6(Exhibit):
    """What the flows of figures 10 to 12 carried, as the receivers got it; no failures.

    Web search is the distribution of the DCTCP paper, data mining that of VL2, both cut at 100 KB (section IV-A). The
    paper sends 30 flows of each of 1,000 sizes, these draw each flow's size.
    """

    def points(self, context: Context) -> Iterable[Point]:
        count = context.length("flows", full=30_000, normal=12_000, quick=3_000)
        for workload in fct.WORKLOADS:
            yield Point(
                workload, testbed.scenario("sizes", [fct.short_flows(workload, count)]), keep=("messages", "flows")
            )

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for workload in fct.WORKLOADS:
            run = runs[workload]
            sizes_kb = _sizes_kb(run)
            x = f"{sizes_kb.size:,} flows"
            done = [fct.share(run, workload)]
            largest, limit = float(sizes_kb.max()), Range(high=_LARGEST_KB)
            yield Row(workload, x, "largest flow", "KB", largest, limit, judge=Exact(0.001), completed=done)
            mean = mean_in_run(sizes_kb)
            percentiles = {f"p{percent} size": percentile_of(sizes_kb, percent) for percent in (10, 50, 90)}
            for metric, value in {"mean size": mean, **percentiles}.items():
                yield value.row(workload, x, metric, None, _CURVE, unit="KB", completed=done)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = [cdf_series(workload, _sizes_kb(runs[workload])) for workload in fct.WORKLOADS]
        yield Plot("Sizes of the flows", "size (KB)", "share of flows", series)


def _sizes_kb(run: Run) -> fct.Times:
    done = run.completed_messages().filter(~pl.col("group").str.starts_with("background"))
    sizes: fct.Times = done["bytes"].to_numpy() / 1e3
    return sizes
