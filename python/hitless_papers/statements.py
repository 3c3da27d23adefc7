"""Rules for statements of a paper, and predicates on several numbers for them."""

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
    """An ordering or trend in the paper; ``holds`` says whether the run shows it too.

    Only the first row of an exhibit with this statement has a verdict (`counted_once`).
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
        """Match if the statement holds, whatever the row's number."""
        return Judgement("match" if self.holds else "differs")


def resting_on(rows: Iterable["Row"], note: str = "", completed: Collection["Share"] = ()) -> Iterator["Row"]:
    """Append ``note`` to the note of each row, and set missing shares to ``completed``."""
    for row in rows:
        yield replace(row, note="; ".join(filter(None, [row.note, note])), completed=completed or row.completed)


@dataclass(frozen=True, slots=True)
class OneOf(Named):
    """Judge of a statement about several rows; only the row that contradicts it most has a verdict."""

    group: Hashable
    """Identity of the statement's rows, the same with each seed."""
    against: Callable[[float], float]
    """Degree to which a number contradicts the statement."""

    @property
    def by_interval(self) -> bool:
        """Does the interval decide for the other judge?"""
        return self.of.by_interval

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Judge as the other judge does."""
        return self.of.judge(measured, paper, interval)


def judged_once(rows: Iterable["Row"], judge: Judge, against: Callable[[float], float]) -> Iterator["Row"]:
    """Judge a statement about several rows in the row with the maximum of ``against`` (`counted_once`)."""
    found = list(rows)
    group = tuple((row.series, row.x, row.metric) for row in found)
    return (replace(row, judge=OneOf(judge, group, against)) for row in found)


def near_one(rows: Iterable["Row"], slack: float, statement: str) -> Iterator["Row"]:
    """Judge the statement that all these quotients are about 1, in the row furthest from 1."""
    said = (replace(row, paper=1.0, note="; ".join(filter(None, [row.note, f"text: {statement}"]))) for row in rows)
    return judged_once(said, Exact(slack), lambda quotient: abs(quotient - 1.0))


def counted_once(rows: Iterable["Row"]) -> Iterator["Row"]:
    """Yield the rows such that each statement is judged in one row and only shown in others.

    A statement is judged in its first row, and a statement about several rows (`OneOf`) in the worst of them. The worst
    row must have enough finished flows, unless all rows have too few.
    """
    found = list(rows)
    worst = _worst(found)
    seen = set[str]()
    for row in found:
        group = _group(row)
        if group is not None and worst.get(group) is not row:
            yield replace(row, judge=Unjudged("the statement is judged once, in the row that contradicts it most"))
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
    """Return for each group the row that contradicts its statement most."""
    worst: dict[Hashable, tuple[bool, float, Row]] = {}
    for row in rows:
        judge = _one_of(row)
        if judge is not None and row.measured is not None:
            speaks = all(share.is_complete for share in row.completed), judge.against(row.measured), row
            worst[judge.group] = max(worst.get(judge.group, speaks), speaks, key=lambda one: one[:2])
    return {group: row for group, (_, _, row) in worst.items()}


@dataclass(frozen=True, slots=True)
class Bound:
    """A statement that a number lies on one side of a bound, judged by the number's interval.

    It fails if the whole interval is on the wrong side of ``fails_at``, even if it is on the right side of the bound: a
    difference can be significant but too small. It holds if the whole interval is on the right side of the bound and
    the number is on the right side of ``fails_at``. Otherwise the row remains unjudged.
    """

    statement: str
    bound: float
    fails_at: float
    is_above: bool
    nothing: str = NOTHING_MEASURED
    """Reason given if there is no number."""
    name: ClassVar[str] = "shape"
    by_interval: ClassVar[bool] = True

    @property
    def rule(self) -> str:
        """The statement."""
        return self.statement

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Match if the whole interval is on the stated side of the bound, and the number far enough."""
        if measured is None or math.isnan(measured):
            return no_verdict(self.nothing)
        if interval is None:
            return no_verdict("the number has no interval")
        low, high = interval.low, interval.high
        if high < self.fails_at if self.is_above else low > self.fails_at:
            return Judgement("differs")
        if low > self.bound and measured >= self.fails_at if self.is_above else high <= self.bound:
            return Judgement("match")
        return no_verdict(f"the interval has values on both sides of {self.bound:g}")


def above_one(statement: str, apart: float = 0.1, nothing: str = NOTHING_MEASURED) -> Bound:
    """Judge whether a ratio exceeds 1 by ``apart``; it fails if the whole interval lies below 1 + ``apart``."""
    return Bound(statement, 1.0, 1.0 + apart, is_above=True, nothing=nothing)


def at_most(limit: float, statement: str, nothing: str = NOTHING_MEASURED) -> Bound:
    """Judge whether a quantity is at most ``limit``."""
    return Bound(statement, limit, limit, is_above=False, nothing=nothing)


def at_least(limit: float, statement: str, nothing: str = NOTHING_MEASURED) -> Bound:
    """Judge whether a quantity is above ``limit``."""
    return Bound(statement, limit, limit, is_above=True, nothing=nothing)


def rising(values: Sequence[float], slack: float = 0.0) -> bool:
    """Does each value reach the previous one, within a relative ``slack``?"""
    return all(after >= before - slack * abs(before) for before, after in pairwise(values))


def falling(values: Sequence[float], slack: float = 0.0) -> bool:
    """Does no value exceed the previous one, within a relative ``slack``?"""
    return all(after <= before + slack * abs(before) for before, after in pairwise(values))


def close(first: float, second: float, slack: float) -> bool:
    """Is the first value within a relative ``slack`` of the second?"""
    return abs(first - second) <= slack * abs(second)
