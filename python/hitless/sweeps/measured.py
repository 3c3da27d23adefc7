"""The reduction of a finished run: its metrics, and the tables to keep."""

import functools
import hashlib
import inspect
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from hitless import analysis, outcome
from hitless.errors import HitlessError
from hitless.outcome.metrics import TABLES, measured
from hitless.outcome.run import Run, Summary
from hitless.outcome.slowdowns import with_slowdowns

Measure: TypeAlias = Callable[[Run], Mapping[str, float]]
"""A user's own metrics of a run, by name: a function of the run alone."""

METRICS = "sweep_metrics"
"""Key of the metrics in the summary of a cached run: rows of group, name, unit, value."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The reduction of a sweep, done by the worker that ran the run."""

    keep: Sequence[str]
    measure: Measure | None = None

    @property
    def tables(self) -> Sequence[str] | None:
        """Tables that it reads; None for all, because a user's function can read any."""
        return None if self.measure else sorted({*TABLES, *self.keep})

    def __call__(self, run: Run) -> Run:
        """Return the run with its metrics and the tables to keep. Raises `HitlessError` for a missing table."""
        rows: list[list[Any]] = [
            [metric.of, metric.name, metric.unit, value] for metric, value in measured(run).items()
        ]
        if self.measure is not None:
            rows += [["all", name, "", float(value)] for name, value in self.measure(run).items()]
        missing = [name for name in self.keep if name not in run.tables]
        if missing:
            hint = f"there are: {', '.join(sorted(run.tables))}"
            raise HitlessError(f"the run has no table {missing[0]!r} to keep", hint=hint)
        tables = with_slowdowns(run) if self.keep else {}
        kept = {name: tables[name] for name in self.keep}
        values = {**run.summary.values, METRICS: [row for row in rows if math.isfinite(row[3])]}
        return replace(run, summary=Summary(values), tables=kept)

    def source(self) -> str:
        """Return the code that its results depend on: these modules, and the function's text."""
        return f"{sources()} {_text_of(self.measure)}"


def rows_of(run: Run) -> list[list[Any]]:
    """Return the metrics of a reduced run."""
    return list(run.summary.values[METRICS])


@functools.cache
def sources() -> str:
    """Return the digest of the modules that measure runs."""
    folders = [Path(str(module.__file__)).parent for module in (analysis, outcome)]
    files = [file for folder in folders for file in sorted(folder.glob("*.py"))] + [Path(__file__)]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _text_of(measure: Measure | None) -> str:
    if measure is None:
        return ""
    try:
        return hashlib.sha256(inspect.getsource(measure).encode()).hexdigest()
    except (OSError, TypeError):  # typed into a prompt: nobody can tell whether it is the same
        return str(time.time_ns())
