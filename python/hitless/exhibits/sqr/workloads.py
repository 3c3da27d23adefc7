"""Completion times under both recovery schemes, with and without SQR: figures 10, 11 and 12."""

from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl

from hitless.analysis import percentile, percentile_interval, percentile_ratio, proportion_interval
from hitless.exhibits import Context, Exhibit, Factor, Gain, Point, Row, Runs, Shape, exhibit
from hitless.exhibits.sqr import fct, testbed
from hitless.exhibits.sqr.fct import Case
from hitless.plot import Plot, Series, cdf_series, tail_series

_WAIT = "a flow in progress waits for the whole repair; so do 90 % of those of the paper's figure 8"
_PERCENTS = (50, 95, 99)


def _table(runs: Runs, case: Case) -> pl.DataFrame:
    return fct.flows(runs[case.key], holds_back=case.holds_back)


def _hit_us(runs: Runs, case: Case) -> fct.Times:
    return fct.times_us(_table(runs, case).filter(pl.col("is_hit")))


def _clean_us(runs: Runs, workload: str) -> fct.Times:
    return fct.times_us(_table(runs, Case(workload, "SB'")).filter(~pl.col("is_hit")))


@exhibit("sqr/fig10", title="FCT of flows hit by a failure, and of those that are not")
class Figure10(Exhibit):
    """Web search; SB' and SB'+SQR."""

    _CASES = (Case("web search", "SB'"), Case("web search", "SB'+SQR"))

    def points(self, context: Context) -> Iterable[Point]:
        yield from fct.points(self._CASES, fct.flow_count(context))

    def _samples(self, runs: Runs) -> dict[str, fct.Times]:
        samples = {"no failure": _clean_us(runs, "web search")}
        return samples | {case.scheme: _hit_us(runs, case) for case in self._CASES}

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        samples = self._samples(runs)
        for name, sample in samples.items():
            for percent in _PERCENTS:
                interval = percentile_interval(sample, percent)
                yield Row(name, "web search", f"p{percent} FCT", "us", percentile(sample, percent), interval=interval)
        for percent in (50, 99):
            clean = percentile(samples["no failure"], percent)
            above = percentile(samples["SB'+SQR"], percent) - clean
            alone = percentile(samples["SB'"], percent) - clean
            holds = above <= 1.5 * testbed.ROUTE_FAILURE_US and alone >= 10 * above
            statement = (
                "with SQR at most one and a half route failure times above flows without a failure; without it ten "
                "times as far above or more"
            )
            metric = f"p{percent} FCT above that without a failure"
            yield Row("SB'+SQR", "web search", metric, "us", above, judge=Shape(holds, statement))

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = [cdf_series(name, sample) for name, sample in self._samples(runs).items()]
        yield Plot("FCT of flows hit by a failure", "FCT (us)", "share of flows", series, x_scale="log")


@exhibit("sqr/fig11", title="FCT of flows hit by a failure, by size", headline=True)
class Figure11(Exhibit):
    """Web search; least, median, 95th and 99th percentile, largest."""

    def points(self, context: Context) -> Iterable[Point]:
        cases = [Case("web search", scheme) for scheme in testbed.SCHEMES]
        yield from fct.points(cases, fct.flow_count(context))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        tables = {scheme: _table(runs, Case("web search", scheme)) for scheme in testbed.SCHEMES}
        hit = {scheme: table.filter(pl.col("is_hit")) for scheme, table in tables.items()}
        clean = tables["SB'"].filter(~pl.col("is_hit"))
        yield from self._gains(hit)
        yield from self._above(hit, clean)
        for low, high in fct.RANGES_KB:
            x = f"{low}-{high} KB"
            for name, table in {"no failure": clean, **hit}.items():
                yield from _five_numbers(name, x, fct.times_us(_of_range(table, low, high)))

    def _gains(self, hit: dict[str, pl.DataFrame]) -> Iterator[Row]:
        for scheme in ("SB'", "LRR"):
            alone, masked = fct.times_us(hit[scheme]), fct.times_us(hit[f"{scheme}+SQR"])
            gain, interval = percentile_ratio(alone, masked, 99, resamples=1_000)
            metric = f"p99 FCT, {scheme} over it"
            judge = Gain(better="higher")
            note = 'paper: "about 3 to 4 orders of magnitude"'
            yield Row(f"{scheme}+SQR", "all sizes", metric, "times", gain, 1_000.0, interval, judge, note)

    def _above(self, hit: dict[str, pl.DataFrame], clean: pl.DataFrame) -> Iterator[Row]:
        masked = fct.times_us(hit["SB'+SQR"])
        for name, other in (("no failure", fct.times_us(clean)), ("LRR+SQR", fct.times_us(hit["LRR+SQR"]))):
            for what, statistic in (("median", lambda sample: percentile(sample, 50)), ("least", np.min)):
                above = float(statistic(masked) - statistic(other))
                metric = f"{what} FCT above {name}"
                note = _WAIT if what == "median" else ""
                yield Row("SB'+SQR", "all sizes", metric, "us", above, 200.0, judge=Factor(), note=note)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        names = [f"{low}-{high} KB" for low, high in fct.RANGES_KB]
        series = []
        for scheme in testbed.SCHEMES:
            table = _table(runs, Case("web search", scheme)).filter(pl.col("is_hit"))
            samples = [fct.times_us(_of_range(table, low, high)) / 1e3 for low, high in fct.RANGES_KB]
            p99 = [percentile(sample, 99) if sample.size else None for sample in samples]
            series.append(Series(scheme, names, p99, style="points"))
        yield Plot("p99 FCT of flows hit by a failure", "size", "FCT (ms)", series, y_scale="log")


