"""Parts of an exhibit: points to run, and rows that compare numbers with the paper's."""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain
from typing import Any, ClassVar, Literal, TypeAlias

import polars as pl

from hitless.analysis import Interval
from hitless.checking import Fields
from hitless.drawing.plot import Plot
from hitless.numbers import finite, format_number
from hitless.runs.point import Point, Reduction, Runs
from hitless.runs.result import Measurement, ends_as_json
from hitless.simulation import Run
from hitless_papers.judge import NO_PAPER_VALUE, Judge, Judgement, Paper, Range, Unjudged, Verdict, no_verdict

Effort: TypeAlias = Literal["quick", "normal", "full"]


@dataclass(slots=True)
class Context:
    """The user's request, and the run lengths shortened for it."""

    seed: int | None = 1
    effort: Effort = "normal"
    shortened: list[str] = field(default_factory=list)

    def length(self, what: str, *, full: int, quick: int, normal: int | None = None) -> int:
        """How much of ``what`` ("trials", "ms of traffic") to simulate: a length of a run, never a parameter.

        Anything less than ``full``, the paper's own, is noted in every row of the exhibit.
        """
        chosen = {"quick": quick, "normal": full if normal is None else normal, "full": full}[self.effort]
        note = f"{chosen:,} {what} instead of {full:,}"
        if chosen < full and note not in self.shortened:
            self.shortened.append(note)
        return chosen


_COMPLETE = 0.95
"""Minimum share of finished flows for a verdict."""


@dataclass(frozen=True, slots=True)
class Share:
    """How much of what a number is about it was computed from: flows that finished, queries that completed."""

    series: str
    """The scheme that it is the share of, as rows name it."""
    finished: int
    begun: int
    what: str = "flows"

    @property
    def is_complete(self) -> bool:
        """Did enough finish that the number represents all? False if none began."""
        return self.begun > 0 and self.finished >= _COMPLETE * self.begun

    def __str__(self) -> str:
        if self.begun == 0:
            return f"{self.series}: 0 of 0 {self.what}"
        percent = math.floor(1000 * self.finished / self.begun) / 10
        return f"{self.series}: {percent:g} % of {self.begun:,} {self.what} finished"


@dataclass(frozen=True, slots=True)
class Seen:
    """What one seed alone says of a row."""

    seed: int | None
    measured: float | None
    interval: Interval | None
    verdict: Verdict

    def as_json(self) -> dict[str, Any]:
        """As the JSON document has it."""
        return {
            "seed": self.seed,
            "measured": finite(self.measured),
            **ends_as_json(self.interval),
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class Row(Measurement):
    """One measured number and the paper's; the series is the scheme by the paper's name."""

    paper: Paper | None = None
    _: KW_ONLY
    judge: Judge = field(default_factory=Unjudged)
    completed: Collection[Share] = ()
    """Of a number computed from what finished: the share that did, of each scheme in it."""
    seen: Sequence[Seen] = ()
    """What each seed alone says, of a row of a campaign."""

    @property
    def judgement(self) -> Judgement:
        """Verdict of the judge; none if the number leaves out too many flows."""
        left_out = [share for share in self.completed if not share.is_complete]
        if left_out and not isinstance(self.judge, Unjudged):
            of = ", ".join(share.series for share in left_out)
            return no_verdict(f"fewer than {_COMPLETE:.0%} of the {left_out[0].what} finished: {of}")
        return self.judge.judge(self.measured, self.paper, self.interval)

    @property
    def verdict(self) -> Verdict:
        """Verdict in one word."""
        return self.judgement.verdict

    @property
    def reference(self) -> str:
        """The paper's number or range as text."""
        return str(self.paper) if isinstance(self.paper, Range) else format_number(self.paper)

    def as_json(self, shortened: Collection[str] = ()) -> dict[str, Any]:
        """The row as the JSON document has it; numbers that are not finite become null."""
        return {
            **Measurement.as_json(self, shortened),
            "paper": str(self.paper) if isinstance(self.paper, Range) else finite(self.paper),
            "judge": self.judge.name,
            "verdict": self.verdict,
        }

    def seeds_as_json(self, seeds: Sequence[int | None]) -> list[dict[str, Any]]:
        """What each seed alone says, as the JSON document has it."""
        return [seen.as_json() for seen in self.seen]

    @property
    def full_note(self) -> str:
        """The note, why interval or verdict are missing, the share of completed work, and the rule of a shape."""
        statement = self.judge.rule if self.judge.name == "shape" else ""
        shares = ", ".join(map(str, self.completed))
        reason = self.judgement.reason
        why_not = f"not judged: {reason}" if reason and reason != NO_PAPER_VALUE else ""
        why = f"no interval: {self.why}" if self.why and self.interval is None else ""
        return "; ".join(filter(None, [self.note, why, shares, statement, why_not]))


class Exhibit(ABC):
    """A figure or table of a paper. A subclass is registered by `hitless_papers.exhibit`.

    The order of calls: ``points`` once; the runs; then ``rows``, ``plots`` and ``tables``, each once. The same object
    serves all of them, and may keep what ``points`` decided. Rows are kept up to the first that asks for a run that
    did not finish, so yield them one by one.
    """

    rests_on: ClassVar[str] = ""
    """Assumption of all rows, added to their notes."""

    @property
    def own_seeds(self) -> int:
        """Number of seeds that the exhibit itself runs; known after `points`."""
        return 1

    def points(self, context: Context) -> Iterable[Point]:
        """The runs that it needs; none for what is arithmetic."""
        return ()

    @abstractmethod
    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        """Yield the numbers to compare with the paper's."""

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        """The plots of the report."""
        return ()

    def tables(self, runs: Runs, context: Context) -> Mapping[str, pl.DataFrame]:
        """Further tables to keep as Parquet, by name."""
        return {}


class Replicated(Exhibit):
    """An exhibit of several cases, each with several seeds, which all cases share."""

    _replicas: int = 0

    @property
    def own_seeds(self) -> int:
        """As many as `replicated` was asked for."""
        return self._replicas

    def replicated(
        self, count: int, cases: Mapping[str, Fields], keep: Collection[str], reduce: Reduction | None = None
    ) -> Iterator[Point]:
        """So many points of each case, by their names."""
        self._replicas = count
        for replica in range(count):
            for name, scenario in cases.items():
                yield Point(f"{name} {replica}", scenario, replica, keep, reduce)

    def each(self, runs: Runs, case: str) -> list[Run]:
        """The runs of a case."""
        return [runs[f"{case} {replica}"] for replica in range(self._replicas)]


class Parts(Exhibit):
    """An exhibit of several parts, each with its points and rows; their keys differ."""

    parts: ClassVar[Sequence[type[Exhibit]]]

    def __init__(self) -> None:
        self._parts = [part() for part in self.parts]

    @property
    def own_seeds(self) -> int:
        """Those of the part that has fewest."""
        return min(part.own_seeds for part in self._parts)

    def points(self, context: Context) -> Iterable[Point]:
        """Those of all parts."""
        return chain.from_iterable(part.points(context) for part in self._parts)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        """Those of all parts."""
        return chain.from_iterable(part.rows(runs, context) for part in self._parts)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        """Those of all parts."""
        return chain.from_iterable(part.plots(runs, context) for part in self._parts)
