"""The parts of completion times around percentiles: in numbers, in sentences, and as stacked bars."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from hitless.analysis import enough_for
from hitless.drawing.plot import Plot, stacked
from hitless.outcome.autopsy import (
    COLUMNS,
    LABELS,
    PARTS,
    PS_PER_US,
    RECOVERIES,
    TOTAL_PS,
    WHOLE,
    WORTH_TELLING,
    in_us,
    joined,
    loss,
)

PERCENTILES = (50.0, 99.0, 99.9)
MEANS = "Means around each percentile, from start to delivery: docs/how-to/why.md."
"""Explanation of the bars, in their caption."""
_WORTH_A_CHANGE = 0.05
"""Minimum share of the larger completion time for a changed part in a sentence (chosen)."""
_TOLD = 3
"""Maximum number of parts in a clause (chosen)."""
_WORTH_DRAWING = 0.01
"""Minimum share of a bar for a part with its own colour (chosen)."""


def parts_at(autopsies: pl.DataFrame, percents: Sequence[float] = PERCENTILES) -> pl.DataFrame:
    """Return the mean time of each part around percentiles of the completion time, in microseconds.

    The messages around a percentile P are those with ranks within half of 100 - P percent of it: from the 25th to the
    75th percentile around the median, and from 98.5 to 99.5 around p99. A percentile of too few messages is absent.
    """
    known: dict[str, Any] = {"part": [*LABELS.values(), WHOLE]}
    for percent in percents:
        rows = around(autopsies, percent)
        if len(rows):
            known[f"p{percent:g}"] = list(rows.select(pl.col(*COLUMNS, "total_ps").mean() / PS_PER_US).row(0))
    frame = pl.DataFrame(known)
    values = [name for name in frame.columns if name != "part"]
    return frame.filter(pl.any_horizontal(pl.col(values) > 0)) if values else frame.clear()


def counts_at(count: int, percents: Sequence[float] = PERCENTILES) -> dict[str, int]:
    """Return the number of messages around each percentile of ``count`` messages, if there are enough for it."""
    bands = {f"p{percent:g}": _band(percent, count) for percent in percents}
    return {name: last - first for name, (first, last) in bands.items() if last > first}


def around(autopsies: pl.DataFrame, percent: float) -> pl.DataFrame:
    """Return the messages around a percentile, with their ``total_ps``; no message if there are too few for it."""
    first, last = _band(percent, len(autopsies))
    return autopsies.with_columns(total_ps=TOTAL_PS).sort("total_ps", maintain_order=True)[first:last]


def sentences_at(
    autopsies: pl.DataFrame, what: str = "messages", percents: Sequence[float] = PERCENTILES
) -> dict[str, str]:
    """Explain the messages, or queries, around each percentile in a sentence; a percentile of too few is absent.

    A sentence has the mean of the longest part and of each further part of at least a fifth, with the usual
    place or cause, and the number of messages that have it.
    """
    bands = {f"p{percent:g}": around(autopsies, percent) for percent in percents}
    return {name: _sentence(rows, what) for name, rows in bands.items() if len(rows)}


def _sentence(rows: pl.DataFrame, what: str) -> str:
    means = zip(PARTS, rows.select(pl.col(COLUMNS).mean()).row(0), strict=True)
    longest = sorted(means, key=lambda item: -item[1])
    total_ps = sum(time_ps for _, time_ps in longest)
    told = [longest[0], *(item for item in longest[1:] if item[1] >= max(1.0, WORTH_TELLING * total_ps))]
    clauses = [f"{in_us(time_ps)} {part.phrase}{_usual_cause(rows, part.name, what)}" for part, time_ps in told]
    return f"{in_us(total_ps)}: {joined(clauses)}"


def _usual_cause(rows: pl.DataFrame, part: str, what: str) -> str:
    """Return the usual place of a queue, or the usual loss: " (41 of 75 messages: longest at b->c)"."""
    if part == "queue":
        queues = Counter(rows["longest_queue"].drop_nulls().to_list())
        del queues[""]
        cause, count = _usual_queue(queues)
    else:
        of_part = [recovery for recovery, its_part in RECOVERIES.items() if its_part == part]
        lost = rows.filter(pl.col("longest_recovery").cast(pl.String).is_in(of_part))
        cause, count = _usual_loss(Counter(lost.select("lost_because", "lost_at").iter_rows()))
    return f" ({count:,} of {len(rows):,} {what}: {cause})" if count else ""


def _usual_queue(queues: Counter[str]) -> tuple[str, int]:
    if not queues:
        return "", 0
    port, count = _first(queues)
    others = len(queues) - 1
    more = f"; the others at {others:,} more port{'s' * (others > 1)}" if others else ""
    return f"longest at {port}{more}", count


def _usual_loss(losses: Counter[tuple[str, str]]) -> tuple[str, int]:
    """Return the usual reason with its places, and the number of messages with this reason."""
    reasons: Counter[str] = Counter()
    for (because, _), count in losses.items():
        reasons[because] += count
    if not reasons:
        return "", 0
    reason, count = _first(reasons)
    places = Counter({at: times for (because, at), times in losses.items() if because == reason})
    place, most = _first(places)
    if len(places) == 1:
        return loss(place, reason), count
    others = len(places) - 1
    elsewhere = f"at {others:,} other place{'s' * (others > 1)} in the rest"
    return f"{loss(place, reason)} in {most:,}, {elsewhere}", count


def _first(counts: Counter[Any]) -> tuple[Any, int]:
    """Return the value with the highest count; of several, the first in their order."""
    return min(counts.items(), key=lambda item: (-item[1], item[0]))


def change_at(percentile: str, label: str, before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """Describe the parts that ``after`` removes and adds at a percentile, both by labels in microseconds with `WHOLE`.

    ``label`` names the side with ``after``: "At p99 LLR takes 199 us instead of 217 us: it removes 45 us (queues)".
    """
    parts = [part for part in {**before, **after} if part != WHOLE]
    changed = {part: after.get(part, 0.0) - before.get(part, 0.0) for part in parts}
    least = _WORTH_A_CHANGE * max(before[WHOLE], after[WHOLE])
    less = sorted((part for part in parts if changed[part] <= -least), key=lambda part: changed[part])
    more = sorted((part for part in parts if changed[part] >= least), key=lambda part: -changed[part])
    told = [
        f"{word} {' and '.join(f'{_us(abs(changed[part]))} ({part})' for part in of[:_TOLD])}"
        for word, of in (("it removes", less), ("adds" if less else "it adds", more))
        if of
    ]
    changes = ", and ".join(told) or f"no part differs by {100 * _WORTH_A_CHANGE:.0f} %"
    return f"At {percentile} {label} takes {_us(after[WHOLE])} instead of {_us(before[WHOLE])}: {changes}"


def _us(time_us: float) -> str:
    return in_us(time_us * PS_PER_US)


def parts_plot(sides: Mapping[str, pl.DataFrame], what: str = "messages") -> Plot | None:
    """Plot the parts around each percentile as stacked bars, for one run or for runs side by side, by their labels.

    The caption describes the highest percentile of each run. For two runs, it begins with the changes from the first to
    the second. ``what`` is "messages" or "queries". None without any.
    """
    bars: dict[str, dict[str, float]] = {}
    words = []
    for label, autopsies in sides.items():
        of_side = "" if len(sides) == 1 else f", {label}"
        found = parts_at(autopsies)
        for percentile in found.columns[1:]:
            bars[f"{percentile}{of_side}"] = dict(zip(found["part"], found[percentile], strict=True))
        sentences = list(sentences_at(autopsies, what).items())
        words += [f"{percentile}{of_side}: {sentence}" for percentile, sentence in sentences[-1:]]
    if len(sides) == 2:
        (_, first), (second_label, second) = sides.items()
        words = [one for one in (changes_between(first, second, second_label), *words) if one]
    title = "Parts of query completion times" if what == "queries" else "Parts of completion times"
    return bars_plot(bars, title, ". ".join(words), what=what)


def changes_between(before: pl.DataFrame, after: pl.DataFrame, label: str) -> str:
    """Describe the changes of parts at the highest common percentile of two tables of autopsies; "" without one.

    ``label`` names the side with ``after``.
    """
    sides = [parts_at(one) for one in (before, after)]
    common = [name for name in sides[0].columns[1:] if name in sides[1].columns]
    if not common:
        return ""
    return change_at(common[-1], label, *(dict(zip(side["part"], side[common[-1]], strict=True)) for side in sides))


def bars_plot(
    bars: Mapping[str, Mapping[str, float]], title: str, words: str = "", what: str = "messages"
) -> Plot | None:
    """Plot stacked bars by their names, such as "p99, LG"; each has the time of its parts and of `WHOLE`.

    Parts below 1 % of every bar are drawn together. ``words`` begin the caption. None without bars.
    """
    if not bars:
        return None
    names = sorted(bars, key=lambda name: float(name[1:].partition(",")[0]))
    whole = [bars[name][WHOLE] for name in names]
    shares = {
        label: max(bars[name].get(label, 0.0) / total for name, total in zip(names, whole, strict=True) if total)
        for label in LABELS.values()
    }
    shown = [label for label, share in shares.items() if share >= _WORTH_DRAWING]
    parts = {label: [bars[name].get(label, 0.0) for name in names] for label in shown}
    rest = [total - sum(times[place] for times in parts.values()) for place, total in enumerate(whole)]
    if max(rest) > _WORTH_DRAWING / 100 * max(whole):
        parts["other parts"] = [max(0.0, time) for time in rest]
    caption = f"{words}. {MEANS}" if words else MEANS
    time = "QCT (us)" if what == "queries" else "FCT (us)"
    return Plot(title, what, time, stacked(names, parts), caption=caption)


def _band(percent: float, count: int) -> tuple[int, int]:
    """Return the ranks around a percentile; an empty range if the sample has too few values beyond it."""
    if not enough_for(percent, count):
        return 0, 0
    half = (100.0 - percent) / 2
    # Rounded first, because percentiles such as 99.9 are not exact in binary.
    low, high = (round(count * (percent + sign * half) / 100.0, 6) for sign in (-1, 1))
    return math.floor(low), math.ceil(high)
