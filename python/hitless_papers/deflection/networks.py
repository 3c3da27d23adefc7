"""Other networks and other mixes: figures 10, 11 and 17."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hitless_papers import Context, Gain, Row, Unjudged, exhibit
from hitless_papers.deflection import metrics, schemes
from hitless_papers.deflection.fabrics import FAT_TREE, LEAF_SPINE, LEAF_SPINE_100G, Fabric
from hitless_papers.deflection.metrics import Measured
from hitless_papers.deflection.schemes import Scheme
from hitless_papers.deflection.setting import DURATION_MS, FabricCase, Incast, TransportName
from hitless_papers.deflection.sweep import Claim, Sweep, before, quotient

_ANSWERS_BITS = 100 * 40_000 * 8


@dataclass(frozen=True, slots=True)
class Mix:
    """Background and queries on a network, in percent."""

    fabric: Fabric
    background: int
    queries: int

    def case(self, scheme: Scheme, transport: TransportName = "DCTCP") -> FabricCase:
        incast = Incast(self.queries / 100 * self.fabric.core_bps / _ANSWERS_BITS)
        label = f"{self.background}+{self.queries}"
        return FabricCase(scheme, incast, self.fabric, transport, self.background, label=label)


_TREE_SCHEMES = (schemes.ECMP, schemes.AIFO, schemes.DIBS, schemes.VERTIGO, schemes.SIMPLE, schemes.QUANTILE)
_TREE = {load: Mix(FAT_TREE, 50, load - 50) for load in (55, 75, 95)}


@exhibit("pd/fig10", title="An 8-ary fat tree")
class Figure10(Sweep):
    """128 hosts, all links at 10 Gbps, DCTCP. Loads are of the links above the edge switches, as those to the hosts."""

    quick_ms = 24
    normal_ms = 200

    def cases(self, context: Context) -> Sequence[FabricCase]:
        if context.effort == "quick":  # those that the paper's sentences are about
            return list({case.key: case for claim in self.claims() for case in (claim.above, claim.below)}.values())
        return [mix.case(scheme) for mix in _TREE.values() for scheme in _TREE_SCHEMES]

    def claims(self) -> Iterable[Claim]:
        low = {scheme.name: _TREE[55].case(scheme) for scheme in _TREE_SCHEMES}
        yield Claim(metrics.MEAN_QCT, low["AIFO"], low["ECMP"], 3.0)
        for name in ("Simple", "Quantile-PD"):
            yield Claim(metrics.MEAN_QCT, low["AIFO"], low[name], 10.0, better="higher")
        high = {scheme.name: _TREE[95].case(scheme) for scheme in _TREE_SCHEMES}
        yield Claim(metrics.P99_QCT, high["ECMP"], high["DIBS"], 2.0)
        yield Claim(metrics.P99_QCT, high["ECMP"], high["Simple"], 2.0, better="higher")
        yield Claim(metrics.MEAN_QCT, high["Simple"], high["Quantile-PD"], 1 / 0.67, "text: 33 % less", "higher")
        yield Claim(metrics.P99_QCT, high["Simple"], high["Quantile-PD"], 1 / 0.58, "text: 42 % less", "higher")

    def further_rows(self, measured: Measured, ran: Mapping[str, FabricCase]) -> Iterable[Row]:
        """Text: at 95 % DIBS and Simple complete 4 % more queries than ECMP, in a run of the paper's length."""
        ecmp = _TREE[95].case(schemes.ECMP)
        for scheme in (schemes.DIBS, schemes.SIMPLE):
            case = _TREE[95].case(scheme)
            row = quotient(measured, metrics.COMPLETE, case, ecmp, ecmp.title)
            is_long = measured.runs[case.key].summary["simulated_s"] >= DURATION_MS / 1e3
            judge = Gain(better=schemes.claimed("higher", scheme))
            shorter = Unjudged("what is under way at the end weighs more in a run that is shorter than the paper's")
            yield replace(row, paper=1.04, judge=judge if is_long else shorter, note="text: 4 % more")


_FAST_SCHEMES = (
    schemes.ECMP,
    schemes.AIFO,
    schemes.DIBS,
    schemes.VERTIGO,
    schemes.SIMPLE,
    schemes.QUANTILE,
    schemes.DISTRIBUTION,
)
_FAST = {55: Mix(LEAF_SPINE_100G, 50, 5), 85: Mix(LEAF_SPINE_100G, 50, 35)}
_TWO: Sequence[TransportName] = ("DCTCP", "Swift")

