"""Table 2: which distribution the priorities of packets have (appendix B)."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import polars as pl

from hitless.drawing.plot import Plot, Series
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Point, Row, Runs, Shape, Unjudged, exhibit
from hitless_papers.deflection import fits, schemes
from hitless_papers.deflection.fits import Sample
from hitless_papers.deflection.setting import DURATION_MS, FabricCase, Incast
from hitless_papers.statements import judged_once

BACKGROUND_PERCENT = 25
SSE: Mapping[int, Mapping[str, float]] = {
    10: {"normal": 112.0216, "exponential": 73.14878, "Pareto": 93.75750},
    30: {"uniform": 553.0061, "normal": 514.3600, "exponential": 366.0715, "Pareto": 453.0258},
    60: {"uniform": 810.8242, "normal": 758.0309, "exponential": 483.1348, "Pareto": 687.8197},
}
"""Table 2, by percent of incast; the first number of the first row is lost, but the text has its quotient."""
QUERIES_PER_SECOND = {10: 4_000, 30: 12_000, 60: 24_000}
QUANTITY = "arriving_rank_bytes"
FINE, COARSE = fits.BINS, 50

_VERTIGO = schemes.VERTIGO.with_mechanism("Vertigo", record_ranks=True)


def case(incast_percent: int) -> FabricCase:
    incast = Incast(QUERIES_PER_SECOND[incast_percent])
    return FabricCase(_VERTIGO, incast, background_percent=BACKGROUND_PERCENT, label="ranks")


def ranks(run: Run) -> Sample:
    """The ranks that packets of data have when they arrive for a port of a switch, all ports together, in bytes."""
    found = run.histogram(QUANTITY).filter(pl.col("value") > 0)
    summed = found.group_by("value").agg(pl.col("count").sum()).sort("value")
    return Sample(summed["value"].to_numpy().astype(np.float64), summed["count"].to_numpy().astype(np.float64))


@exhibit("pd/tab2", title="Sum square error of four distributions fitted to the priorities of packets")
class Table2(Exhibit):
    """Appendix B: an exponential fits best. Errors have a unit, so quotients of them are compared."""

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = context.length("ms of traffic", full=DURATION_MS, normal=100, quick=20)
        for percent in SSE:
            yield case(percent).point(length_ms, keep=("histograms",))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        samples = {percent: ranks(runs[case(percent).key]) for percent in SSE}
        over_best = [_over_best(percent, sample) for percent, sample in samples.items()]
        judge = Shape(
            all(row.measured == 1.0 for row in over_best), "of the four, the exponential has the smallest error"
        )
        yield from judged_once(over_best, judge, lambda over: over)
        for percent, sample in samples.items():
            yield from _workload(percent, sample)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for percent in SSE:
            sample = ranks(runs[case(percent).key])
            heights, edges = np.histogram(sample.values, bins=COARSE, weights=sample.counts, density=True)
            middles = 0.5 * (edges[:-1] + edges[1:])
            series = [Series("measured", middles.tolist(), heights.tolist(), style="points")]
            series += [Series(name, middles.tolist(), fit(sample)(middles).tolist()) for name, fit in fits.FITS.items()]
            yield Plot(f"Priorities, {_workload_name(percent)}", "remaining bytes", "density", series, y_scale="log")


def _errors(sample: Sample) -> Mapping[str, float]:
    return {name: fits.sum_square_error(sample, fit(sample)) for name, fit in fits.FITS.items()}


def _over_best(percent: int, sample: Sample) -> Row:
    errors = _errors(sample)
    best = min(errors, key=errors.__getitem__)
    note = f"the smallest is that of the {best}; {sample.size:,.0f} packets"
    over, metric = errors["exponential"] / errors[best], "error over that of the best fit"
    return Row("exponential", _workload_name(percent), metric, "times", over, paper=1.0, note=note)


def _workload(percent: int, sample: Sample) -> Iterator[Row]:
    errors, x = _errors(sample), _workload_name(percent)
    judge = Unjudged("it hangs on bins and fits that the paper does not give")
    for name in errors:
        if name != "exponential":
            metric, value = f"error below that of the {name}", _below(errors, name)
            paper = _below(SSE[percent], name) if name in SSE[percent] else 46.18
            yield Row("exponential", x, metric, "%", value, paper=paper, judge=judge)
    yield from _otherwise(x, sample, errors["exponential"])


def _otherwise(x: str, sample: Sample, exponential: float) -> Iterator[Row]:
    """Show two choices of the recipe: the number of bins, and the kind of Pareto."""
    error = fits.sum_square_error(sample, fits.shifted_pareto(sample))
    metric = "error below that of the shifted Pareto"
    note = "its scale is free, so that it can come near to any exponential"
    yield Row("exponential", x, metric, "%", 100 * (1 - exponential / error), note=note)
    coarse = {name: fits.sum_square_error(sample, fit(sample), COARSE) for name, fit in fits.FITS.items()}
    best = min(coarse, key=coarse.__getitem__)
    metric = f"error over that of the best fit, {COARSE} bins"
    yield Row("exponential", x, metric, "times", coarse["exponential"] / coarse[best], note=f"{best}: the smallest")


def _below(errors: Mapping[str, float], name: str) -> float:
    return 100 * (1 - errors["exponential"] / errors[name])


def _workload_name(percent: int) -> str:
    return f"{BACKGROUND_PERCENT} % background + {percent} % incast"
