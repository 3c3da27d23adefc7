"""A statement of the paper about several rows: it is judged once, in the row that speaks most against it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from hitless_papers import Exact, Row
from hitless_papers.judge import Judge
from hitless_papers.statements import OneOf


def judged_once(rows: Iterable[Row], judge: Judge, against: Callable[[float], float]) -> Iterator[Row]:
    """The rows, of which that with the largest ``against`` its number is judged, over all seeds (`counted_once`)."""
    found = list(rows)
    group = tuple((row.series, row.x, row.metric) for row in found)
    return (replace(row, judge=OneOf(judge, group, against)) for row in found)


def near_one(rows: Iterable[Row], slack: float, statement: str) -> Iterator[Row]:
    """Quotients that the paper's words say to be about 1; the one that is furthest from it is judged."""
    said = (replace(row, paper=1.0, note="; ".join(filter(None, [row.note, f"text: {statement}"]))) for row in rows)
    return judged_once(said, Exact(slack), lambda quotient: abs(quotient - 1.0))
