"""A statement of the paper about several rows: it is judged once, in the row that speaks most against it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from hitless.exhibits import Exact, Row, Unjudged
from hitless.exhibits.judge import Judge


def judged_once(rows: Iterable[Row], judge: Judge, against: Callable[[float], float]) -> Iterator[Row]:
    """The rows, of which that with the largest ``against`` its number carries the judge.

    A row that leaves out too much of what began speaks for nothing, unless all do.
    """
    found = list(rows)
    complete = [row for row in found if all(share.is_complete for share in row.completed)]
    measured = [row for row in complete or found if row.measured is not None]
    worst = max(measured, key=lambda row: against(row.measured or 0.0), default=None)
    for row in found:
        if row is worst:
            yield replace(row, judge=judge)
        else:
            yield replace(row, judge=Unjudged("the statement is judged once, in the row that speaks most against it"))


def near_one(rows: Iterable[Row], slack: float, statement: str) -> Iterator[Row]:
    """Quotients that the paper's words say to be about 1; the one that is furthest from it is judged."""
    said = (replace(row, paper=1.0, note="; ".join(filter(None, [row.note, f"text: {statement}"]))) for row in rows)
    return judged_once(said, Exact(slack), lambda quotient: abs(quotient - 1.0))
