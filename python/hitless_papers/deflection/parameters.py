"""Parameters of Preemptive Deflection: figures 12, 13 and 14."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hitless_papers import Context, Row, exhibit
from hitless_papers.deflection import metrics
from hitless_papers.deflection.load_sweep import QUERIES_PER_SECOND, at
from hitless_papers.deflection.metrics import Measured
from hitless_papers.deflection.schemes import DISTRIBUTION, MINIMUM_THRESHOLD, QUANTILE, Scheme, quantile
from hitless_papers.deflection.setting import FabricCase
from hitless_papers.deflection.sweep import Claim, Sweep, judgeable
from hitless_papers.statements import near_one

ALPHAS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
WINDOWS = (1, 5, 20, 50, 200)
SAMPLING = (1, 20, 100, 500)
GAPS_US = (0.1, 0.5, 1, 2, 5, 10, 50, 500)
_STEADY_US = 2
_GAP_LOAD = 75
"""The text gives no load for figure 14."""
_NEAR = 0.15
"""How near "steady", "converged" and "marginal" are."""


def _varied(scheme: Scheme, load: int, label: str, **changes: Any) -> FabricCase:
    return replace(at(scheme.with_mechanism(scheme.name, **changes), load), label=label)


def alpha(value: float, load: int, scheme: Scheme = QUANTILE) -> FabricCase:
    return _varied(scheme, load, f"alpha {value:g}", alpha=value)


def window(entries: int, load: int) -> FabricCase:
    return _varied(QUANTILE, load, f"window {entries}", relative_priority=quantile(window=entries))


def sampling(every: int, load: int) -> FabricCase:
    """Quantile-PD that remembers every n-th packet."""
    return _varied(QUANTILE, load, f"sampling {every}", relative_priority=quantile(sample_every=every))


@exhibit("pd/fig12", title="Aggressiveness, window and sampling")
class Figure12(Sweep):
    """DCTCP at 10/40G."""

    quick_ms = 20
    axis = "alpha, window or packets for each sample"

    def cases(self, context: Context) -> Sequence[FabricCase]:
        if context.effort == "quick":
            alphas = [alpha(value, 55) for value in (0.0, 0.1, 1.0)] + [alpha(value, 95) for value in (0.1, 0.5, 0.9)]
            return [*alphas, window(20, 95), window(200, 95), sampling(1, 95), sampling(500, 95)]
        loads = tuple(QUERIES_PER_SECOND)[::2]
        alphas = [
            alpha(value, load, scheme) for scheme in (QUANTILE, DISTRIBUTION) for value in ALPHAS for load in loads
        ]
        windows = [window(entries, load) for entries in WINDOWS for load in loads]
        return [*alphas, *windows, *(sampling(every, load) for every in SAMPLING for load in loads)]

    def claims(self) -> Iterable[Claim]:
        best = alpha(0.1, 55)
        yield Claim(metrics.MEAN_QCT, alpha(0.0, 55), best, 1 / 0.81, "text: 19 % better")
        yield Claim(metrics.MEAN_QCT, alpha(1.0, 55), best, 1 / 0.29, "text: 71 % better")
        best = alpha(0.5, 95)
        yield Claim(metrics.P99_QCT, alpha(0.1, 95), best, 2.0, "text: 50 % better")
        yield Claim(metrics.P99_QCT, alpha(0.9, 95), best, 1 / 0.6, "text: 40 % better")
        yield Claim(metrics.P99_QCT, window(20, 95), window(200, 95), 1.13, "text: 13 % more")

    def further_rows(self, measured: Measured, ran: Mapping[str, FabricCase]) -> Iterable[Row]:
        few, many = sampling(1, 95), sampling(500, 95)
        both = (metrics.MEAN_QCT, metrics.P99_QCT)
        rows = (judgeable(measured, metric, many, few, "that with every packet") for metric in both)
        yield from near_one(rows, _NEAR, "the sampling rate has a marginal effect")

    def panel(self, case: FabricCase) -> str:
        return f"{case.label.split()[0]} at {case.percent} %"

    def position(self, case: FabricCase) -> float | str:
        return float(case.label.split()[1])


def probabilistic(load: int) -> FabricCase:
    """The variant inspired by Random Early Detection (section 6). In the authors' simulator alpha is a factor of it."""
    decision = {"kind": "probabilistic", "minimum_threshold": MINIMUM_THRESHOLD, "times_alpha": True}
    return at(QUANTILE.with_mechanism("probabilistic PD", decision=decision), load)


