"""What deflection does to others and to order: figures 7 and 8."""

from collections.abc import Iterable, Mapping, Sequence

from hitless.exhibits import Context, Row, exhibit
from hitless.exhibits.deflection import metrics, schemes
from hitless.exhibits.deflection.load_sweep import at
from hitless.exhibits.deflection.metrics import Measured
from hitless.exhibits.deflection.outcomes import ELEPHANT_BYTES
from hitless.exhibits.deflection.setting import Case, TransportName
from hitless.exhibits.deflection.sweep import Claim, Sweep, before, near_one, of_complete_ones, quotient

_SCHEMES = (schemes.ECMP, schemes.DIBS, schemes.VERTIGO, schemes.SIMPLE, schemes.QUANTILE)
_TRANSPORTS: Sequence[TransportName] = ("DCTCP", "Swift")
_PARALLEL = 0.15
"""How near "closely parallels" is."""


class _SideEffects(Sweep):
    """Five schemes with DCTCP and Swift."""

    quick_ms = 20

    def cases(self, context: Context) -> Sequence[Case]:
        if context.effort == "quick":
            return [at(scheme, 95) for scheme in _SCHEMES]
        loads = (55, 65, 75, 85, 95) if context.effort == "full" else (55, 75, 95)
        return [at(scheme, load, transport) for transport in _TRANSPORTS for scheme in _SCHEMES for load in loads]


@exhibit("pd/fig7", title="Goodput of elephant flows")
class Figure7(_SideEffects):
    """Of flows of 1 MB and more: the public cache-follower sizes end at 3.8 MB, the paper's elephants begin at 10."""

    shown = (metrics.ELEPHANT_GOODPUT,)

    def claims(self) -> Iterable[Claim]:
        vertigo, quantile = at(schemes.VERTIGO, 95), at(schemes.QUANTILE, 95)
        note = f"text: 20 % more; elephants are flows from {ELEPHANT_BYTES // 1_000_000} MB on, not 10 MB"
        yield Claim(metrics.ELEPHANT_GOODPUT, quantile, vertigo, 1.2, note, "higher")

    def further_rows(self, measured: Measured, ran: Mapping[str, Case]) -> Iterable[Row]:
        simple, dibs = at(schemes.SIMPLE, 95), at(schemes.DIBS, 95)
        row = quotient(measured, metrics.ELEPHANT_GOODPUT, simple, dibs, "that of DIBS")
        row = near_one(row, _PARALLEL, "Simple's goodput parallels that of DIBS")
        yield of_complete_ones(row, measured, metrics.ELEPHANT_GOODPUT, simple, dibs)


@exhibit("pd/fig8", title="Packets that arrive out of order")
class Figure8(_SideEffects):
    """Before the ordering layer."""

    shown = (metrics.REORDERED,)

    def claims(self) -> Iterable[Claim]:
        ecmp = at(schemes.ECMP, 95)
        yield Claim(metrics.REORDERED, at(schemes.VERTIGO, 95), ecmp, 3.3)
        yield Claim(metrics.REORDERED, at(schemes.QUANTILE, 95), ecmp, 2.4)

    def further_rows(self, measured: Measured, ran: Mapping[str, Case]) -> Iterable[Row]:
        yield before(measured, metrics.REORDERED, at(schemes.QUANTILE, 95), at(schemes.VERTIGO, 95))
