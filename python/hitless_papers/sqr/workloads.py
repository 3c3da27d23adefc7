"""Sizes and completion times of flows under both recovery schemes, with and without SQR: figures 6, 10, 11 and 12."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import polars as pl

from hitless.analysis import Interval, percentile, percentile_in_order, proportion_interval
from hitless.drawing.plot import Plot, Series, cdf_series
from hitless.simulation import Run
from hitless_papers import (
    Context,
    Exact,
    Exhibit,
    Factor,
    Gain,
    Point,
    Range,
    Row,
    Runs,
    Shape,
    Share,
    Tail,
    Unjudged,
    above_one,
    exhibit,
)
from hitless_papers.estimates import Estimate, fct_tails, mean_in_run, percent_of, percentile_of, ratio_of
from hitless_papers.sqr import fct, testbed
from hitless_papers.sqr.fct import FlowCase

_LARGEST_KB = 100.0
_CURVE = Unjudged("the text does not give the figure's curve")


@exhibit("sqr/fig6", title="Sizes of the flows, web search and data mining")
class Figure6(Exhibit):
    """Received flow sizes of figures 10 to 12, without failures.

    Web search is the distribution of the DCTCP paper, data mining the one in VL2, both cut at 100 KB (section IV-A).
    The paper sends 30 flows of each of 1,000 sizes; here each flow's size is drawn at random.
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


_PERCENTS = (50, 95, 99)
_IN_PROGRESS = "flows in progress when the link failed, as in figure 8 of the paper: 90 % wait for the whole repair"
_NOT_WHOLE = "the failure hit only their last packet or acknowledgement"


def _table(runs: Runs, case: FlowCase) -> pl.DataFrame:
    return fct.flows(runs[case.key], holds_back=case.holds_back)


def _shares(runs: Runs, *cases: FlowCase) -> list[Share]:
    return [fct.share(runs[case.key], case.scheme) for case in cases]


@exhibit("sqr/fig10", title="FCT of flows with and without a failure")
class Figure10(Exhibit):
    """Web search flows under SB' and SB'+SQR."""

    _CASES = (FlowCase("web search", "SB'"), FlowCase("web search", "SB'+SQR"))

    def points(self, context: Context) -> Iterable[Point]:
        yield from fct.points(self._CASES, fct.flow_count(context))

    def _samples(self, runs: Runs) -> dict[str, fct.Times]:
        tables = {case.scheme: _table(runs, case) for case in self._CASES}
        hit = {scheme: fct.times_us(table.filter(pl.col("is_hit"))) for scheme, table in tables.items()}
        return {"no failure": fct.times_us(tables["SB'"].filter(~pl.col("is_hit"))), **hit}

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        samples = self._samples(runs)
        done = _shares(runs, *self._CASES)
        for name, sample in samples.items():
            for percent in _PERCENTS:
                p = percentile_of(sample, percent)
                yield p.row(name, "web search", f"p{percent} FCT", unit="us", completed=done)
        clean, masked = samples["no failure"], samples["SB'+SQR"]
        yield _above("median", masked, "no failure", clean, done)
        above = percentile(masked, 99) - percentile(clean, 99)
        alone = percentile(samples["SB'"], 99) - percentile(clean, 99)
        holds = above <= 1.5 * testbed.ROUTE_FAILURE_US and alone >= 10 * above
        statement = (
            "p99 with SQR is at most 1.5 route failure times above flows without a failure, and without SQR at least "
            "ten times further above"
        )
        metric, judge = "p99 FCT above no failure", Shape(holds, statement)
        yield Row("SB'+SQR", "web search", metric, "us", above, judge=judge, note=_IN_PROGRESS, completed=done)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = [cdf_series(name, sample) for name, sample in self._samples(runs).items()]
        yield Plot("FCT of flows hit by a failure", "FCT (us)", "share of flows", series, x_scale="log")


