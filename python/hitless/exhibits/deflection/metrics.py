"""The numbers that figures show, each by its name, and how sure they are."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from hitless.analysis import Interval
from hitless.exhibits import Runs
from hitless.exhibits.deflection import outcomes, statistics
from hitless.exhibits.deflection.setting import QUERIES, Case
from hitless.exhibits.deflection.statistics import Durations, Statistic
from hitless.simulation import Run

Sample: TypeAlias = Callable[[Run, Case], Durations]


@dataclass(frozen=True, slots=True)
class Timed:
    """A statistic of how long queries or flows took, in milliseconds."""

    name: str
    sample: Sample
    statistic: Statistic
    unit: str = "ms"


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of a whole run."""

    name: str
    unit: str
    count: Callable[[Run], float | None]
    sample: Sample | None = None
    """What it is a number of, where it sees complete ones only."""


Metric: TypeAlias = Timed | Counted


def _queries(run: Run, case: Case) -> Durations:
    return outcomes.queries(run, case.incast.fan_in)


def _answers(run: Run, case: Case) -> Durations:  # noqa: ARG001 - all samples are taken alike
    return outcomes.flows(run, QUERIES)


def _background(run: Run, case: Case) -> Durations:  # noqa: ARG001
    return outcomes.flows(run)


def _elephants(run: Run, case: Case) -> Durations:  # noqa: ARG001
    return outcomes.elephants(run)


MEAN_QCT = Timed("mean QCT", _queries, statistics.mean)
P99_QCT = Timed("p99 QCT", _queries, statistics.p99)
WHOLE_MEAN_QCT = Timed("mean QCT, unfinished queries counted", _queries, statistics.whole_mean)
WHOLE_P99_QCT = Timed("p99 QCT, unfinished queries counted", _queries, statistics.whole_p99)
MEAN_FCT = Timed("mean FCT of the background", _background, statistics.mean)
P99_FCT = Timed("p99 FCT of the background", _background, statistics.p99)
WHOLE_MEAN_FCT = Timed("mean FCT of the background, unfinished flows counted", _background, statistics.whole_mean)
WHOLE_P99_FCT = Timed("p99 FCT of the background, unfinished flows counted", _background, statistics.whole_p99)
P99_ANSWER = Timed("p99 FCT of answers", _answers, statistics.p99)
WHOLE_P99_ANSWER = Timed("p99 FCT of answers, unfinished ones counted", _answers, statistics.whole_p99)
DROPPED = Counted("packets dropped, of those sent", "%", outcomes.dropped_percent)
REORDERED = Counted("packets out of order", "%", outcomes.reordered_percent)
ELEPHANT_GOODPUT = Counted(
    "goodput of elephants", "Gbps", lambda run: _giga(outcomes.elephant_goodput_bps(run)), _elephants
)

WHOLE = {
    MEAN_QCT.name: WHOLE_MEAN_QCT,
    P99_QCT.name: WHOLE_P99_QCT,
    MEAN_FCT.name: WHOLE_MEAN_FCT,
    P99_FCT.name: WHOLE_P99_FCT,
    P99_ANSWER.name: WHOLE_P99_ANSWER,
}
"""What has a form with unfinished ones counted."""


_MOSTLY = 0.8
"""A share of the queries, from which on complete ones stand for all; the authors' own runs at 95 % have 90 % or so."""
_LEFT_OF_MEAN = 0.25
"""Above this share of queries that last longer than the run, their mean is a bound and no mean."""


def _giga(value: float | None) -> float | None:
    return None if value is None else value / 1e9


@dataclass(slots=True)
class Measured:
    """The metrics of finished runs; a sample is worked out once."""

    runs: Runs
    _samples: dict[tuple[str, Sample], Durations] = field(default_factory=dict, init=False)

    def sample(self, metric: Timed, case: Case) -> Durations:
        """What a metric is a statistic of."""
        return self._sample(metric.sample, case)

    def _sample(self, taken: Sample, case: Case) -> Durations:
        key = (case.key, taken)
        if key not in self._samples:
            self._samples[key] = taken(self.runs[case.key], case)
        return self._samples[key]

    def value(self, metric: Metric, case: Case) -> float | None:
        """A metric of a run, in its unit."""
        if isinstance(metric, Counted):
            return metric.count(self.runs[case.key])
        found = metric.statistic(self.sample(metric, case))
        return None if found is None else 1e3 * found

    def interval(self, metric: Metric, case: Case) -> Interval | None:
        """Its interval, of those that have one."""
        if isinstance(metric, Counted):
            return None
        found = self.sample(metric, case).interval(metric.statistic)
        return None if found is None else found.scaled(1e3)

    def is_mostly_complete(self, metric: Metric, case: Case) -> bool:
        """Is what the authors compute, of complete queries or flows, about most of them? True of what sees all."""
        return metric.sample is None or self._sample(metric.sample, case).complete_share >= _MOSTLY

    def reaches(self, metric: Timed, case: Case) -> bool:
        """Is a statistic with unfinished queries counted more than a lower bound, as far as the estimate comes down?"""
        left = self.sample(metric, case).unfinished_share
        return left < (_LEFT_OF_MEAN if metric.statistic is statistics.whole_mean else 0.01)

    def ratio(self, metric: Metric, above: Case, below: Case) -> float | None:
        """A metric of a run over that of another one."""
        return statistics.ratio(self.value(metric, above), self.value(metric, below))

    def ratio_interval(self, metric: Metric, above: Case, below: Case) -> Interval | None:
        """Its interval, of those that have one."""
        if isinstance(metric, Counted):
            return None
        return statistics.ratio_interval(self.sample(metric, above), self.sample(metric, below), metric.statistic)
