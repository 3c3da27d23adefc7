"""What an exhibit is made of: points to run, and rows beside the paper's numbers."""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, Literal, TypeAlias

import polars as pl

from hitless.analysis import Interval
from hitless.checking import Scenario
from hitless.exhibits.judge import NO_PAPER_VALUE, Judge, Judgement, Paper, Range, Unjudged, Verdict, no_verdict
from hitless.exhibits.numbers import format_range
from hitless.numbers import finite
from hitless.plot import Plot
from hitless.simulation import PacketSimulation, Run, Work

Effort: TypeAlias = Literal["quick", "normal", "full"]
Reduction: TypeAlias = Callable[[Run], Run]
"""A function of a module, which depends on nothing but the run and that module."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run of an exhibit, independent of the others."""

    key: str
    """Its name within the exhibit, for people too: "LG 100G 1e-3"."""
    what: Work | Scenario | str
    """The work to do; a scenario, as nested mappings or the text of a file, stands for its packet simulation."""
    replica: int = 0
    """Points of one replica share one seed, so that schemes meet the same arrivals; others are independent."""
    keep: Collection[str] | None = None
    """The tables that the rows need; None for all. What is not kept takes no memory."""
    reduce: Reduction | None = None
    """Makes a finished run smaller, before it waits for the others and before it is kept on disk."""
    has_use_for_part: bool = False
    """Is a run that was stopped before its end, and says so, better than none?"""
    own_seed: int | None = None
    """The seed of the run, whatever its replica; None for one that follows from the exhibit's."""

    @property
    def work(self) -> Work:
        """The work to do."""
        return self.what if isinstance(self.what, Work) else PacketSimulation(self.what)

    def seed(self, base: int | None) -> int | None:
        """The seed of the run: ``base`` itself for replica 0, so that a user can repeat it by hand.

        None stands for the scenario's own.
        """
        if self.own_seed is not None:
            return self.own_seed
        if base is None or self.replica == 0:
            return base
        digest = hashlib.sha256(f"{base}/{self.replica}".encode()).digest()
        return int.from_bytes(digest[:6], "big")


class MissingRun(Exception):
    """Rows were asked of a point that did not finish."""


class Runs(dict[str, Run]):
    """The finished runs of an exhibit by the keys of their points, in the order of the points."""

    def __missing__(self, key: str) -> Run:
        raise MissingRun(key)


@dataclass(slots=True)
class Context:
    """What the user asked for, and what was shortened to obey."""

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
"""A number that leaves out more than the rest of its flows is no number of the scheme's."""


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
        """Did so many finish that the number speaks for all? Of none, nothing can be said."""
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
        return {"seed": self.seed, "measured": finite(self.measured), **_ends(self.interval), "verdict": self.verdict}


def _ends(interval: Interval | None) -> dict[str, float | None]:
    return {
        "ci_low": finite(interval.low if interval else None),
        "ci_high": finite(interval.high if interval else None),
    }


@dataclass(frozen=True, slots=True)
class Row:
    """One measured number beside the paper's."""

    series: str
    """The scheme by the paper's own name: "LG", "LG_NB", "none"."""
    x: str
    """The position on the axis: "100G 1e-3"."""
    metric: str
    """Plain words with what is counted: "p99.9 FCT", "packets lost"."""
    unit: str
    measured: float | None
    paper: Paper | None = None
    interval: Interval | None = None
    judge: Judge = field(default_factory=Unjudged)
    note: str = ""
    """What the number hangs on: settings that are not the paper's own, calibrations and on what, assumptions."""
    completed: Collection[Share] = ()
    """Of a number computed from what finished: the share that did, of each scheme in it."""
    why: str = ""
    """Reason for a missing interval; empty if obvious."""
    seen: Sequence[Seen] = ()
    """What each seed alone says, of a row of a campaign."""

    @property
    def judgement(self) -> Judgement:
        """What the judge says; nothing where the number leaves out too much of what was begun."""
        left_out = [share for share in self.completed if not share.is_complete]
        if left_out and not isinstance(self.judge, Unjudged):
            of = ", ".join(share.series for share in left_out)
            return no_verdict(f"fewer than {_COMPLETE:.0%} of the {left_out[0].what} finished: {of}")
        return self.judge.judge(self.measured, self.paper, self.interval)

    @property
    def verdict(self) -> Verdict:
        """What the judge says, in one word."""
        return self.judgement.verdict

    def as_json(self, shortened: Collection[str] = ()) -> dict[str, Any]:
        """The row as the JSON document has it; numbers that are not finite become null."""
        return {
            "series": self.series,
            "x": self.x,
            "metric": self.metric,
            "unit": self.unit,
            "paper": format_range(self.paper) if isinstance(self.paper, Range) else finite(self.paper),
            "measured": finite(self.measured),
            **_ends(self.interval),
            "judge": self.judge.name,
            "verdict": self.verdict,
            "note": "; ".join([*filter(None, [self.full_note]), *shortened]),
        }

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
    """A figure or table of a paper. A subclass is registered by `hitless.exhibits.exhibit`.

    The order of calls: ``points`` once; the runs; then ``rows``, ``plots`` and ``tables``, each once. The same object
    serves all of them, and may keep what ``points`` decided. Rows are kept up to the first that asks for a run that
    did not finish, so yield them one by one.
    """

    rests_on: ClassVar[str] = ""
    """What all of its numbers hang on: stands behind the notes of all its rows."""

    @property
    def own_seeds(self) -> int:
        """How many seeds its numbers are of, where it runs its points with several of its own; known after `points`."""
        return 1

    def points(self, context: Context) -> Iterable[Point]:
        """The runs that it needs; none for what is arithmetic."""
        return ()

    @abstractmethod
    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        """The numbers to show beside the paper's."""

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
        self, count: int, cases: Mapping[str, Scenario], keep: Collection[str], reduce: Reduction | None = None
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
    """An exhibit of several questions, each with points and rows of its own; no two have points of one key."""

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
