"""One metric on both sides of a comparison, and the plots of metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from hitless.analysis import REPLICAS_MIN, Paired
from hitless.drawing.plot import Plot, Series
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


def ratios_plot(labels: tuple[str, str], compared: Sequence[Compared], seeds: int) -> Plot | None:
    """Plot the ratio b / a of each metric that has one, a series for each group; None without ratios."""
    chosen = [one for one in compared if one.metric.kind == "ratio"]
    metrics = list(dict.fromkeys(one.metric.name for one in chosen))
    series = []
    for of in dict.fromkeys(one.metric.of for one in chosen):
        found = {one.metric.name: one.paired for one in chosen if one.metric.of == of}
        values = [found[name].estimate if name in found else None for name in metrics]
        intervals = [found[name].interval if name in found else None for name in metrics]
        series.append(Series(of, metrics, values, intervals, style="bars"))
    if not series:
        return None
    title = f"{labels[1]} (b) vs. {labels[0]} (a)"
    caption = (
        f"Ratios b / a: geometric means over {seeds} pairs of runs, with 95 % intervals by Student's t. "
        "At 1 there is no difference."
    )
    return Plot(title, "metric", "b / a", series, caption=caption)


def pairs_plot(labels: tuple[str, str], one: Compared) -> Plot:
    """Plot a metric on both sides for each pair of runs."""
    numbers = [str(number) for number in range(1, len(one.values) + 1)]
    series = [
        Series(label, numbers, [pair[side] for pair in one.values], style="points") for side, label in enumerate(labels)
    ]
    name, unit = one.metric.name, one.metric.unit
    title = name if one.metric.of == "all" else f"{name}, {one.metric.of}"
    return Plot(title, "pair of runs", f"{name} ({unit})" if unit else name, series)
