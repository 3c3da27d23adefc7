"""What deflection itself contributes: the small network, with the same forwarding, hosts and transport for all."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hitless.drawing.plot import Plot, Series
from hitless_papers import Context, Exhibit, Point, Row, Runs, exhibit
from hitless_papers.deflection import metrics, schemes, small
from hitless_papers.deflection.metrics import Measured
from hitless_papers.deflection.schemes import FAIR, PAPER, Preset, Scheme, under
from hitless_papers.deflection.setting import DURATION_MS, FabricCase
from hitless_papers.deflection.sweep import of_case, quotient

SCHEMES = (*small.SCHEMES, schemes.TRIMMING)
_METRICS = (metrics.MEAN_QCT.whole, metrics.P99_QCT.whole)


def case(scheme: Scheme, load: int, preset: Preset) -> FabricCase:
    """The small network under a preset; where it changes nothing, the run of preset "paper"."""
    made = small.case(scheme, load)
    return made if under(scheme, preset) == scheme else replace(made, preset=preset)


@exhibit("pd/fair", title="What deflection itself contributes")
class Fair(Exhibit):
    """Each scheme over ECMP, as published and with all else equal; and ECMP as published over ECMP with all else."""

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = context.length("ms of traffic", full=DURATION_MS, quick=250)
        self._loads: Sequence[int] = (55, 95) if context.effort == "quick" else small.LOADS
        made = {made.key: made for load in reversed(self._loads) for made in _cases(load)}
        for of in made.values():
            yield of.point(length_ms)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        measured = Measured(runs)
        for load in self._loads:
            for metric in _METRICS:
                published_ecmp, ecmp = case(schemes.ECMP, load, PAPER), case(schemes.ECMP, load, FAIR)
                yield quotient(measured, metric, published_ecmp, ecmp, "ECMP, fair: forwarding and ordering alone")
                for scheme in SCHEMES[1:]:
                    yield _gain(measured, metric, scheme, load, FAIR)
                    yield _gain(measured, metric, scheme, load, PAPER)
        for load in self._loads:
            for of in _cases(load):
                yield from _values(measured, of)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        measured = Measured(runs)
        x = [float(load) for load in self._loads]
        for preset in (PAPER, FAIR):
            series = [
                Series(s.name, x, [measured.value(_METRICS[0], case(s, load, preset)) for load in self._loads])
                for s in SCHEMES
            ]
            yield Plot(f"Preset {preset.name}", "load (%)", f"{_METRICS[0].name} (ms)", series, y_scale="log")


def _cases(load: int) -> list[FabricCase]:
    return [case(scheme, load, preset) for scheme in SCHEMES for preset in (PAPER, FAIR)]


def _gain(measured: Measured, metric: metrics.Timed, scheme: Scheme, load: int, preset: Preset) -> Row:
    """ECMP over the scheme: above 1 the scheme is faster."""
    ecmp, other = case(schemes.ECMP, load, preset), case(scheme, load, preset)
    row = quotient(measured, metric, ecmp, other, "it")
    return replace(row, series=scheme.name, metric=f"{metric.name}: ECMP's over its, preset {preset.name}")


def _values(measured: Measured, of: FabricCase) -> Iterable[Row]:
    for metric in (metrics.MEAN_QCT, metrics.P99_QCT, *_METRICS, metrics.DROPPED, metrics.REORDERED):
        yield of_case(measured, metric, of)
