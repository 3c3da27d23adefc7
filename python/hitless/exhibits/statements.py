"""Statements of a paper that are judged by their truth, and predicates on several numbers for them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from hitless.analysis import Interval
from hitless.exhibits.judge import NOTHING_MEASURED, Judge, Judgement, Paper, Unjudged

if TYPE_CHECKING:
    from hitless.exhibits.model import Row, Share


@dataclass(frozen=True, slots=True)
class Shape:
    """An ordering or a trend that the paper shows: ``holds`` is its truth here, ``statement`` its words.

    A statement has one verdict in an exhibit, that of the first row that carries it (`counted_once`).
    """

    holds: bool
    statement: str
    name: ClassVar[str] = "shape"

    @property
    def rule(self) -> str:
        """What the paper shows."""
        return self.statement

    def judge(self, measured: float | None, paper: Paper | None, interval: Interval | None) -> Judgement:
        """Match when the statement holds, whatever the number beside it."""
        return Judgement("match" if self.holds else "differs")


def resting_on(rows: Iterable["Row"], note: str = "", completed: Collection["Share"] = ()) -> Iterator["Row"]:
    """The rows with what all of them hang on: ``note`` behind their own, and the share that was ``completed``."""
    for row in rows:
        yield replace(row, note="; ".join(filter(None, [row.note, note])), completed=completed or row.completed)


def counted_once(rows: Iterable["Row"]) -> Iterator["Row"]:
    """The rows, where a statement is judged in the first row that carries it, and only shown in the others."""
    seen: set[str] = set()
    for row in rows:
        if isinstance(row.judge, Shape) and row.verdict != "unjudged":
            if row.judge.statement in seen:
                yield replace(row, judge=Unjudged(f"judged once, above: {row.judge.statement}"))
                continue
            seen.add(row.judge.statement)
        yield row


def above_one(ratio: Interval | None, statement: str, apart: float = 0.1, nothing: str = NOTHING_MEASURED) -> Judge:
    """Does the interval of a ratio show the first to be larger? Without one there is no verdict, for ``nothing``.

    The statement holds where the whole interval is above 1. It fails where the interval leaves no room for a first that
    is larger by a share of ``apart``; between the two the runs have no power, and there is no verdict.
    """
    if ratio is None:
        return Unjudged(nothing)
    if ratio.low > 1.0:
        return Shape(holds=True, statement=statement)
    if ratio.high < 1.0 + apart:
        return Shape(holds=False, statement=statement)
    return Unjudged(f"the interval has values on both sides of 1: {statement}")


def at_most(interval: Interval | None, limit: float, statement: str, nothing: str = NOTHING_MEASURED) -> Judge:
    """Is a quantity at most ``limit``? No verdict where its interval holds values on both sides, or there is none."""
    if interval is None:
        return Unjudged(nothing)
    if interval.high <= limit:
        return Shape(holds=True, statement=statement)
    if interval.low > limit:
        return Shape(holds=False, statement=statement)
    return Unjudged(f"the interval has values on both sides of {limit:g}: {statement}")


def rising(values: Sequence[float], slack: float = 0.0) -> bool:
    """Is no value below the one before it by more than ``slack`` (a share of it)?"""
    return all(after >= before - slack * abs(before) for before, after in pairwise(values))


def falling(values: Sequence[float], slack: float = 0.0) -> bool:
    """Is no value above the one before it by more than ``slack`` (a share of it)?"""
    return all(after <= before + slack * abs(before) for before, after in pairwise(values))


def close(first: float, second: float, slack: float) -> bool:
    """Is the first value within ``slack`` (a share) of the second?"""
    return abs(first - second) <= slack * abs(second)
