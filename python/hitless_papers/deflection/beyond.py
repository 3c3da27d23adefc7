"""What section 6 names as future work: buffers that ports share, and hosts that lie about their priority."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from hitless_papers import Context, Row, exhibit
from hitless_papers.deflection import metrics, outcomes, schemes, statistics
from hitless_papers.deflection.load_sweep import at
from hitless_papers.deflection.metrics import Measured
from hitless_papers.deflection.schemes import FAIR, Scheme
from hitless_papers.deflection.setting import BACKGROUND, LIARS, FabricCase
from hitless_papers.deflection.sweep import Sweep, quotient
from hitless_papers.estimates import Estimate
from hitless_papers.statements import at_most

_LOAD = 95
_LEAF_PORTS = 44
LIE = 100
"""What liars divide their remaining bytes by."""
_NO_GAIN = 1.1
"""Up to this, the gain of liars is about 1."""
_SHARED = {"buffer": {"kind": "shared", "total": f"{_LEAF_PORTS * 75} KB", "alpha": 1.0}}
"""A quarter of what the ports of a leaf have each for itself together; every switch has this much. With all of it a
query of 4 MB fits into what is free, no queue reaches its threshold, and all schemes do the same."""


def shared(scheme: Scheme, *, dynamic: bool) -> FabricCase:
    """A scheme with static queues, or with dynamic thresholds over a shared buffer."""
    case = at(scheme, _LOAD, preset=FAIR)
    if not dynamic:
        return case
    preemptive = (scheme.mechanism or {}).get("kind") == "preemptive-deflection"
    adapted = scheme.with_mechanism(scheme.name, capacity={"kind": "current-threshold"}) if preemptive else scheme
    return replace(case, scheme=adapted, switch=_SHARED, label="shared buffer")


def lying(scheme: Scheme, *, guarded: bool) -> FabricCase:
    """Half of the background claims to be a hundred times more urgent."""
    guard = ({"kind": "rank-guard"},) if guarded else ()
    label = "liars, guarded" if guarded else "liars"
    return replace(at(scheme, _LOAD), lie_divisor=LIE, further=guard, label=label)


@exhibit("pd/future", title="Shared buffers, and hosts that lie about their priority")
class Future(Sweep):
    """DCTCP at 95 %; shared buffers under preset "fair", lies under preset "paper"."""

    quick_ms = 15

    def cases(self, context: Context) -> Sequence[FabricCase]:
        few = (schemes.ECMP, schemes.QUANTILE)
        compared = few if context.effort == "quick" else (*few, schemes.SIMPLE, schemes.VERTIGO, schemes.DISTRIBUTION)
        buffers = [shared(scheme, dynamic=dynamic) for scheme in compared for dynamic in (False, True)]
        marked = few[1:] if context.effort == "quick" else (schemes.QUANTILE, schemes.VERTIGO)
        lies = [lying(scheme, guarded=is_guarded) for scheme in marked for is_guarded in (False, True)]
        return [*buffers, *lies]

    def further_rows(self, measured: Measured, ran: Mapping[str, FabricCase]) -> Iterable[Row]:
        for scheme in (schemes.QUANTILE, schemes.VERTIGO):
            plain, guarded = (lying(scheme, guarded=is_guarded) for is_guarded in (False, True))
            if plain.key in ran and guarded.key in ran:
                yield from _gains(_gain(measured, plain), _gain(measured, guarded))
        for case in ran.values():
            if case.label == "shared buffer":
                fixed = shared(case.scheme, dynamic=False)
                yield quotient(measured, metrics.MEAN_QCT, case, fixed, "that with static queues")

    def panel(self, case: FabricCase) -> str:
        return "liars" if case.lie_divisor > 1 else FAIR.note

    def position(self, case: FabricCase) -> float | str:
        return case.label or "static queues"


def _gain(measured: Measured, case: FabricCase) -> Row:
    """Return the gain of lying: FCT of honest background flows over FCT of liars with the same sizes."""
    run = measured.runs[case.key]
    honest, liars = (outcomes.flows(run, group) for group in (BACKGROUND, LIARS))
    value = statistics.ratio(*map(statistics.whole_mean, (honest, liars)))
    gain = Estimate(value, statistics.ratio_interval_within(honest, liars, statistics.whole_mean))
    metric = "mean FCT of honest background flows over that of liars, unfinished flows counted"
    return gain.row(case.title, case.x, metric, note=f"liars claim 1/{LIE} of what is left")


def _gains(plain: Row, guarded: Row) -> Iterator[Row]:
    """What lying is worth without the guard and with it, which should leave nothing of it."""
    yield plain
    statement = f"with the guard lying is worth nothing under {guarded.series}"
    yield replace(guarded, judge=at_most(_NO_GAIN, statement))
    metric = "what lying is worth without the guard, over with it"
    value = statistics.ratio(plain.measured, guarded.measured)
    yield Row(guarded.series, guarded.x, metric, "times", value)