def probabilistic_from(threshold: str) -> FabricCase:
    """The same at the lower load with another threshold, and without that factor."""
    decision = {"kind": "probabilistic", "minimum_threshold": threshold}
    return at(QUANTILE.with_mechanism(f"probabilistic PD from {threshold}", decision=decision), 55)


_THRESHOLDS = ("75 KB", "200 KB")
"""Of experiments on "similar": no threshold near DCTCP's, 65 packets, makes it so."""


@exhibit("pd/fig13", title="Deterministic and probabilistic preemptive deflection")
class Figure13(Sweep):
    """DCTCP at 10/40G."""

    quick_ms = 30

    def cases(self, context: Context) -> Sequence[FabricCase]:
        loads = tuple(QUERIES_PER_SECOND) if context.effort == "full" else (55, 95)
        judged = [case for load in loads for case in (at(QUANTILE, load), probabilistic(load))]
        return [*judged, *map(probabilistic_from, _THRESHOLDS)]

    def claims(self) -> Iterable[Claim]:
        yield Claim(metrics.MEAN_QCT, probabilistic(95), at(QUANTILE, 95), 2.7)
        yield Claim(metrics.P99_QCT, probabilistic(95), at(QUANTILE, 95), 2.3)

    def further_rows(self, measured: Measured, ran: Mapping[str, FabricCase]) -> Iterable[Row]:
        pair = probabilistic(55), at(QUANTILE, 55)
        row = judgeable(measured, metrics.MEAN_QCT, *pair, "the deterministic one")
        yield from near_one([row], _NEAR, "similar under low load")
        for case in map(probabilistic_from, _THRESHOLDS):
            yield judgeable(measured, metrics.MEAN_QCT, case, at(QUANTILE, 55), "the deterministic one")


def stale(scheme: Scheme, gap_us: float) -> FabricCase:
    occupancy: Mapping[str, Any] = {"kind": "update-gap", "gap": f"{gap_us:g} us"}
    return _varied(scheme, _GAP_LOAD, f"gap {gap_us:g} us", occupancy=occupancy)


@exhibit("pd/fig14", title="How often ingress learns of occupancy")
class Figure14(Sweep):
    """Update gap, DCTCP at 75 %."""

    quick_ms = 20
    axis = "time between updates (us)"

    def cases(self, context: Context) -> Sequence[FabricCase]:
        gaps = (0.1, 2, 50, 500) if context.effort == "quick" else GAPS_US
        both = (QUANTILE,) if context.effort == "quick" else (QUANTILE, DISTRIBUTION)
        return [stale(scheme, gap) for scheme in both for gap in gaps]

    def further_rows(self, measured: Measured, ran: Mapping[str, FabricCase]) -> Iterable[Row]:
        def over_fresh(gaps_us: Iterable[float]) -> Iterable[Row]:
            for scheme, gap_us in itertools.product((QUANTILE, DISTRIBUTION), gaps_us):
                case, fresh = stale(scheme, gap_us), stale(scheme, GAPS_US[0])
                if case.key in ran:
                    yield judgeable(measured, metrics.MEAN_QCT, case, fresh, "that with 0.1 us")

        steady = [gap_us for gap_us in GAPS_US[1:] if gap_us <= _STEADY_US]
        yield from near_one(over_fresh(steady), _NEAR, f"steady while the gap is under {_STEADY_US} us")
        yield from over_fresh(gap_us for gap_us in GAPS_US if gap_us > _STEADY_US)

    def panel(self, case: FabricCase) -> str:
        return "by update gap"

    def position(self, case: FabricCase) -> float | str:
        return float(case.label.split()[1])