@exhibit("sqr/fig11", title="FCT of flows hit by a failure, by size", headline=True)
class Figure11(Exhibit):
    """Minimum, median, p95, p99 and maximum of web search flows."""

    tail = Tail(
        "web search flows while a link fails", ("SB'", "web search SB'"), ("SB'+SQR", "web search SB'+SQR"), "short"
    )

    def points(self, context: Context) -> Iterable[Point]:
        cases = [FlowCase("web search", scheme) for scheme in testbed.SCHEMES]
        yield from fct.points(cases, fct.flow_count(context))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        cases = {scheme: FlowCase("web search", scheme) for scheme in testbed.SCHEMES}
        tables = {scheme: _table(runs, case) for scheme, case in cases.items()}
        hit = {scheme: table.filter(pl.col("is_hit")) for scheme, table in tables.items()}
        clean = tables["SB'"].filter(~pl.col("is_hit"))
        done = _shares(runs, *cases.values())
        yield from self._gains(hit, done)
        yield from self._above(hit, clean, done)
        case = cases["SB'+SQR"]
        yield from added_by_moment(fct.all_flows(runs[case.key], holds_back=True), fct.times_us(clean))
        for low, high in fct.RANGES_KB:
            x = f"{low}-{high} KB"
            for name, table in {"no failure": clean, **hit}.items():
                yield from _five_numbers(name, x, fct.times_us(_of_range(table, low, high)))

    def _gains(self, hit: dict[str, pl.DataFrame], done: list[Share]) -> Iterator[Row]:
        for scheme in ("SB'", "LRR"):
            alone, masked = fct.times_us(hit[scheme]), fct.times_us(hit[f"{scheme}+SQR"])
            series, metric, paper = f"{scheme}+SQR", f"p99 FCT, {scheme} over it", Range(1_000.0, 10_000.0)
            gain, judge, note = ratio_of(alone, masked, 99), Gain(better="higher"), testbed.HOSTS_NOTE
            yield gain.row(series, "all sizes", metric, paper, judge, note=note, completed=done)

    def _above(self, hit: dict[str, pl.DataFrame], clean: pl.DataFrame, done: list[Share]) -> Iterator[Row]:
        masked = fct.times_us(hit["SB'+SQR"])
        for name, other in (("no failure", fct.times_us(clean)), ("LRR+SQR", fct.times_us(hit["LRR+SQR"]))):
            for what in ("median", "least"):
                yield _above(what, masked, name, other, done)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        names = [f"{low}-{high} KB" for low, high in fct.RANGES_KB]
        series = []
        for scheme in testbed.SCHEMES:
            table = _table(runs, FlowCase("web search", scheme)).filter(pl.col("is_hit"))
            samples = [fct.times_us(_of_range(table, low, high)) / 1e3 for low, high in fct.RANGES_KB]
            p99 = [percentile(sample, 99) if sample.size else None for sample in samples]
            series.append(Series(scheme, names, p99, style="points"))
        yield Plot("p99 FCT of flows hit by a failure", "size", "FCT (ms)", series, y_scale="log")


def _above(what: str, masked: fct.Times, name: str, other: fct.Times, done: list[Share]) -> Row:
    """Judge the increase of the median or minimum FCT over ``other``: "about 200 us" (section IV-C)."""
    if what == "median":
        above = percentile(masked, 50) - percentile(other, 50)
        ends, others = (percentile_in_order(sample, 50).interval for sample in (masked, other))
        interval = Interval(ends.low - others.high, ends.high - others.low) if ends and others else None
    else:
        above, interval = float(masked.min() - other.min()), None
    note = _IN_PROGRESS if what == "median" else f"{_IN_PROGRESS}; {_NOT_WHOLE}"
    metric = f"{what} FCT above {name}"
    return Row(
        "SB'+SQR", "all sizes", metric, "us", above, 200.0, interval=interval, judge=Factor(), note=note, completed=done
    )


def _of_range(table: pl.DataFrame, low_kb: int, high_kb: int) -> pl.DataFrame:
    return table.filter((pl.col("bytes") > low_kb * 1_000) & (pl.col("bytes") <= high_kb * 1_000))


def _five_numbers(name: str, x: str, sample: fct.Times) -> Iterator[Row]:
    note = f"{sample.size:,} flows"
    if sample.size == 0:
        return
    yield Row(name, x, "least FCT", "us", float(sample.min()), note=note)
    for percent in _PERCENTS:
        yield percentile_of(sample, percent).row(name, x, f"p{percent} FCT", unit="us", note=note)
    yield Row(name, x, "largest FCT", "us", float(sample.max()), note=note)


def ratio_of_shares(first: tuple[int, int], second: tuple[int, int]) -> Estimate:
    """Return the ratio of two shares, each (part, whole), with its exact interval.

    Conditional on the sum of both parts, the first part is binomial (Przyborowski and Wilenski 1940).
    """
    (part, whole), (other, other_whole) = first, second
    if part + other == 0:
        return Estimate(math.nan, Interval(0.0, math.inf))
    scale = other_whole / whole
    split = proportion_interval(part, part + other)
    low, high = (share / (1 - share) * scale if share < 1 else math.inf for share in (split.low, split.high))
    return Estimate(part / other * scale if other else math.inf, Interval(low, high))


