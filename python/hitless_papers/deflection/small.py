"""The authors' small run at 1 Gbps, the only published numbers of their evaluation, and the same with all else equal.

Their numbers are the expected output of the small run in the README of their simulator.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from hitless.drawing.plot import Plot, Series
from hitless_papers import Context, Exhibit, Factor, Point, Row, Runs, Unjudged, exhibit
from hitless_papers.deflection import metrics, outcomes, schemes, statistics
from hitless_papers.deflection.fabrics import LEAF_SPINE_1G
from hitless_papers.deflection.metrics import Measured
from hitless_papers.deflection.schemes import FAIR, PAPER, Preset, Scheme, under
from hitless_papers.deflection.setting import DURATION_MS, FabricCase, Incast
from hitless_papers.deflection.statistics import Durations
from hitless_papers.deflection.sweep import of_case, quotient
from hitless_papers.estimates import Estimate
from hitless_papers.judge import AGREES, FACTOR
from hitless_papers.model import Share

LOADS = (55, 65, 75, 85, 95)
"""In percent: 50 % of background, the rest queries."""

MEAN_S = {
    schemes.ECMP.name: (0.0307, 0.0343, 0.0416, 0.0507, 0.0692),
    schemes.DIBS.name: (0.0109, 0.0217, 0.0345, 0.0530, 0.0918),
    schemes.SIMPLE.name: (0.0115, 0.0219, 0.0354, 0.0532, 0.0914),
    schemes.VERTIGO.name: (0.0153, 0.0175, 0.0183, 0.0200, 0.0248),
    schemes.QUANTILE.name: (0.0170, 0.0233, 0.0303, 0.0385, 0.0523),
    schemes.DISTRIBUTION.name: (0.0175, 0.0232, 0.0309, 0.0405, 0.0554),
}
P99_S = {
    schemes.ECMP.name: (0.0720, 0.0751, 0.0971, 0.1006, 0.1820),
    schemes.DIBS.name: (0.0210, 0.0496, 0.0813, 0.1135, 0.3175),
    schemes.SIMPLE.name: (0.0243, 0.0466, 0.0864, 0.1106, 0.3299),
    schemes.VERTIGO.name: (0.0216, 0.0244, 0.0258, 0.0388, 0.0486),
    schemes.QUANTILE.name: (0.0280, 0.0421, 0.0567, 0.0806, 0.0981),
    schemes.DISTRIBUTION.name: (0.0267, 0.0412, 0.0533, 0.0817, 0.1052),
}


SCHEMES = (schemes.ECMP, schemes.DIBS, schemes.SIMPLE, schemes.VERTIGO, schemes.QUANTILE, schemes.DISTRIBUTION)
MULTIPLIERS = (1, 0.33, 0.2, 0.14, 0.11)
"""Of the time between queries, of which there are 244 a second with 1: the authors' configuration."""
FAN_IN, ANSWER_BYTES = 40, 20_000
_SHOWN = (("mean", statistics.mean, MEAN_S), ("p99", statistics.p99, P99_S))
"""The authors' statistics, and their numbers."""
_HOSTS = "hosts and transport of the authors' simulator: with those of today's RFCs 51 of the 60 were within 2"


def case(scheme: schemes.Scheme, load: int) -> FabricCase:
    multiplier = MULTIPLIERS[LOADS.index(load)]
    return FabricCase(scheme, Incast(244 / multiplier, FAN_IN, ANSWER_BYTES), LEAF_SPINE_1G)


@exhibit("pd/small", title="The authors' table at 1 Gb/s: QCT of six schemes at five loads")
class Small(Exhibit):
    """Every number of the authors' table, within a factor of 2."""

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = context.length("ms of traffic", full=DURATION_MS, quick=200)
        # The longest first, so that both cores have work to the end.
        for load in reversed(LOADS):
            for scheme in SCHEMES:
                yield case(scheme, load).point(length_ms)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        times = self._times(runs)
        judged = [row for key in times for row in _judged(*key, times[key])]
        yield _near(judged)
        yield from judged
        for key, of in times.items():
            yield from _beside(*key, of)
        for scheme in SCHEMES:
            for load in LOADS:
                yield from _network(runs, case(scheme, load), load)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        times = self._times(runs)
        for name, statistic, paper in _SHOWN:
            series = [_series(scheme.name, statistic, times) for scheme in SCHEMES]
            series += [_paper_series(scheme.name, paper) for scheme in SCHEMES]
            caption = "Hollow: the authors' numbers."
            title = f"{name[0].upper()}{name[1:]} QCT" if name == "mean" else f"{name} QCT"
            yield Plot(title, "load (%)", "QCT (s)", series, y_scale="log", caption=caption)

    def _times(self, runs: Runs) -> Mapping[tuple[str, int], Durations]:
        found = {}
        for scheme in SCHEMES:
            for load in LOADS:
                found[scheme.name, load] = outcomes.queries(runs[case(scheme, load).key], FAN_IN)
        return found


def _judged(scheme: str, load: int, times: Durations) -> Iterator[Row]:
    index = LOADS.index(load)
    better = schemes.claimed("lower", next(made for made in SCHEMES if made.name == scheme))
    share = Share(scheme, int(times.is_complete.sum()), times.is_complete.size, "queries")
    x, judge = f"{load} %", Factor(better=better)
    for metric, statistic, published_s in _SHOWN:
        measured = Estimate(statistic(times), times.interval(statistic), (share,))
        yield measured.row(scheme, x, f"{metric} QCT", published_s[scheme][index], judge, unit="s", note=_HOSTS)


