"""How large an incast may be: figure 9."""

from collections.abc import Iterable, Mapping, Sequence

from hitless_papers import Context, Row, exhibit
from hitless_papers.deflection import metrics, schemes
from hitless_papers.deflection.metrics import Measured
from hitless_papers.deflection.schemes import Scheme
from hitless_papers.deflection.setting import FabricCase, Incast
from hitless_papers.deflection.sweep import Claim, Sweep, before

_QUERIES_PER_SECOND = 4_000
_SCHEMES = (schemes.ECMP, schemes.DIBS, schemes.SIMPLE, schemes.VERTIGO, schemes.QUANTILE, schemes.DISTRIBUTION)
_QUICK = (schemes.ECMP, schemes.SIMPLE, schemes.QUANTILE)

SCALES = (50, 150, 250, 350, 450)
"""Answers to a query, of 320 hosts: servers are drawn one by one, so that one may answer several times."""
SIZES_KB = (1, 10, 20, 60, 100, 140, 160, 180)


def _scale(scheme: Scheme, fan_in: int) -> FabricCase:
    return FabricCase(scheme, Incast(_QUERIES_PER_SECOND, fan_in, servers_repeat=True), label=f"{fan_in} answers")


def _size(scheme: Scheme, kilobytes: int) -> FabricCase:
    return FabricCase(scheme, Incast(_QUERIES_PER_SECOND, answer_bytes=1_000 * kilobytes), label=f"{kilobytes} KB")


@exhibit("pd/fig9", title="Scale of an incast, and size of its answers")
class Figure9(Sweep):
    """4,000 queries a second and 50 % of background, DCTCP: 40 KB from several servers, or several sizes from 100."""

    quick_ms = 20
    axis = "answers to a query, or KB of each"
    shown = (metrics.MEAN_QCT, metrics.P99_QCT, metrics.P99_ANSWER)

    def cases(self, context: Context) -> Sequence[FabricCase]:
        if context.effort == "quick":
            scales = [_scale(scheme, fan_in) for scheme in _QUICK for fan_in in (50, SCALES[-1])]
            return [*scales, *(_size(scheme, size) for scheme in _QUICK for size in (20, 180))]
        scales = [_scale(scheme, fan_in) for scheme in _SCHEMES for fan_in in SCALES]
        sizes = SIZES_KB if context.effort == "full" else (20, 100, 180)
        return [*scales, *(_size(scheme, size) for scheme in _SCHEMES for size in sizes)]

    def claims(self) -> Iterable[Claim]:
        most = SCALES[-1]
        quantile = _scale(schemes.QUANTILE, most)
        note = "servers may answer several times"
        yield Claim(metrics.P99_ANSWER, _scale(schemes.ECMP, most), quantile, 2.0, note, "higher")
        yield Claim(metrics.P99_ANSWER, _scale(schemes.DIBS, most), quantile, 4.0, note, "higher")
        above = _scale(schemes.DISTRIBUTION, most)
        yield Claim(metrics.MEAN_QCT, above, quantile, 1 / 0.66, f"text: 34 % less; {note}")
        quantile = _size(schemes.QUANTILE, 100)
        yield Claim(metrics.P99_QCT, _size(schemes.ECMP, 100), quantile, 1 / 0.72, "text: 28 % less", "higher")
        yield Claim(metrics.P99_QCT, _size(schemes.DIBS, 100), quantile, 1 / 0.76, "text: 24 % less", "higher")

    def further_rows(self, measured: Measured, ran: Mapping[str, FabricCase]) -> Iterable[Row]:
        orders = [
            (_scale(schemes.QUANTILE, SCALES[-1]), _scale(schemes.SIMPLE, SCALES[-1])),
            (_size(schemes.QUANTILE, 20), _size(schemes.ECMP, 20)),
            (_size(schemes.ECMP, 180), _size(schemes.QUANTILE, 180)),
        ]
        for better, worse in orders:
            if better.key in ran and worse.key in ran:
                yield before(measured, metrics.MEAN_QCT.whole, better, worse)

    def panel(self, case: FabricCase) -> str:
        return "by size of answers" if case.label.endswith("KB") else "by scale"

    def position(self, case: FabricCase) -> float | str:
        return float(case.label.split()[0])