@exhibit("sqr/fig12", title="FCT of all flows, web search and data mining")
class Figure12(Exhibit):
    """The tail has the flows with a timeout: 4 ms or longer."""

    def points(self, context: Context) -> Iterable[Point]:
        cases = [FlowCase(workload, scheme) for workload in fct.WORKLOADS for scheme in testbed.SCHEMES]
        yield from fct.points(cases, fct.flow_count(context))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for workload in fct.WORKLOADS:
            cases = {scheme: FlowCase(workload, scheme) for scheme in testbed.SCHEMES}
            samples = {scheme: fct.times_us(_table(runs, case)) for scheme, case in cases.items()}
            done = {scheme: _shares(runs, case)[0] for scheme, case in cases.items()}
            yield from self._tails(workload, samples, done)
            yield self._of_reductions(workload, samples, done)
            for scheme, sample in samples.items():
                for percent in (50, 99, 99.9):
                    p = percentile_of(sample, percent)
                    yield p.row(scheme, workload, f"p{percent:g} FCT", unit="us", completed=[done[scheme]])

    @staticmethod
    def _tails(workload: str, samples: dict[str, fct.Times], done: dict[str, Share]) -> Iterator[Row]:
        late = {scheme: int((sample >= 4_000).sum()) for scheme, sample in samples.items()}
        for scheme, sample in samples.items():
            note = f"largest FCT {float(sample.max()) / 1e3:.3g} ms; {testbed.HOSTS_NOTE}"
            is_masked = scheme.endswith("SQR")
            has_tail = Shape(late[scheme] > 0, f"{workload}: {scheme} without SQR has flows of 4 ms or more")
            judge: Exact | Shape = Exact() if is_masked else has_tail
            paper = 0.0 if is_masked else None
            metric = "flows of 4 ms or more"
            share, of = percent_of(late[scheme], sample.size), [done[scheme]]
            yield share.row(scheme, workload, metric, paper, judge, unit="%", note=note, completed=of)
        ratio = ratio_of_shares((late["SB'"], samples["SB'"].size), (late["LRR"], samples["LRR"].size))
        worse = above_one(f"{workload}: SB' has a worse tail than LRR")
        metric, both = "flows of 4 ms or more, over those of LRR", [done["SB'"], done["LRR"]]
        yield ratio.row("SB'", workload, metric, None, worse, completed=both)

    @staticmethod
    def _of_reductions(workload: str, samples: dict[str, fct.Times], done: dict[str, Share]) -> Row:
        ratio = ratio_of(samples["SB'+SQR"], samples["LRR+SQR"], 99)
        more = above_one(f"{workload}: SQR shortens LRR's tail more than the tail of SB'", apart=0.02)
        both = [done["SB'+SQR"], done["LRR+SQR"]]
        return ratio.row("SB'+SQR", workload, "p99 FCT over that of LRR+SQR", None, more, completed=both)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for workload in fct.WORKLOADS:
            times = {scheme: fct.times_us(_table(runs, FlowCase(workload, scheme))) for scheme in testbed.SCHEMES}
            yield fct_tails(f"FCT of all flows, {workload}", times)


_STEPS = 4
_JUDGED_ABOVE = Unjudged("the paper gives 200 us, but not the time of the failure: see the median of all sizes")


def added_by_moment(table: pl.DataFrame, clean_us: fct.Times) -> Iterator[Row]:
    """Show the median FCT that a failure adds under SB'+SQR, by the time of the failure.

    ``table`` comes from `fct.all_flows`. Figures 8 and 11 of the paper contradict each other if both show flows in
    progress when the link failed. Section IV-B: 90 % of the recovery times are longer than 760 us. Section IV-C: a
    failure adds only about 200 us to the median FCT, because packets that "arrive after the link has failed" wait less.
    A flow that begins after the failure waits for the rest of the 760 us.
    """
    for x, part in _by_moment(table):
        if part.height == 0:
            continue
        note = f"{part.height:,} flows"
        metric = "median FCT above no failure, by when the link failed"
        yield _added_us(fct.times_us(part), clean_us).row(
            "SB'+SQR", x, metric, None, _JUDGED_ABOVE, unit="us", note=note
        )


def _by_moment(table: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    hit = pl.col("is_hit") & ~pl.col("starts_in_outage")
    own = pl.col("until_down_us")
    for low, high in ((0, 50), (50, 100), (100, 150), (150, 1_000)):
        name = f"{low} to {high} us after the start" if high < 1_000 else f"{low} us after the start or later"
        yield name, table.filter(hit & (own >= low) & (own < high))
    late = pl.col("starts_in_outage")
    step = testbed.ROUTE_FAILURE_US / _STEPS
    for number in range(_STEPS):
        low_us, high_us = number * step, (number + 1) * step
        name = f"{low_us:.0f} to {high_us:.0f} us before the start"
        yield name, table.filter(late & (-own >= low_us) & (-own < high_us))
    yield "any time, flows in progress", table.filter(hit)
    yield "any time, flows that begin before the repair", table.filter(late)
    yield "any time, both", table.filter(hit | late)


def _added_us(times_us: fct.Times, clean_us: fct.Times) -> Estimate:
    middle = percentile(clean_us, 50)
    median = percentile_of(times_us, 50)
    if median.value is None:
        return median
    interval = median.interval and Interval(median.interval.low - middle, median.interval.high - middle)
    return replace(median, value=median.value - middle, interval=interval)
