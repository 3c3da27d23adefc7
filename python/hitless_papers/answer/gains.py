"""What each mechanism buys: the chosen rows as they came out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hitless.numbers import NOTHING, format_number
from hitless_papers.answer.chosen import Key, Line, Mechanism
from hitless_papers.campaign import ExhibitResult
from hitless_papers.judge import SEVERITY, Range, Verdict
from hitless_papers.model import Row


@dataclass(frozen=True, slots=True)
class Gain:
    """A line of the first screen, as text."""

    words: str
    bare: str
    """Without the mechanism."""
    protected: str
    """With it."""
    ratio: str
    """How many times better."""
    paper: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Gains:
    """The lines of one mechanism."""

    mechanism: str
    trouble: str
    lines: Sequence[Gain]


def gains(mechanisms: Sequence[Mechanism], results: Sequence[ExhibitResult]) -> list[Gains]:
    """Return the measured mechanisms, with their measured lines."""
    rows = {result.id: {(row.series, row.x, row.metric): row for row in result.rows} for result in results}
    made = []
    for mechanism in mechanisms:
        lines = [gain for line in mechanism.lines if (gain := _gain(line, rows.get(line.exhibit, {}))) is not None]
        if lines:
            made.append(Gains(mechanism.name, mechanism.trouble, lines))
    return made


def _gain(line: Line, rows: Mapping[Key, Row]) -> Gain | None:
    """The line, or nothing where a run that it needs did not finish."""
    judged = [rows.get(key) for _, key in line.rows]
    present = [row for row in judged if row is not None]
    if not present or len(present) < len(judged):
        return None
    bare, protected = _value(line.bare, rows), _value(line.protected, rows)
    unit = next((rows[key].unit for key in (line.protected, line.bare) if isinstance(key, tuple) and key in rows), "")
    ratio = rows[line.ratio].measured if line.ratio else _times(bare, protected, line)
    return Gain(
        line.words,
        _with_unit(bare, unit),
        _with_unit(protected, unit),
        _as_times(ratio),
        _paper(line, rows),
        next(verdict for verdict in SEVERITY if verdict in {row.verdict for row in present}),
    )


def _value(key: Key | float | None, rows: Mapping[Key, Row]) -> float | None:
    if isinstance(key, tuple):
        return rows[key].measured if key in rows else None
    return key


def _times(bare: float | None, protected: float | None, line: Line) -> float | None:
    """How many times better; nothing where one of the two is zero."""
    if not bare or not protected:
        return None
    return bare / protected if line.better == "lower" else protected / bare


def _paper(line: Line, rows: Mapping[Key, Row]) -> str:
    """The paper's gain where it has one, else its value with the mechanism."""
    if line.ratio:
        return _range_as_times(rows[line.ratio])
    with_it, without = (rows.get(key) if isinstance(key, tuple) else None for key in (line.protected, line.bare))
    papers = [row.paper if row and not isinstance(row.paper, Range) else None for row in (without, with_it)]
    ratio = _times(papers[0], papers[1], line)
    if ratio is not None:
        return _as_times(ratio)
    if with_it is None:
        return NOTHING
    return with_it.reference if isinstance(with_it.paper, Range) else _with_unit(with_it.paper, with_it.unit)


def _range_as_times(row: Row) -> str:
    if row.paper is None:
        return NOTHING
    if not isinstance(row.paper, Range):
        return _as_times(row.paper)
    return f"{row.reference.replace(' to ', '-').replace(',000', 'k')}x"


def _as_times(ratio: float | None) -> str:
    if ratio is None or not math.isfinite(ratio):
        return NOTHING
    return f"{_three(ratio)}x"


def _with_unit(value: float | None, unit: str) -> str:
    """Return three digits and the unit, if there is one."""
    text = _three(value)
    return f"{text} {unit}" if value is not None and unit in _SHOWN_UNITS else text


_SHOWN_UNITS = frozenset({"us", "ms", "s", "KB", "MB", "Gb/s", "%"})


def _three(value: float | None) -> str:
    """Three digits are enough to compare by."""
    return format_number(None if value is None else float(f"{value:.3g}"))
