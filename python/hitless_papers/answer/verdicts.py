"""How far from the papers: verdicts by paper, what differs most, and why rows are not judged."""

import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hitless_papers.campaign import ExhibitResult
from hitless_papers.judge import AGREES, Paper, Range
from hitless_papers.model import Row

_NEAR = 0.10
"""Share of the paper's value that counts as near."""
_REASON = 64
"""Characters of a reason."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rows of a paper have which outcome."""

    mechanism: str
    near: int
    """Allowed by the rule, within 10 % of the paper's value or within its range."""
    allowed: int
    """Allowed by the rule, further off."""
    statements: int
    """Match of an ordering or a trend, which has no number."""
    beyond: int
    differs: int
    unjudged: int

    @property
    def judged(self) -> int:
        """All that have a verdict."""
        return self.near + self.allowed + self.statements + self.beyond + self.differs


def tally(mechanism: str, results: Iterable[ExhibitResult]) -> Tally:
    """The outcomes of one paper's exhibits."""
    outcomes = Counter(_outcome(row) for result in results for row in result.rows)
    return Tally(
        mechanism, *(outcomes[name] for name in ("near", "allowed", "statement", "beyond", "differs", "unjudged"))
    )


def total(tallies: Sequence[Tally]) -> Tally:
    """The sum of several."""
    columns = zip(*((t.near, t.allowed, t.statements, t.beyond, t.differs, t.unjudged) for t in tallies), strict=True)
    return Tally("all", *map(sum, columns))


def disagreements(results: Iterable[ExhibitResult]) -> list[tuple[float, str, Row]]:
    """Return each exhibit's row with the largest `distance` from the paper, with distance and exhibit, largest first.

    Statements have no distance and are left out.
    """
    made = []
    for result in results:
        found = [
            (factor, result.id, row)
            for row in result.rows
            if row.verdict == "differs" and (factor := distance(row.measured, row.paper)) is not None
        ]
        made += sorted(found, key=lambda one: -one[0])[:1]
    return sorted(made, key=lambda one: -one[0])


def reasons(results: Iterable[ExhibitResult]) -> Counter[str]:
    """Why rows are not judged, without what differs from row to row."""
    rows = (row for result in results for row in result.rows if row.verdict == "unjudged")
    return Counter(_reason(row.judgement.reason) for row in rows)


def distance(measured: float | None, paper: Paper | None) -> float | None:
    """The factor between a measurement and the paper's value, or the nearer end of its range; None without both."""
    if measured is None or paper is None or not math.isfinite(measured):
        return None
    nearest = min(max(measured, paper.low), paper.high) if isinstance(paper, Range) else float(paper)
    if measured == nearest:
        return 1.0
    if measured * nearest <= 0.0:
        return math.inf
    return max(measured / nearest, nearest / measured)


def _outcome(row: Row) -> str:
    if row.verdict not in AGREES:
        return row.verdict
    if row.judge.name == "shape":
        return "statement"
    off = distance(row.measured, row.paper)
    return "near" if off is not None and off <= 1.0 + _NEAR else "allowed"


def _reason(text: str) -> str:
    plain = re.sub(r"both sides of \S+", "both sides of the threshold", text.partition(":")[0])
    return textwrap.shorten(plain, _REASON, placeholder=" \N{HORIZONTAL ELLIPSIS}")
