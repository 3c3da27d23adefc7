"""A finished comparison as a value: its table, its intervals, its sentences, and its figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from hitless.comparison.compared import METHOD, pairs_plot, ratios_plot
from hitless.comparison.conclusion import arrivals, conclusion
from hitless.comparison.pairs import Outcome
from hitless.comparison.sides import Side
from hitless.drawing.picture import Picture
from hitless.errors import BadInput
from hitless.suggest import did_you_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCHEMA = {
    "of": pl.String,
    "metric": pl.String,
    "unit": pl.String,
    "kind": pl.String,
    "a": pl.Float64,
    "b": pl.Float64,
    "estimate": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "finding": pl.String,
    "seeds": pl.Int64,
    "seeds_needed": pl.Int64,
}


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Two scenarios, a and b, that ran with the same seeds.

    `conclusion` says which differences are significant, and `table` has all numbers.
    """

    sides: tuple[Side, Side]
    outcome: Outcome

    @property
    def a(self) -> str:
        """Name of the first side."""
        return self.sides[0].label

    @property
    def b(self) -> str:
        """Name of the second side."""
        return self.sides[1].label

    @property
    def notes(self) -> Sequence[str]:
        """Decisions made for you, such as the links of an added mechanism."""
        return [note for side in self.sides for note in side.notes]

    @property
    def seeds(self) -> Sequence[int]:
        """Seeds of the pairs."""
        return self.outcome.seeds

    @property
    def table(self) -> pl.DataFrame:
        """A row for each metric.

        ``a`` and ``b`` are means over the seeds. ``estimate`` is b / a if ``kind`` is "ratio", and b - a if it is
        "difference"; ``ci_low`` and ``ci_high`` are its 95 % interval, null without one. ``finding`` is the change
        from a to b. ``seeds_needed`` is the approximate number of seeds that would show a difference as large as the
        estimate, if these did not.
        """
        return pl.DataFrame([one.as_json() for one in self.outcome.compared], schema=_SCHEMA)

    @property
    def runs(self) -> pl.DataFrame:
        """A row for each metric and seed: of, metric, unit, seed, a, b."""
        schema = {**{name: _SCHEMA[name] for name in ("of", "metric", "unit")}, "seed": pl.Int64}
        rows = [
            (one.metric.of, one.metric.name, one.metric.unit, seed, a, b)
            for one in self.outcome.compared
            for seed, (a, b) in zip(self.seeds, one.values, strict=True)
        ]
        return pl.DataFrame(rows, schema={**schema, "a": pl.Float64, "b": pl.Float64}, orient="row")

    @property
    def conclusion(self) -> list[str]:
        """The findings in sentences: the significant differences, and about how many seeds would show the nearest."""
        return list(conclusion(self.sides, self.outcome))

    def intervals(self, metric: str | None = None, *, of: str | None = None) -> pl.DataFrame:
        """Return rows of `table`; ``metric`` and ``of`` select some. Raises `BadInput` for an unknown one."""
        table = self.table
        for column, wanted in (("metric", metric), ("of", of)):
            if wanted is not None:
                known = table[column].unique(maintain_order=True).to_list()
                if wanted not in known:
                    raise BadInput(f"the comparison has no {column} {wanted!r}", hint=did_you_mean(wanted, known))
                table = table.filter(pl.col(column) == wanted)
        return table

    def plot(self, metric: str | None = None, *, of: str | None = None) -> Picture:
        """Plot the ratio b / a of each metric with its interval, or one metric on both sides for each pair of runs.

        ``of`` is a group of flows, or "all" for the whole run; by default all groups, or the first that has the
        metric. Raises `BadInput`.
        """
        self.intervals(metric, of=of)
        chosen = [one for one in self.outcome.compared if of in {None, one.metric.of}]
        if metric is None:
            plot = ratios_plot((self.a, self.b), chosen, len(self.seeds))
            if plot is None:
                raise BadInput("there are no ratios to plot", hint="name a metric: plot(metric)")
            return Picture(plot)
        found = [one for one in chosen if one.metric.name == metric]
        if not found:
            known = [one.metric.name for one in chosen]
            raise BadInput(f"{of} has no metric {metric!r}", hint=did_you_mean(metric, known))
        return Picture(pairs_plot((self.a, self.b), found[0]))

    def axes(
        self, metric: str | None = None, *, of: str | None = None, ax: "Axes | None" = None, **style: Any
    ) -> "Axes":
        """Plot like `plot`, but on axes of matplotlib, which you can change; ``style`` as in `Picture.axes`."""
        return self.plot(metric, of=of).axes(ax, **style)

    def save(self, path: str | PathLike[str], **style: Any) -> Path:
        """Write the figure of all ratios as PDF, PNG or SVG; ``style`` as in `Picture.axes`. Raises `BadInput`."""
        return self.plot().save(path, **style)

    def as_json(self) -> dict[str, Any]:
        """Return it as the document of ``hitless compare --json``, without a folder."""
        return {
            "a": self.a,
            "b": self.b,
            "seeds": list(self.seeds),
            "method": METHOD,
            "same_arrivals": not self.outcome.different_starts and not self.outcome.different_flows,
            "same_flows": not self.outcome.different_flows,
            "metrics": [one.as_json() for one in self.outcome.compared],
            "conclusion": self.conclusion,
        }

    def __repr__(self) -> str:
        differ = sum(one.finding in {"higher", "lower"} for one in self.outcome.compared)
        seeds = f"{len(self.seeds)} seed{'s' * (len(self.seeds) != 1)}"
        found = f"{differ} of {len(self.outcome.compared)} metrics differ"
        return f"Comparison({self.b!r} vs. {self.a!r}, {seeds}: {found})"

    def _repr_html_(self) -> str:
        """Return the names, the table and the sentences for a notebook."""
        table: Any = self.table
        told = "".join(f"<p>{escape(text)}</p>" for text in [*self.notes, *self.conclusion])
        head = f"a: {escape(self.a)}<br>b: {escape(self.b)}<br>{escape(arrivals(self.outcome))}"
        return f"<p>{head}</p>{table._repr_html_()}{told}"
