"""The first screen: everything that it says, without a word about how it is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

from hitless.numbers import format_number
from hitless_papers import registry
from hitless_papers.answer import chosen, gains, verdicts
from hitless_papers.campaign import ExhibitResult
from hitless_papers.model import Row


@dataclass(frozen=True, slots=True)
class Difference:
    """One large disagreement, as text."""

    exhibit: str
    what: str
    paper: str
    measured: str
    off: str


@dataclass(frozen=True, slots=True)
class Screen:
    """Findings of a campaign."""

    gains: Sequence[gains.Gains]
    tallies: Sequence[verdicts.Tally]
    """By paper, and their sum where there are several."""
    differences: Sequence[Difference]
    """The largest, one of each exhibit."""
    reasons: Sequence[tuple[str, int]]
    """Why rows are not judged, the commonest first."""
    shortened: Sequence[str]
    """Shortened runs, an exhibit each."""
    exhibits: int
    runs: int


def first_screen(results: Sequence[ExhibitResult]) -> Screen:
    """Return the screen of these results, without exhibits that have no rows."""
    present = [result for result in results if result.rows]
    return Screen(
        gains.gains(chosen.mechanisms(), present),
        _tallies(present),
        [_difference(*one) for one in verdicts.disagreements(present)],
        verdicts.reasons(present).most_common(),
        [f"{result.id}: {', '.join(result.shortened)}" for result in present if result.shortened],
        len(present),
        sum(len(result.tasks) for result in results),
    )


def _tallies(results: Sequence[ExhibitResult]) -> list[verdicts.Tally]:
    made = []
    for paper in registry.PAPERS:
        of = [result for result in results if result.kind == paper.name]
        if of:
            made.append(verdicts.tally(paper.mechanism, of))
    return [*made, verdicts.total(made)] if len(made) > 1 else made


def _difference(factor: float, exhibit: str, row: Row) -> Difference:
    if factor == float("inf"):
        off = "one is zero" if 0.0 in {row.measured, row.paper} else "other sign"
    else:
        off = f"{format_number(float(f'{factor:.2g}'))}x off"
    what = ", ".join(filter(None, [row.series, row.x, row.metric]))
    measured = format_number(None if row.measured is None else float(f"{row.measured:.3g}"))
    return Difference(exhibit, what, gains.with_unit(row.reference, row.unit), gains.with_unit(measured, row.unit), off)
