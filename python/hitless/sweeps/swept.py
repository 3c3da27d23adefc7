"""The results of a sweep, read from its folder.

::

    results/sweeps/NAME-DIGEST/
        sweep.json       the plan, the program, and whether all runs are done
        rows.parquet     a row for each metric of each run; rows-3-of-16.parquet for a shard
        tables/messages/ a file per run for each table to keep; the axes and the seed precede its columns
        report.html      a plot for each axis
        manifest.json    seeds, machine and warnings of each run
"""

import json
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from hitless.drawing.picture import Picture
from hitless.errors import BadInput
from hitless.suggest import did_you_mean
from hitless.sweeps.frames import axes_of, axes_of_intervals, intervals, plot_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLAN = "sweep.json"
ROWS = "rows.parquet"


@dataclass(frozen=True, slots=True)
class Swept:
    """A finished sweep. Its data is on disk, in ``folder``, and is read on request."""

    folder: Path

    @classmethod
    def read(cls, folder: str | PathLike[str]) -> "Swept":
        """Open the sweep in a folder. Raises `BadInput` if the folder is empty or holds only some shards."""
        found = cls(Path(folder))
        if not (found.folder / ROWS).is_file():
            hint = "hitless sweep merge FOLDER merges shards"
            raise BadInput("there are no rows from a sweep", where=str(folder), hint=hint)
        return found

    @property
    def is_complete(self) -> bool:
        """Are all of its runs done?"""
        return bool(json.loads((self.folder / PLAN).read_text(encoding="utf-8"))["complete"])

    @property
    def rows(self) -> pl.DataFrame:
        """A row for each metric of each run: point, the axes, seed, of, metric, unit, value."""
        return pl.read_parquet(self.folder / ROWS)

    def scan(self) -> pl.LazyFrame:
        """Return `rows` as a lazy frame."""
        return pl.scan_parquet(self.folder / ROWS)

    def table(self, name: str) -> pl.LazyFrame:
        """Return a stored table of all runs; the axes and the seed precede its own columns. Raises `BadInput`."""
        folder = self.folder / "tables" / name
        if not folder.is_dir():
            kept = sorted(path.name for path in folder.parent.glob("*"))
            raise BadInput(f"the sweep did not keep the table {name!r}", rule=f"kept: {', '.join(kept) or 'none'}")
        return pl.scan_parquet(folder / "*.parquet")

    def intervals(self, metric: str | None = None, *, of: str | None = None) -> pl.DataFrame:
        """Return the mean of each metric at each point over the seeds, with its 95 % interval by Student's t.

        Columns: the axes, ``of``, ``metric``, ``unit``, ``seeds``, ``mean``, ``ci_low``, ``ci_high``, ``note``. Fewer
        than three seeds do not give an interval, nor do seeds that change nothing; ``note`` says so. ``metric`` and
        ``of`` select rows; ``of`` is a group of flows, or "all" for the whole run. Raises `BadInput` for an unknown
        one.
        """
        table = intervals(self.rows)
        for column, wanted in (("metric", metric), ("of", of)):
            if wanted is not None:
                known = table[column].unique(maintain_order=True).to_list()
                if wanted not in known:
                    raise BadInput(f"the sweep has no {column} {wanted!r}", hint=did_you_mean(wanted, known))
                table = table.filter(pl.col(column) == wanted)
        return table

    def plot(self, metric: str, *, x: str | None = None, of: str | None = None) -> Picture:
        """Plot a metric along the axis ``x``, one curve for each choice on the other axes.

        The default ``x`` is the first numeric axis, and the default ``of`` the first that has the metric. Raises
        `BadInput`.
        """
        table = self.intervals(metric, of=of)
        axes = axes_of_intervals(table)
        if x is None:
            x = next((name for name in axes if table.schema[name].is_numeric()), next(iter(axes), None))
        if x is None or x not in axes:
            raise BadInput(f"the sweep has no axis {x!r}" if x else "the sweep has no axis", rule=f"axes: {axes}")
        return Picture(plot_of(table, x, metric, of or str(table["of"][0])))

    def axes(
        self, metric: str, *, x: str | None = None, of: str | None = None, ax: "Axes | None" = None, **style: Any
    ) -> "Axes":
        """Plot like `plot`, but on axes of matplotlib, which you can change; ``style`` as in `Picture.axes`."""
        return self.plot(metric, x=x, of=of).axes(ax, **style)

    @property
    def paths(self) -> list[str]:
        """Paths of the fields that it varies."""
        return axes_of(self.rows)

    def __repr__(self) -> str:
        return f"Swept({str(self.folder)!r})"

    def _repr_html_(self) -> str:
        table: Any = self.intervals()
        return f"<p>{escape(str(self.folder))}</p>{table._repr_html_()}"
