"""The numbers that figures show, each by its name, and how sure they are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hitless.simulation import Run
from hitless_papers import Runs
from hitless_papers.deflection import outcomes, statistics
from hitless_papers.deflection.setting import BACKGROUND, QUERIES, FabricCase
from hitless_papers.deflection.statistics import Durations, Statistic
from hitless_papers.estimates import Estimate
from hitless_papers.model import Share


@dataclass(frozen=True, slots=True)
class Sample:
    """Queries or flows of a run, with their durations."""

    name: str
    """In the plural, for people."""
    take: Callable[[Run, FabricCase], Durations]


_WHOLE: Mapping[Statistic, Statistic] = {statistics.mean: statistics.whole_mean, statistics.p99: statistics.whole_p99}


@dataclass(frozen=True, slots=True)
class Timed:
    """A statistic of how long queries or flows took."""

    name: str
    sample: Sample
    statistic: Statistic
    unit: str = "ms"
    scale: float = 1e3
    """From the statistic to the unit."""
    counts_unfinished: bool = False

    @property
    def whole(self) -> "Timed":
        """The same of all that began, of those that count complete ones only."""
        name = f"{self.name}, unfinished {self.sample.name} counted"
        return replace(self, name=name, statistic=_WHOLE[self.statistic], counts_unfinished=True)


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of a whole run."""

    name: str
    unit: str
    count: Callable[[Run], float | None]
    sample: Sample | None = None
    """Its sample, if it counts complete ones only."""

    @property
    def counts_unfinished(self) -> bool:
        """Does it see all of the run?"""
        return self.sample is None


Metric: TypeAlias = Timed | Counted


OF_QUERIES = Sample("queries", lambda run, case: outcomes.queries(run, case.incast.fan_in))
OF_ANSWERS = Sample("answers", lambda run, _: outcomes.flows(run, QUERIES))
OF_BACKGROUND = Sample("background flows", lambda run, _: outcomes.flows(run))
OF_ELEPHANTS = Sample("elephants", lambda run, _: outcomes.requested(run, BACKGROUND, outcomes.IS_ELEPHANT))


MEAN_QCT = Timed("mean QCT", OF_QUERIES, statistics.mean)
P99_QCT = Timed("p99 QCT", OF_QUERIES, statistics.p99)
MEAN_FCT = Timed("mean FCT of the background", OF_BACKGROUND, statistics.mean)
P99_FCT = Timed("p99 FCT of the background", OF_BACKGROUND, statistics.p99)
P99_ANSWER = Timed("p99 FCT of answers", OF_ANSWERS, statistics.p99)
COMPLETE = Timed("queries complete", OF_QUERIES, statistics.complete_share, unit="%", scale=100, counts_unfinished=True)
DROPPED = Counted("packets dropped, of those sent", "%", outcomes.dropped_percent)
REORDERED = Counted("packets out of order", "%", outcomes.reordered_percent)
ELEPHANT_GOODPUT = Counted(
    "goodput of elephants", "Gbps", lambda run: _giga(outcomes.elephant_goodput_bps(run)), OF_ELEPHANTS
)

_LEFT_OF_MEAN = 0.25
"""Above this share of queries that last longer than the run, their mean is a bound and no mean."""


def _giga(value: float | None) -> float | None:
    return None if value is None else value / 1e9


@dataclass(slots=True)
class Measured:
    """The metrics of finished runs; a sample is worked out once."""

    runs: Runs
    _samples: dict[tuple[str, Sample], Durations] = field(default_factory=dict, init=False)

    def sample(self, metric: Timed, case: FabricCase) -> Durations:
        return self._sample(metric.sample, case)

    def _sample(self, taken: Sample, case: FabricCase) -> Durations:
        key = (case.key, taken)
        if key not in self._samples:
            self._samples[key] = taken.take(self.runs[case.key], case)
        return self._samples[key]

    def value(self, metric: Metric, case: FabricCase) -> float | None:
        if isinstance(metric, Counted):
            return metric.count(self.runs[case.key])
        found = metric.statistic(self.sample(metric, case))
        return None if found is None else metric.scale * found

    def estimate(self, metric: Metric, case: FabricCase) -> Estimate:
        """The same with its interval, of those that have one."""
        value, completed = self.value(metric, case), self.completed(metric, case)
        if isinstance(metric, Counted):
            return Estimate(value, None, completed)
        found = self.sample(metric, case).interval(metric.statistic)
        return Estimate(value, found and found.scaled(metric.scale), completed)

    def completed(self, metric: Metric, *cases: FabricCase) -> tuple[Share, ...]:
        """How much of each run a metric saw, if it sees complete queries or flows only, as the authors' does."""
        if metric.counts_unfinished or metric.sample is None:
            return ()
        return tuple(self._share(metric.sample, case) for case in cases)

    def _share(self, sample: Sample, case: FabricCase) -> Share:
        is_complete = self._sample(sample, case).is_complete
        name = " ".join(filter(None, [case.title, case.label]))
        return Share(name, int(is_complete.sum()), is_complete.size, sample.name)

    def reaches(self, metric: Timed, case: FabricCase) -> bool:
        """Is a statistic with unfinished queries counted more than a lower bound?"""
        left = self.sample(metric, case).unfinished_share
        return left < (_LEFT_OF_MEAN if metric.statistic is statistics.whole_mean else 0.01)

    def ratio(self, metric: Metric, above: FabricCase, below: FabricCase) -> Estimate:
        """Return the ratio of a metric between two runs, with its interval if it has one."""
        value = statistics.ratio(self.value(metric, above), self.value(metric, below))
        completed = self.completed(metric, above, below)
        if isinstance(metric, Counted):
            return Estimate(value, None, completed)
        first, second = (self.sample(metric, case) for case in (above, below))
        return Estimate(value, statistics.ratio_interval(first, second, metric.statistic), completed)
