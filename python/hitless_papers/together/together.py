"""Five systems on one leaf-spine: the gain of each alone, and its gain and cost with the others.

The promises were written before anything was measured: with all five every flow completes, no packet is lost to the
failing or to the corrupting link, no packet of a burst is dropped, the flows beside the cheat have equal shares
(Jain's index at least 0.95), and the p99 of flows and queries is at most twice that of the clean network. A run has too
few bursts for a percentile, so that its slowest stands in its place. A clean network has the same load; all its links
work, and nobody cheats.

A system alone among all troubles has its gain hidden by what others would repair. So each is also run with web-search
and its own trouble only: SQR with failures, LinkGuardian with corruption, AFQ with the cheat, RIMM with bursts, PD with
queries.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from hitless.analysis import paired_ratio
from hitless.simulation import Run
from hitless_papers import Context, Exact, Point, Replicated, Row, Runs, Shape, Unjudged, above_one, at_most, exhibit
from hitless_papers.estimates import Estimate, mean_of, percentile_of
from hitless_papers.judge import Judge
from hitless_papers.together import outcomes
from hitless_papers.together.outcomes import BURSTS, LONG, QUERIES, SHORT, TABLES, WEB_SEARCH, Counted, Timed, reduced
from hitless_papers.together.schemes import (
    ALL,
    ALONE,
    BARE,
    CLEAN,
    GUARDED,
    IN_OWN_TROUBLE,
    PLAIN,
    SCHEMES,
    SYSTEMS,
    WITHOUT,
    Scheme,
    scenario,
)

_COMPARED: Sequence[Timed] = (SHORT, LONG, QUERIES, BURSTS)
_TIMES_CLEAN = 2.0
"""How much longer than in the clean network a tail may be with all five."""
_FAIR = 0.95
_OWN = {"RIMM": BURSTS, "PD": QUERIES}
"""Times that a system is made to shorten."""
_PROMISES: Mapping[Counted, tuple[str, str]] = {
    outcomes.LOST_TO_FAILURES: ("SQR", "nothing is lost to the failing link"),
    outcomes.LOST_TO_CORRUPTION: ("LinkGuardian", "nothing is lost to the corrupting link"),
    outcomes.DROPPED_OF_BURSTS: ("RIMM", "no packet of a burst is dropped"),
    outcomes.FAIRNESS: ("AFQ", f"Jain's index is at least {_FAIR}"),
}
"""The promise of each system for each number."""
_NO_PAPER = Unjudged("no paper has all five")
_ALONE = Unjudged("other systems' troubles are left: judged with its own trouble only")
_Runs: TypeAlias = tuple[Scheme, Sequence[Run]]


@exhibit("all/together", title="All five systems at once, each alone, and each taken out")
class Together(Replicated):
    """Runs of one replica have the same arrivals, failures and seeds of corruption; ratios are of such pairs."""

    def points(self, context: Context) -> Iterable[Point]:
        count = context.length("seeds", full=10, normal=5, quick=3)
        cases = {scheme.name: scenario(scheme) for scheme in (*SCHEMES, *IN_OWN_TROUBLE)}
        return self.replicated(count, cases, keep=TABLES, reduce=reduced)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        of = {scheme: self.each(runs, scheme.name) for scheme in SCHEMES}
        for scheme in SCHEMES:
            yield from _of_scheme(scheme, of[scheme])
        yield from _promises(of[ALL], of[CLEAN])
        for system in SYSTEMS:
            yield from _given(system, "alone", (PLAIN, of[PLAIN]), (ALONE[system], of[ALONE[system]]))
            yield from _given(system, "beside the others", (WITHOUT[system], of[WITHOUT[system]]), (ALL, of[ALL]))
            bare, guarded = ((each, self.each(runs, each.name)) for each in (BARE[system], GUARDED[system]))
            yield from _in_own_trouble(system, bare, guarded)


def _of_scheme(scheme: Scheme, runs: Sequence[Run]) -> Iterator[Row]:
    """Yield all numbers of one scheme, with percentiles over all its runs."""
    for counted in outcomes.COUNTED:
        if counted in (outcomes.FAIRNESS, outcomes.GOODPUT) and scheme is CLEAN:
            continue  # nobody cheats there
        values = [counted.of(run) for run in runs]
        judge = _promise(counted, scheme, values)
        yield mean_of(values).row(scheme.name, "a run", counted.name, None, judge, unit=counted.unit)
    for timed, percents in outcomes.PERCENTILES.items():
        times = np.concatenate([timed.times_ms(run) for run in runs])
        share = timed.share(scheme.name, runs)
        for percent in percents:
            p, metric = percentile_of(times, percent), f"p{percent:g} completion time"
            yield p.row(scheme.name, timed.name, metric, None, _NO_PAPER, unit="ms", completed=[share])


def _promise(counted: Counted, scheme: Scheme, values: Sequence[float]) -> Judge:
    """Judge the promise of a system, alone and with all others."""
    system, statement = _PROMISES.get(counted, ("", ""))
    if system not in scheme.systems or scheme not in (ALL, ALONE[system], GUARDED[system]):
        return _NO_PAPER
    holds = min(values) >= _FAIR if counted is outcomes.FAIRNESS else max(values) == 0
    return Shape(holds, f"{statement}, {scheme.name}")


def _promises(together: Sequence[Run], clean: Sequence[Run]) -> Iterator[Row]:
    """What all five promise together: everybody finishes, and in time."""
    for timed in (WEB_SEARCH, QUERIES, BURSTS):
        share = timed.share(ALL.name, together)
        yield Row(ALL.name, timed.name, "completed", "%", 100 * share.finished / share.begun, 100.0, judge=Exact(0.0))
    for timed in _COMPARED:
        statement = f"{timed.tail} of {timed.name} is at most {_TIMES_CLEAN:g} times that of the clean network"
        ratio = _ratio(timed, (ALL, together), (CLEAN, clean))
        judge = at_most(_TIMES_CLEAN, statement)
        yield ratio.row(ALL.name, timed.name, f"{timed.tail} over the clean network's", None, judge)


def _given(system: str, where: str, without: _Runs, with_it: _Runs) -> Iterator[Row]:
    """How much longer things take without a system; below 1 it costs something."""
    for timed in _COMPARED:
        ratio = _ratio(timed, without, with_it)
        statement = f"{system} shortens the tail of {timed.name}, {where}"
        own: Judge = _ALONE if where == "alone" else above_one(statement)
        judge = own if _OWN.get(system) is timed else _NO_PAPER
        yield ratio.row(system, where, f"{timed.tail} of {timed.name}, without it over with it", None, judge)


def _in_own_trouble(system: str, without: _Runs, with_it: _Runs) -> Iterator[Row]:
    """Yield the gain of a system in its own trouble only."""
    for counted, (promised_by, _) in _PROMISES.items():
        if promised_by == system:
            for scheme, runs in (without, with_it):
                values = [counted.of(run) for run in runs]
                judge = _promise(counted, scheme, values)
                yield mean_of(values).row(scheme.name, "a run", counted.name, None, judge, unit=counted.unit)
    own = [_OWN[system]] if system in _OWN else []
    for timed in (SHORT, LONG, *own):
        statement = f"{system} shortens the tail of {timed.name} in its own trouble"
        judge = above_one(statement) if timed in own else _NO_PAPER
        metric = f"{timed.tail} of {timed.name}, without it over with it"
        yield _ratio(timed, without, with_it).row(system, "its own trouble only", metric, None, judge)


def _ratio(timed: Timed, above: _Runs, below: _Runs) -> Estimate:
    """The geometric mean over pairs of runs with one seed of the ratio of their tails, and its interval (Student)."""
    paired = paired_ratio(*([timed.tail_ms(run) for run in runs] for _, runs in (below, above)))
    shares = [timed.share(scheme.name, runs) for scheme, runs in (above, below)]
    return Estimate(paired.estimate, paired.interval, shares)
