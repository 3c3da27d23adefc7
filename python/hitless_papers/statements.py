"""Statements of a paper that are judged by their truth, and predicates on several numbers for them."""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from hitless.analysis import Interval
from hitless_papers.judge import NOTHING_MEASURED, Decided, Exact, Judge, Judgement, Named, Paper, Unjudged, no_verdict

if TYPE_CHECKING:
    from hitless_papers.model import Row, Share


@dataclass(frozen=True, slots=True)
class Shape:
    """An ordering or a trend that the paper shows: ``holds`` is its truth here, ``statement`` its words.

    A statement has one verdict in an exhibit, that of the first row that carries it (`counted_once`).
    """

    holds: bool
    statement: str
    name: ClassVar[str] = "shape"
    by_interval: ClassVar[bool] = False

    @property
    def rule(self) -> str:
        """The statement."""
        return self.statement

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Match when the statement holds, whatever the number beside it."""
        return Judgement("match" if self.holds else "differs")


def resting_on(rows: Iterable["Row"], note: str = "", completed: Collection["Share"] = ()) -> Iterator["Row"]:
    """The rows with what all of them hang on: ``note`` behind their own, and the share that was ``completed``."""
    for row in rows:
        yield replace(row, note="; ".join(filter(None, [row.note, note])), completed=completed or row.completed)


@dataclass(frozen=True, slots=True)
class OneOf(Named):
    """The judge of a statement about several rows, which is judged in the one of them that speaks most against it."""

    group: Hashable
    """Identity of the statement's rows, the same with each seed."""
    against: Callable[[float], float]
    """How much a number speaks against the statement."""

    @property
    def by_interval(self) -> bool:
        """Whether the interval decides for the other judge."""
        return self.of.by_interval

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Judge as the other judge does."""
        return self.of.judge(measured, paper, interval)


def judged_once(rows: Iterable["Row"], judge: Judge, against: Callable[[float], float]) -> Iterator["Row"]:
    """Judge one statement about several rows: in the row whose number has the largest ``against`` (`counted_once`)."""
    found = list(rows)
    group = tuple((row.series, row.x, row.metric) for row in found)
    return (replace(row, judge=OneOf(judge, group, against)) for row in found)


def near_one(rows: Iterable["Row"], slack: float, statement: str) -> Iterator["Row"]:
    """Judge the statement that all these quotients are about 1, in the row that is furthest from it."""
    said = (replace(row, paper=1.0, note="; ".join(filter(None, [row.note, f"text: {statement}"]))) for row in rows)
    return judged_once(said, Exact(slack), lambda quotient: abs(quotient - 1.0))


def counted_once(rows: Iterable["Row"]) -> Iterator["Row"]:
    """Yield the rows with each statement judged once, and only shown in other rows.

    It is judged in its first row; a statement about several rows (`OneOf`) in the worst of them. Rows with too few
    finished flows are ignored there, unless all have too few.
    """
    found = list(rows)
    worst = _worst(found)
    seen = set[str]()
    for row in found:
        group = _group(row)
        if group is not None and worst.get(group) is not row:
            yield replace(row, judge=Unjudged("the statement is judged once, in the row that speaks most against it"))
        elif row.judge.name == Shape.name and row.verdict != "unjudged" and row.judge.rule in seen:
            yield replace(row, judge=Unjudged(f"judged once, above: {row.judge.rule}"))
        else:
            if row.judge.name == Shape.name and row.verdict != "unjudged":
                seen.add(row.judge.rule)
            yield row


def _one_of(row: "Row") -> OneOf | None:
    judge = row.judge.of if isinstance(row.judge, Decided) else row.judge
    return judge if isinstance(judge, OneOf) else None


def _group(row: "Row") -> Hashable:
    judge = _one_of(row)
    return None if judge is None else judge.group


def _worst(rows: Iterable["Row"]) -> dict[Hashable, "Row"]:
    """By group, the row that speaks most against its statement."""
    worst: dict[Hashable, tuple[bool, float, Row]] = {}
    for row in rows:
        judge = _one_of(row)
        if judge is not None and row.measured is not None:
            speaks = all(share.is_complete for share in row.completed), judge.against(row.measured), row
            worst[judge.group] = max(worst.get(judge.group, speaks), speaks, key=lambda one: one[:2])
    return {group: row for group, (_, _, row) in worst.items()}


@dataclass(frozen=True, slots=True)
class Bound:
    """A statement that a number lies on one side of a bound, judged by the interval of the number.

    It fails if the whole interval is on the wrong side of ``fails_at``, even on the right side of the bound: a
    difference can be significant and too small. It holds if the whole interval is on the right side of the bound and
    the number on the right side of ``fails_at``. Otherwise there is no verdict.
    """

    statement: str
    bound: float
    fails_at: float
    is_above: bool
    nothing: str = NOTHING_MEASURED
    """Reason for no verdict without a number."""
    name: ClassVar[str] = "shape"
    by_interval: ClassVar[bool] = True

    @property
    def rule(self) -> str:
        """The statement."""
        return self.statement

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Match when all of the interval is on the side that the statement says, and the number far enough."""
        if measured is None or math.isnan(measured):
            return no_verdict(self.nothing)
        if interval is None:
            return no_verdict("there is no interval")
        low, high = interval.low, interval.high
        if high < self.fails_at if self.is_above else low > self.fails_at:
            return Judgement("differs")
        if low > self.bound and measured >= self.fails_at if self.is_above else high <= self.bound:
            return Judgement("match")
        return no_verdict(f"the interval has values on both sides of {self.bound:g}")


def above_one(statement: str, apart: float = 0.1, nothing: str = NOTHING_MEASURED) -> Bound:
    """Is a ratio above 1 by a share of ``apart``? It fails where the interval leaves no room for that."""
    return Bound(statement, 1.0, 1.0 + apart, is_above=True, nothing=nothing)


def at_most(limit: float, statement: str, nothing: str = NOTHING_MEASURED) -> Bound:
    """Is a quantity at most ``limit``?"""
    return Bound(statement, limit, limit, is_above=False, nothing=nothing)


def at_least(limit: float, statement: str, nothing: str = NOTHING_MEASURED) -> Bound:
    """Is a quantity above ``limit``?"""
    return Bound(statement, limit, limit, is_above=True, nothing=nothing)


def rising(values: Sequence[float], slack: float = 0.0) -> bool:
    """Is no value below the one before it by more than ``slack`` (a share of it)?"""
    return all(after >= before - slack * abs(before) for before, after in pairwise(values))


def falling(values: Sequence[float], slack: float = 0.0) -> bool:
    """Is no value above the one before it by more than ``slack`` (a share of it)?"""
    return all(after <= before + slack * abs(before) for before, after in pairwise(values))


def close(first: float, second: float, slack: float) -> bool:
    """Is the first value within ``slack`` (a share) of the second?"""
    return abs(first - second) <= slack * abs(second)