WEB_SEARCH = "websearch_dctcp_pias"
"""The other background of section 5.2; the paper does not say which figures have it."""


def web_search(case: FabricCase) -> FabricCase:
    """The same run with web search as background, with flows of up to 29 MB."""
    return replace(case, sizes=WEB_SEARCH, label=f"{case.label} web search".strip())


@exhibit("pd/fig11", title="Links of 100 Gb/s")
class Figure11(Sweep):
    """DCTCP and Swift, 50 % of background."""

    quick_ms = 12
    normal_ms = 20

    def cases(self, context: Context) -> Sequence[FabricCase]:
        if context.effort == "quick":
            few = (schemes.ECMP, schemes.AIFO, schemes.SIMPLE, schemes.QUANTILE)
            return [_FAST[85].case(scheme, "Swift") for scheme in few]
        return [mix.case(s, transport) for mix in _FAST.values() for transport in _TWO for s in _FAST_SCHEMES]

    def claims(self) -> Iterable[Claim]:
        swift = {scheme.name: _FAST[85].case(scheme, "Swift") for scheme in _FAST_SCHEMES}
        for name, paper in (("ECMP", 6.0), ("AIFO", 18.0), ("Simple", 7.0)):
            yield Claim(metrics.MEAN_QCT, swift[name], swift["Quantile-PD"], paper, better="higher")

    def further_rows(self, measured: Measured, ran: Mapping[str, FabricCase]) -> Iterable[Row]:
        better, worse = _FAST[55].case(schemes.SIMPLE), _FAST[55].case(schemes.ECMP)
        if better.key in ran:
            yield before(measured, metrics.MEAN_QCT.whole, better, worse)


_MIXES = (Mix(LEAF_SPINE, 25, 50), Mix(LEAF_SPINE, 75, 10), Mix(LEAF_SPINE_100G, 25, 50), Mix(LEAF_SPINE_100G, 75, 10))
"""The text names total loads only, of 75 % and 85 %; the parts are those of the authors' configurations that come
nearest."""


@exhibit("pd/fig17", title="Other mixes of background and queries")
class Figure17(Sweep):
    """25 % and 75 % of background at both speeds, DCTCP and Swift; web search and cache followers."""

    quick_ms = 20
    normal_ms = 50

    def cases(self, context: Context) -> Sequence[FabricCase]:
        if context.effort == "quick":
            few = (schemes.ECMP, schemes.VERTIGO, schemes.QUANTILE)
            searching = [web_search(_MIXES[0].case(scheme)) for scheme in (schemes.ECMP, schemes.QUANTILE)]
            return [*(_MIXES[0].case(scheme, transport) for transport in _TWO for scheme in few), *searching]
        cases = [mix.case(scheme, transport) for mix in _MIXES for transport in _TWO for scheme in _FAST_SCHEMES]
        return [*cases, *(web_search(_MIXES[0].case(scheme)) for scheme in _FAST_SCHEMES)]

    def claims(self) -> Iterable[Claim]:
        slow, fast = _MIXES[0], _MIXES[3]
        vertigo = slow.case(schemes.VERTIGO)
        yield Claim(metrics.MEAN_QCT, slow.case(schemes.QUANTILE), vertigo, 1.68, "text: 68 % longer", "lower")
        swift = {s.name: slow.case(s, "Swift") for s in (schemes.ECMP, schemes.VERTIGO, schemes.QUANTILE)}
        yield Claim(metrics.P99_QCT, swift["ECMP"], swift["Quantile-PD"], 1 / 0.66, "text: 34 % less", "higher")
        yield Claim(metrics.P99_QCT, swift["Vertigo"], swift["Quantile-PD"], 1 / 0.91, "text: 9 % less", "higher")
        pair = fast.case(schemes.QUANTILE), fast.case(schemes.QUANTILE, "Swift")
        yield Claim(metrics.MEAN_QCT, *pair, 1 / 0.83, "text: 17 % less with Swift")
        yield Claim(metrics.P99_QCT, *pair, 1 / 0.7, "text: 30 % less with Swift")

    def further_rows(self, measured: Measured, ran: Mapping[str, FabricCase]) -> Iterable[Row]:
        pair = [_MIXES[0].case(scheme) for scheme in (schemes.ECMP, schemes.QUANTILE)]
        for ecmp, quantile in (pair, [web_search(case) for case in pair]):
            yield quotient(measured, metrics.MEAN_QCT.whole, ecmp, quantile, quantile.title)

    def panel(self, case: FabricCase) -> str:
        return super().panel(case) + (", web search" if case.sizes == WEB_SEARCH else "")
