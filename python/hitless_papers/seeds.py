"""Several seeds for an exhibit: their default number, and one row from the rows of all seeds."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from hitless.analysis import REPLICAS_MIN, Interval
from hitless.analysis.seeds import all_the_same, mean_over_seeds, ratio_over_seeds, unmoved
from hitless_papers.durations import known
from hitless_papers.judge import Decided, Gain, Judge, Unjudged, agreement, decided
from hitless_papers.model import Effort, Row, Seen, Share

_SHORT_S = 30.0
"""Maximum processor time of a seed for a quick run with several seeds, so that `./run` takes a few minutes."""
_USUAL = {"quick": REPLICAS_MIN, "normal": REPLICAS_MIN, "full": 5}

_Given = tuple[int | None, Row]


def usual(name: str, effort: Effort) -> int:
    """Return the default number of seeds of an exhibit: one if several would make a quick run too slow."""
    took = known().get((name, effort))
    return 1 if effort == "quick" and took is not None and took.cpu_s > _SHORT_S else _USUAL[effort]


def over_seeds(found: Sequence[tuple[int | None, Sequence[Row]]], *, takes_one: bool) -> Iterator[Row]:
    """Merge the rows of all seeds that have the same series, x and metric.

    ``takes_one``: one seed is enough for a verdict, because the exhibit is arithmetic or runs several seeds itself.
    """
    by_key: dict[tuple[str, str, str, int], list[_Given]] = {}
    for seed, rows in found:
        times: dict[tuple[str, str, str], int] = {}
        for row in rows:
            key = (row.series, row.x, row.metric)
            times[key] = times.get(key, 0) + 1
            by_key.setdefault((*key, times[key]), []).append((seed, row))
    for given in by_key.values():
        yield _one(given, takes_one=takes_one) if len(found) == 1 else _several(given)


def _one(given: Sequence[_Given], *, takes_one: bool) -> Row:
    [(_, row)] = given
    kept = replace(row, seen=_seen(given))
    if takes_one or isinstance(row.judge, Unjudged):
        return kept
    return replace(kept, judge=Decided(row.judge, decided(row.judge, [row.verdict], None, None, None)))


def _several(given: Sequence[_Given]) -> Row:
    rows = [row for _, row in given]
    judges = [row for row in rows if not isinstance(row.judge, Unjudged)]
    first = judges[0] if judges else rows[0]
    judged = [row for row in rows if row.judge.name == first.judge.name]
    number = _number([row for row in judged if row.measured is not None and not math.isnan(row.measured)], first.judge)
    notes = [first.note]
    judge: Judge = first.judge
    if judges:
        verdicts = [row.verdict for row in judged if row.measured is not None or not judge.by_interval]
        judgement = decided(judge, verdicts, number.value, first.paper, number.judged_by)
        notes.append(agreement(verdicts) if judge.by_interval and verdicts else "")
        judge = Decided(judge, judgement)
    paper = next((row.paper for row in rows if row.paper is not None), None)
    return replace(
        first,
        measured=number.value,
        paper=paper,
        interval=number.interval,
        judge=judge,
        note="; ".join(filter(None, notes)),
        completed=_together(judged),
        why=number.why,
        seen=_seen(given),
    )


@dataclass(frozen=True, slots=True)
class _Number:
    value: float | None
    interval: Interval | None = None
    judged_by: Interval | None = None
    why: str = ""
    """Reason for a missing interval."""


def _number(rows: Sequence[Row], judge: Judge) -> _Number:
    """Return the mean of the seeds' numbers, or the geometric mean of ratios between schemes."""
    values = [row.measured for row in rows if row.measured is not None]
    if not values:
        return _Number(None)
    if all_the_same(values):
        # A count has an interval even if the seeds do not change it, for example a count of 0 events.
        own = rows[0].interval if float(values[0]).is_integer() else None
        return _Number(values[0], own, own or Interval(values[0], values[0]), unmoved(values))
    if not all(map(math.isfinite, values)):
        return _Number(sum(values) / len(values))
    if judge.name == Gain.name and min(values) > 0.0:
        certainty, mean = ratio_over_seeds(values), math.exp(sum(map(math.log, values)) / len(values))
    else:
        certainty, mean = mean_over_seeds(values), sum(values) / len(values)
    return _Number(mean, certainty.interval, certainty.interval)


def _together(rows: Sequence[Row]) -> Collection[Share]:
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for row in rows:
        for share in row.completed:
            finished, begun = sums.get((share.series, share.what), (0, 0))
            sums[share.series, share.what] = finished + share.finished, begun + share.begun
    return [Share(series, finished, begun, what) for (series, what), (finished, begun) in sums.items()]


def _seen(given: Sequence[_Given]) -> Sequence[Seen]:
    return tuple(Seen(seed, row.measured, row.interval, row.verdict) for seed, row in given)