def _of_range(table: pl.DataFrame, low_kb: int, high_kb: int) -> pl.DataFrame:
    return table.filter((pl.col("bytes") > low_kb * 1_000) & (pl.col("bytes") <= high_kb * 1_000))


def _five_numbers(name: str, x: str, sample: fct.Times) -> Iterator[Row]:
    note = f"{sample.size:,} flows"
    if sample.size == 0:
        return
    yield Row(name, x, "least FCT", "us", float(sample.min()), note=note)
    for percent in _PERCENTS:
        interval = percentile_interval(sample, percent)
        yield Row(name, x, f"p{percent} FCT", "us", percentile(sample, percent), interval=interval, note=note)
    yield Row(name, x, "largest FCT", "us", float(sample.max()), note=note)


@exhibit("sqr/fig12", title="FCT of all flows, web search and data mining")
class Figure12(Exhibit):
    """The tail is what takes a timeout: 4 ms or longer."""

    def points(self, context: Context) -> Iterable[Point]:
        cases = [Case(workload, scheme) for workload in fct.WORKLOADS for scheme in testbed.SCHEMES]
        yield from fct.points(cases, fct.flow_count(context))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for workload in fct.WORKLOADS:
            samples = {scheme: fct.times_us(_table(runs, Case(workload, scheme))) for scheme in testbed.SCHEMES}
            yield from self._tails(workload, samples)
            for scheme, sample in samples.items():
                for percent in (50, 99, 99.9):
                    value, interval = percentile(sample, percent), percentile_interval(sample, percent)
                    yield Row(scheme, workload, f"p{percent:g} FCT", "us", value, interval=interval)

    def _tails(self, workload: str, samples: dict[str, fct.Times]) -> Iterator[Row]:
        late = {scheme: int((sample >= 4_000).sum()) for scheme, sample in samples.items()}
        percent = {scheme: 100 * late[scheme] / sample.size for scheme, sample in samples.items()}
        longest = {scheme: float(sample.max()) for scheme, sample in samples.items()}
        statements = {
            "SB'": (percent["SB'"] > percent["LRR"] > 0, "SB' has more of a tail than LRR"),
            "LRR": (percent["SB'"] > percent["LRR"] > 0, "LRR has a tail, smaller than that of SB'"),
            "SB'+SQR": (late["SB'+SQR"] == 0, "SQR removes the tail"),
            "LRR+SQR": (
                late["LRR+SQR"] == 0 and percentile(samples["LRR+SQR"], 99) <= percentile(samples["SB'+SQR"], 99),
                "SQR removes the tail, and more so for LRR than for SB'",
            ),
        }
        for scheme, (holds, statement) in statements.items():
            interval = proportion_interval(late[scheme], samples[scheme].size).scaled(100)
            note = f"largest FCT {longest[scheme] / 1e3:.3g} ms"
            judge, share = Shape(holds, statement), percent[scheme]
            yield Row(scheme, workload, "flows of 4 ms or more", "%", share, interval=interval, judge=judge, note=note)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for workload in fct.WORKLOADS:
            series = [tail_series(s, fct.times_us(_table(runs, Case(workload, s)))) for s in testbed.SCHEMES]
            title = f"FCT of all flows, {workload}"
            yield Plot(title, "FCT (us)", "share of flows at or above", series, x_scale="log", y_scale="log")
