"""Exhibits: their points to run, and their rows, which compare numbers with the paper's."""

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
from hitless.outcome.around import PERCENTILES
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
        """Return how much of ``what`` ("trials", "ms of traffic") to simulate. It must not be a parameter of the paper.

        ``full`` is the paper's length; every row of the exhibit notes a shorter one.
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
    """Share of flows or queries that finished, and so entered a number."""

    series: str
    """Scheme, as rows name it."""
    finished: int
    begun: int
    what: str = "flows"

    @property
    def is_complete(self) -> bool:
        """Did enough finish for a representative number? False if none began."""
        return self.begun > 0 and self.finished >= _COMPLETE * self.begun

    def __str__(self) -> str:
        if self.begun == 0:
            return f"{self.series}: 0 of 0 {self.what}"
        percent = math.floor(1000 * self.finished / self.begun) / 10
        return f"{self.series}: {percent:g} % of {self.begun:,} {self.what} finished"


@dataclass(frozen=True, slots=True)
class Seen:
    """Number and verdict of a row with one seed."""

    seed: int | None
    measured: float | None
    interval: Interval | None
    verdict: Verdict

    def as_json(self) -> dict[str, Any]:
        """Return the entry of the JSON document."""
        return {
            "seed": self.seed,
            "measured": finite(self.measured),
            **ends_as_json(self.interval),
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class Row(Measurement):
    """One measured number and the paper's; the series is the scheme, as the paper names it."""

    paper: Paper | None = None
    _: KW_ONLY
    judge: Judge = field(default_factory=Unjudged)
    completed: Collection[Share] = ()
    """For each scheme in the number, the share of its flows or queries that finished."""
    seen: Sequence[Seen] = ()
    """Results of each seed, in a row of a campaign."""

    @property
    def judgement(self) -> Judgement:
        """Judgement, which is "unjudged" if the number leaves out too many flows."""
        left_out = [share for share in self.completed if not share.is_complete]
        if left_out and not isinstance(self.judge, Unjudged):
            of = ", ".join(share.series for share in left_out)
            return no_verdict(f"fewer than {_COMPLETE:.0%} of the {left_out[0].what} finished: {of}")
        return self.judge.judge(self.measured, self.paper, self.interval)

    @property
    def verdict(self) -> Verdict:
        """Verdict of the judgement."""
        return self.judgement.verdict

    @property
    def reference(self) -> str:
        """Paper's number or range as text."""
        return str(self.paper) if isinstance(self.paper, Range) else format_number(self.paper)

    def as_json(self, shortened: Collection[str] = ()) -> dict[str, Any]:
        """Return the row of the JSON document; infinite numbers and NaN become null."""
        return {
            **Measurement.as_json(self, shortened),
            "paper": str(self.paper) if isinstance(self.paper, Range) else finite(self.paper),
            "judge": self.judge.name,
            "verdict": self.verdict,
        }

    def seeds_as_json(self, seeds: Sequence[int | None]) -> list[dict[str, Any]]:
        """Return the results of each seed for the JSON document."""
        return [seen.as_json() for seen in self.seen]

    @property
    def full_note(self) -> str:
        """Note, reasons for a missing interval or verdict, shares of finished work, and the rule of a shape."""
        statement = self.judge.rule if self.judge.name == "shape" else ""
        shares = ", ".join(map(str, self.completed))
        reason = self.judgement.reason
        why_not = f"not judged: {reason}" if reason and reason != NO_PAPER_VALUE else ""
        why = f"no interval: {self.why}" if self.why and self.interval is None else ""
        return "; ".join(filter(None, [self.note, why, shares, statement, why_not]))


@dataclass(frozen=True, slots=True)
class Tail:
    """Two sides of an exhibit, without and with a system: a label and the key of a run.

    `hitless_papers.tails` divides their completion times into parts. A key with "*" names several runs with a few
    messages each, which are pooled.
    """

    title: str
    without: tuple[str, str]
    with_it: tuple[str, str]
    group: str | None = None
    """Group of flows; None for all."""
    bytes_below: int | None = None
    """Limit of the size of a message; None for all."""
    percents: Sequence[float] = PERCENTILES


class Exhibit(ABC):
    """A figure or table of a paper. A subclass is registered by `hitless_papers.exhibit`.

    The campaign calls ``points`` once, waits for the runs, and calls ``rows``, ``plots`` and ``tables`` once each on
    the same object, which may keep state from ``points``. Yield rows one by one: a row that asks for an unfinished run
    ends the rows, and the earlier ones are kept.
    """

    rests_on: ClassVar[str] = ""
    """Assumption behind all rows, added to their notes."""
    tail: ClassVar[Tail | None] = None
    """The completion times to explain; the campaign adds their picture and two rows."""

    @property
    def own_seeds(self) -> int:
        """Number of seeds that the exhibit runs itself; known after `points`."""
        return 1

    def points(self, context: Context) -> Iterable[Point]:
        """Return the runs that the exhibit needs; arithmetic needs no run."""
        return ()

    @abstractmethod
    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        """Yield the numbers and the paper's."""

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        """Yield the plots of the report."""
        return ()

    def tables(self, runs: Runs, context: Context) -> Mapping[str, pl.DataFrame]:
        """Return additional tables by name, which are stored as Parquet."""
        return {}


class Replicated(Exhibit):
    """An exhibit of several cases that run with the same seeds."""

    _replicas: int = 0

    @property
    def own_seeds(self) -> int:
        """Number of seeds given to `replicated`."""
        return self._replicas

    def replicated(
        self, count: int, cases: Mapping[str, Fields], keep: Collection[str], reduce: Reduction | None = None
    ) -> Iterator[Point]:
        """Yield ``count`` points of each case, with seeds that all cases share."""
        self._replicas = count
        for replica in range(count):
            for name, scenario in cases.items():
                yield Point(f"{name} {replica}", scenario, replica, keep, reduce)

    def each(self, runs: Runs, case: str) -> list[Run]:
        """Return the runs of a case."""
        return [runs[f"{case} {replica}"] for replica in range(self._replicas)]


class Parts(Exhibit):
    """An exhibit of several parts, each with its points and rows. Keys of points must be unique."""

    parts: ClassVar[Sequence[type[Exhibit]]]

    def __init__(self) -> None:
        self._parts = [part() for part in self.parts]

    @property
    def own_seeds(self) -> int:
        """Minimum over the parts."""
        return min(part.own_seeds for part in self._parts)

    def points(self, context: Context) -> Iterable[Point]:
        """Return the points of all parts."""
        return chain.from_iterable(part.points(context) for part in self._parts)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        """Return the rows of all parts."""
        return chain.from_iterable(part.rows(runs, context) for part in self._parts)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        """Return the plots of all parts."""
        return chain.from_iterable(part.plots(runs, context) for part in self._parts)
