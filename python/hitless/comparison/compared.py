"""One metric on both sides of a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from hitless.analysis import REPLICAS_MIN, Paired
from hitless.numbers import finite
from hitless.outcome.metrics import Metric

Finding: TypeAlias = Literal["higher", "lower", "equal", "not significant", "same each seed", "too few seeds"]
METHOD = (
    "95 % intervals by Student's t over pairs of runs with one seed: of the logarithm of b / a for times and rates, "
    "of b - a for counts"
)


@dataclass(frozen=True, slots=True)
class Compared:
    """A metric on both sides."""

    metric: Metric
    a: float
    """Average over the seeds: geometric mean for ratios, mean for counts."""
    b: float
    paired: Paired
    values: Sequence[tuple[float, float]]
    """Values of a and b in each pair of runs."""

    @property
    def seeds(self) -> int:
        """Number of pairs."""
        return len(self.values)

    @property
    def finding(self) -> Finding:
        """The change from a to b in a word or two."""
        if self.paired.estimate == self.paired.neutral and self.a == self.b:
            return "equal"
        if self.seeds < REPLICAS_MIN:
            return "too few seeds"
        if self.paired.interval is None:
            return "same each seed"
        if not self.paired.is_significant:
            return "not significant"
        return "higher" if self.paired.estimate > self.paired.neutral else "lower"

    def as_json(self) -> dict[str, Any]:
        """Return the row for programs."""
        interval = self.paired.interval
        return {
            "of": self.metric.of,
            "metric": self.metric.name,
            "unit": self.metric.unit,
            "kind": self.metric.kind,
            "a": finite(self.a),
            "b": finite(self.b),
            "estimate": finite(self.paired.estimate),
            "ci_low": finite(interval.low if interval else None),
            "ci_high": finite(interval.high if interval else None),
            "finding": self.finding,
            "seeds": self.seeds,
            "seeds_needed": self.paired.seeds_needed if self.finding == "not significant" else None,
        }