def _near(rows: list[Row]) -> Row:
    """How many numbers lie within the factor, complete or not: the authors' see complete queries only as well."""
    near = sum(replace(row, completed=()).verdict in AGREES for row in rows)
    judge = Unjudged("each of the numbers is judged")
    metric = f"numbers within a factor of {FACTOR:g}, of {len(rows)}"
    return Row("all", "all loads", metric, "", float(near), judge=judge)


def _beside(scheme: str, load: int, times: Durations) -> Iterator[Row]:
    """Show queries that the authors' statistics leave out."""
    x, share = f"{load} %", statistics.complete_share(times)
    note = f"of {times.is_complete.size:,}"
    yield Row(scheme, x, "queries complete", "%", None if share is None else 100 * share, note=note)
    for metric, statistic in (("mean QCT", statistics.whole_mean), ("p99 QCT", statistics.whole_p99)):
        measured = Estimate(statistic(times), times.interval(statistic))
        yield measured.row(scheme, x, f"{metric}, unfinished queries counted", unit="s")


def _network(runs: Runs, of: FabricCase, load: int) -> Iterator[Row]:
    run, name, x = runs[of.key], of.scheme.name, f"{load} %"
    measured = outcomes.offered_percent(run, of.fabric.core_bps)
    note = f"payload asked for, of {of.fabric.core_bps / 1e9:g} Gbps from leaves to spines"
    yield Row(name, x, "load", "%", measured, note=note)
    yield Row(name, x, "packets dropped", "%", outcomes.dropped_percent(run), note="of those that hosts sent")


def _series(name: str, statistic: statistics.Statistic, times: Mapping[tuple[str, int], Durations]) -> Series:
    return Series(name, [float(load) for load in LOADS], [statistic(times[name, x]) for x in LOADS])


def _paper_series(name: str, paper: Mapping[str, tuple[float, ...]]) -> Series:
    return Series(name, [float(load) for load in LOADS], list(paper[name]), source="paper")


FAIR_SCHEMES = (*SCHEMES, schemes.TRIMMING)
_FAIR_METRICS = (metrics.MEAN_QCT.whole, metrics.P99_QCT.whole)


def fair_case(scheme: Scheme, load: int, preset: Preset) -> FabricCase:
    """Return the small network under a preset, or under "paper" if the preset changes nothing."""
    made = case(scheme, load)
    return made if under(scheme, preset) == scheme else replace(made, preset=preset)


@exhibit("pd/fair", title="What deflection itself contributes")
class Fair(Exhibit):
    """Each scheme over ECMP, as published and with all else equal; and ECMP as published over ECMP with all else."""

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = context.length("ms of traffic", full=DURATION_MS, quick=250)
        self._loads: Sequence[int] = (55, 95) if context.effort == "quick" else LOADS
        made = {made.key: made for load in reversed(self._loads) for made in _fair_cases(load)}
        for of in made.values():
            yield of.point(length_ms)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        measured = Measured(runs)
        for load in self._loads:
            for metric in _FAIR_METRICS:
                published_ecmp, ecmp = fair_case(schemes.ECMP, load, PAPER), fair_case(schemes.ECMP, load, FAIR)
                yield quotient(measured, metric, published_ecmp, ecmp, "ECMP, fair: forwarding and ordering alone")
                for scheme in FAIR_SCHEMES[1:]:
                    yield _fair_gain(measured, metric, scheme, load, FAIR)
                    yield _fair_gain(measured, metric, scheme, load, PAPER)
        for load in self._loads:
            for of in _fair_cases(load):
                yield from _fair_values(measured, of)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        measured = Measured(runs)
        x = [float(load) for load in self._loads]
        for preset in (PAPER, FAIR):
            series = []
            for scheme in FAIR_SCHEMES:
                cases = [fair_case(scheme, load, preset) for load in self._loads]
                series.append(Series(scheme.name, x, [measured.value(_FAIR_METRICS[0], case) for case in cases]))
            yield Plot(f"Preset {preset.name}", "load (%)", f"{_FAIR_METRICS[0].name} (ms)", series, y_scale="log")


def _fair_cases(load: int) -> list[FabricCase]:
    return [fair_case(scheme, load, preset) for scheme in FAIR_SCHEMES for preset in (PAPER, FAIR)]


def _fair_gain(measured: Measured, metric: metrics.Timed, scheme: Scheme, load: int, preset: Preset) -> Row:
    """ECMP over the scheme: above 1 the scheme is faster."""
    ecmp, other = fair_case(schemes.ECMP, load, preset), fair_case(scheme, load, preset)
    row = quotient(measured, metric, ecmp, other, "it")
    return replace(row, series=scheme.name, metric=f"{metric.name}: ECMP's over its, preset {preset.name}")


def _fair_values(measured: Measured, of: FabricCase) -> Iterable[Row]:
    for metric in (metrics.MEAN_QCT, metrics.P99_QCT, *_FAIR_METRICS, metrics.DROPPED, metrics.REORDERED):
        yield of_case(measured, metric, of)
