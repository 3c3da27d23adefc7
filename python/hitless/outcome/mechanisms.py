"""The activity of each mechanism in three numbers, and its counters above zero.

A mechanism counts up to fifty things. The three shown here say how much it saw, how often it acted, and what this cost
or missed. For an unknown mechanism, such as the user's, they are the first three that it reports. A run's table
``mechanisms`` has all counters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from hitless.outcome.counters import by_mechanism
from hitless.outcome.run import Run

COUNTERS = ("switch", "mechanism", "scope", "counter", "value")
"""The columns of a counter."""
_RESOURCES = "resources:"
_DEFLECTING = (
    ("packets seen", "packets seen"),
    ("packets detoured", "detours"),
    ("packets given up at their deflection port", "given up"),
)
"""A packet can take several detours."""

_CHOSEN: Mapping[str, Sequence[tuple[str, str]]] = {
    "linkguardian": (
        ("packets protected", "packets protected"),
        ("packets recovered", "recovered"),
        ("packets lost", "lost for good"),
    ),
    "link-layer-retry": (
        ("frames numbered", "frames numbered"),
        ("frames replayed", "replayed"),
        ("packets lost", "lost for good"),
    ),
    "wharf": (
        ("data frames sent", "frames sent"),
        ("frames restored", "restored"),
        ("packets lost", "lost for good"),
    ),
    "sqr": (
        ("packets marked", "packets marked"),
        ("failures", "failures seen"),
        ("packets sent from the cache", "sent from the cache"),
    ),
    "afq": (
        ("packets given a queue", "packets queued"),
        ("packets dropped too far ahead", "dropped too far ahead"),
        ("packets marked", "marked"),
    ),
    "rimm": (
        ("alarms", "alarms"),
        ("packets detoured", "packets detoured"),
        ("packets released in order", "released in order"),
    ),
    "dibs": _DEFLECTING,
    "pabo": _DEFLECTING,
    "simple-deflection": _DEFLECTING,
    "preemptive-deflection": _DEFLECTING,
    "aifo": (
        ("packets seen", "packets seen"),
        ("packets not admitted", "not admitted"),
        ("packets of a full queue", "of a full queue"),
    ),
    "rank-guard": (
        ("packets seen", "packets seen"),
        ("packets with a rank raised", "ranks raised"),
        ("flows found to send more than they promised", "flows found out"),
    ),
    "trimming": (
        ("packets seen", "packets seen"),
        ("packets trimmed", "trimmed"),
        ("headers lost", "headers lost"),
    ),
    "vertigo": (
        ("packets seen", "packets seen"),
        ("packets that had to leave", "had to leave their queue"),
        ("packets detoured", "detoured"),
    ),
    "bolt": (
        ("packets seen", "packets seen"),
        ("packets that met a congested queue", "met a congested queue"),
        ("notices sent", "notices sent"),
    ),
}


@dataclass(frozen=True, slots=True)
class Did:
    """Activity of a mechanism at all switches."""

    mechanism: str
    counts: Sequence[tuple[str, int]]
    """Numbers with their names."""

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {words}" for words, count in self.counts)


def did_of(run: Run) -> list[Did]:
    """Return the activity of every mechanism, in the order of their reports."""
    table = run.tables.get("mechanisms")
    if table is None or table.is_empty():
        return []
    found = []
    totals = by_mechanism(table)
    for (mechanism,), counters in totals.partition_by("mechanism", as_dict=True, maintain_order=True).items():
        of = dict(counters.select("counter", "value").iter_rows())
        chosen = _CHOSEN.get(str(mechanism)) or _first(of)
        found.append(Did(str(mechanism), [(words, of[name]) for name, words in chosen if name in of]))
    return found


def counters_above_zero(table: pl.DataFrame | None) -> pl.DataFrame:
    """Return these rows of a run's table ``mechanisms``, without resources."""
    # The columns of a table without rows are untyped.
    if table is None or table.is_empty() or not set(COUNTERS) <= set(table.columns):
        return pl.DataFrame(schema=COUNTERS)
    return table.select(COUNTERS).filter((pl.col("value") > 0) & ~pl.col("counter").str.starts_with(_RESOURCES))


def _first(counters: Mapping[str, int]) -> Sequence[tuple[str, str]]:
    """Return the first three counters of a mechanism, under its own names."""
    own = [name for name in counters if not name.startswith(_RESOURCES)]
    return [(name, name) for name in own[:3]]
