"""What deflection does to others and to order: figures 7 and 8."""

from collections.abc import Iterable, Mapping, Sequence

from hitless_papers import Context, Row, exhibit
from hitless_papers.deflection import metrics, networks, schemes
from hitless_papers.deflection.load_sweep import at
from hitless_papers.deflection.metrics import Measured
from hitless_papers.deflection.outcomes import ELEPHANT_BYTES
from hitless_papers.deflection.schemes import Scheme
from hitless_papers.deflection.setting import FabricCase, TransportName
from hitless_papers.deflection.sweep import Claim, Sweep, before, quotient
from hitless_papers.statements import near_one

_SCHEMES = (schemes.ECMP, schemes.DIBS, schemes.VERTIGO, schemes.SIMPLE, schemes.QUANTILE)
_TRANSPORTS: Sequence[TransportName] = ("DCTCP", "Swift")
_PARALLEL = 0.15
"""How near "closely parallels" is."""


class _SideEffects(Sweep):
    quick_ms = 20

    def cases(self, context: Context) -> Sequence[FabricCase]:
        if context.effort == "quick":
            return [self.case(scheme) for scheme in _SCHEMES]
        loads = (55, 65, 75, 85, 95) if context.effort == "full" else (55, 75, 95)
        return [self.case(scheme, x, transport) for transport in _TRANSPORTS for scheme in _SCHEMES for x in loads]

    def case(self, scheme: Scheme, load: int = 95, transport: TransportName = "DCTCP") -> FabricCase:
        return at(scheme, load, transport)


@exhibit("pd/fig7", title="Goodput of elephant flows")
class Figure7(_SideEffects):
    """Of flows of 10 MB and more, which the background of web search has: public cache-follower sizes end at 3.8 MB."""

    quick_ms = 60
    shown = (metrics.ELEPHANT_GOODPUT,)

    def case(self, scheme: Scheme, load: int = 95, transport: TransportName = "DCTCP") -> FabricCase:
        return networks.web_search(at(scheme, load, transport))

    def claims(self) -> Iterable[Claim]:
        vertigo, quantile = self.case(schemes.VERTIGO), self.case(schemes.QUANTILE)
        note = f"text: 20 % more; flows from {ELEPHANT_BYTES // 1_000_000} MB on, of a background of web search"
        yield Claim(metrics.ELEPHANT_GOODPUT, quantile, vertigo, 1.2, note, "higher")

    def further_rows(self, measured: Measured, ran: Mapping[str, FabricCase]) -> Iterable[Row]:
        pair = self.case(schemes.SIMPLE), self.case(schemes.DIBS)
        row = quotient(measured, metrics.ELEPHANT_GOODPUT, *pair, "that of DIBS")
        yield from near_one([row], _PARALLEL, "Simple's goodput closely parallels that of DIBS")


@exhibit("pd/fig8", title="Packets that arrive out of order")
class Figure8(_SideEffects):
    """Before the reorder buffer."""

    shown = (metrics.REORDERED,)

    def claims(self) -> Iterable[Claim]:
        ecmp = at(schemes.ECMP, 95)
        note = (
            "packets behind a later one of their flow; ahead of their turn, as TCP counts: 4.7 and 3.8 at most (docs)"
        )
        yield Claim(metrics.REORDERED, at(schemes.VERTIGO, 95), ecmp, 3.3, note)
        yield Claim(metrics.REORDERED, at(schemes.QUANTILE, 95), ecmp, 2.4, note)

    def further_rows(self, measured: Measured, ran: Mapping[str, FabricCase]) -> Iterable[Row]:
        yield before(measured, metrics.REORDERED, at(schemes.QUANTILE, 95), at(schemes.VERTIGO, 95))
