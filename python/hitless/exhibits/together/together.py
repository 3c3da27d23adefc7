"""Five systems on one leaf-spine: what each gives alone, and what it gives and costs beside the others.

The promises were written before anything was measured: with all five every flow completes, no packet is lost to the
failing or to the corrupting link, no packet of a burst is dropped, the flows beside the cheat have equal shares
(Jain's index at least 0.95), and the p99 of flows and queries is at most twice that of the clean network. A clean
network has the same load; all its links work, and nobody cheats.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from hitless.analysis import Interval, mean_interval, percentile, percentile_interval
from hitless.exhibits import Context, Exact, Point, Replicated, Row, Runs, Shape, Unjudged, above_one, at_most, exhibit
from hitless.exhibits.judge import Judge
from hitless.exhibits.together import outcomes
from hitless.exhibits.together.outcomes import BURSTS, LONG, QUERIES, SHORT, WEB_SEARCH, Counted, Timed
from hitless.exhibits.together.reduction import TABLES, reduced
from hitless.exhibits.together.schemes import ALL, ALONE, CLEAN, PLAIN, SCHEMES, SYSTEMS, WITHOUT, Scheme, scenario
from hitless.simulation import Run

_TAIL = 99.0
_COMPARED: Sequence[Timed] = (SHORT, LONG, QUERIES, BURSTS)
_TIMES_CLEAN = 2.0
"""How much longer than in the clean network a tail may be with all five."""
_FAIR = 0.95
_OWN = {"RIMM": BURSTS, "PD": QUERIES}
"""What a system is for, of what takes time."""
_NO_PAPER = Unjudged("no paper has all five")
_Runs: TypeAlias = tuple[Scheme, Sequence[Run]]


@exhibit("all/together", title="All five systems at once, each alone, and each taken out")
class Together(Replicated):
    """Runs of one replica have the same arrivals, failures and seeds of corruption; ratios are of such pairs."""

    def points(self, context: Context) -> Iterable[Point]:
        count = context.length("seeds", full=10, normal=5, quick=3)
        cases = {scheme.name: scenario(scheme) for scheme in SCHEMES}
        return self.replicated(count, cases, keep=TABLES, reduce=reduced)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        of = {scheme: self.each(runs, scheme.name) for scheme in SCHEMES}
        for scheme in SCHEMES:
            yield from _of_scheme(scheme, of[scheme])
        yield from _promises(of[ALL], of[CLEAN])
        for system in SYSTEMS:
            yield from _given(system, "alone", (PLAIN, of[PLAIN]), (ALONE[system], of[ALONE[system]]))
            yield from _given(system, "beside the others", (WITHOUT[system], of[WITHOUT[system]]), (ALL, of[ALL]))


def _of_scheme(scheme: Scheme, runs: Sequence[Run]) -> Iterator[Row]:
    """All numbers of one scheme; percentiles are of all its runs together."""
    for counted in outcomes.COUNTED:
        if counted in (outcomes.FAIRNESS, outcomes.GOODPUT) and scheme is CLEAN:
            continue  # nobody cheats there
        values = [counted.of(run) for run in runs]
        yield Row(
            scheme.name,
            "a run",
            counted.name,
            counted.unit,
            sum(values) / len(values),
            interval=mean_interval(values),
            judge=_promise(counted, scheme, values),
        )
    for timed, percents in outcomes.PERCENTILES.items():
        times = np.concatenate([timed.times_ms(run) for run in runs])
        share = timed.share(scheme.name, runs)
        for percent in percents:
            yield Row(
                scheme.name,
                timed.name,
                f"p{percent:g} completion time",
                "ms",
                percentile(times, percent),
                interval=percentile_interval(times, percent),
                judge=_NO_PAPER,
                completed=[share],
            )


def _promise(counted: Counted, scheme: Scheme, values: Sequence[float]) -> Judge:
    """What a system promises of a number, alone and beside all others."""
    promises = {
        outcomes.LOST_TO_FAILURES: ("SQR", "nothing is lost to the failing link"),
        outcomes.LOST_TO_CORRUPTION: ("LinkGuardian", "nothing is lost to the corrupting link"),
        outcomes.DROPPED_OF_BURSTS: ("RIMM", "no packet of a burst is dropped"),
        outcomes.FAIRNESS: ("AFQ", f"Jain's index is at least {_FAIR}"),
    }
    system, statement = promises.get(counted, ("", ""))
    if system not in scheme.systems or scheme not in (ALL, ALONE[system]):
        return _NO_PAPER
    holds = min(values) >= _FAIR if counted is outcomes.FAIRNESS else max(values) == 0
    return Shape(holds, f"{statement}, {scheme.name}")


def _promises(together: Sequence[Run], clean: Sequence[Run]) -> Iterator[Row]:
    """What all five promise together: everybody finishes, and in time."""
    for timed in (WEB_SEARCH, QUERIES, BURSTS):
        share = timed.share(ALL.name, together)
        yield Row(ALL.name, timed.name, "completed", "%", 100 * share.finished / share.begun, 100.0, judge=Exact(0.0))
    for timed in _COMPARED:
        ratio, interval = _ratio(timed, together, clean)
        statement = f"p99 of {timed.name} is at most {_TIMES_CLEAN:g} times that of the clean network"
        yield Row(
            ALL.name,
            timed.name,
            "p99 over the clean network's",
            "times",
            ratio,
            interval=interval,
            judge=at_most(interval, _TIMES_CLEAN, statement),
            completed=[timed.share(ALL.name, together), timed.share(CLEAN.name, clean)],
        )


def _given(system: str, where: str, without: _Runs, with_it: _Runs) -> Iterator[Row]:
    """How much longer things take without a system; below 1 it costs something."""
    for timed in _COMPARED:
        ratio, interval = _ratio(timed, without[1], with_it[1])
        statement = f"{system} shortens the tail of {timed.name}, {where}"
        yield Row(
            system,
            where,
            f"p99 of {timed.name}, without it over with it",
            "times",
            ratio,
            interval=interval,
            judge=above_one(interval, statement) if _OWN.get(system) is timed else _NO_PAPER,
            completed=[timed.share(scheme.name, runs) for scheme, runs in (without, with_it)],
        )


def _ratio(timed: Timed, numerator: Sequence[Run], denominator: Sequence[Run]) -> tuple[float, Interval]:
    """The geometric mean over pairs of runs with one seed of the ratio of their p99, and its interval (Student)."""
    pairs = zip(numerator, denominator, strict=True)
    logs = [math.log(timed.tail_ms(one, _TAIL) / timed.tail_ms(other, _TAIL)) for one, other in pairs]
    reach = mean_interval(logs)
    return math.exp(sum(logs) / len(logs)), Interval(math.exp(reach.low), math.exp(reach.high))
