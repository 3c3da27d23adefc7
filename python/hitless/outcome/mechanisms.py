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

COUNTERS = ("switch", "mechanism", "scope", "counter", "label", "value")
"""The columns of a counter."""
_RESOURCES = "resources_"
_DEFLECTING = (("packets_seen", "packets seen"), ("packets_detoured", "detours"), ("packets_given_up", "given up"))
"""A packet can take several detours."""

_CHOSEN: Mapping[str, Sequence[tuple[str, str]]] = {
    "linkguardian": (
        ("packets_protected", "packets protected"),
        ("packets_recovered", "recovered"),
        ("packets_lost", "lost for good"),
    ),
    "link-layer-retry": (
        ("frames_numbered", "frames numbered"),
        ("frames_replayed", "replayed"),
        ("packets_lost", "lost for good"),
    ),
    "wharf": (("data_frames_sent", "frames sent"), ("frames_restored", "restored"), ("packets_lost", "lost for good")),
    "sqr": (
        ("packets_marked", "packets marked"),
        ("failures", "failures seen"),
        ("packets_sent_from_cache", "sent from the cache"),
    ),
    "afq": (
        ("packets_assigned", "packets queued"),
        ("packets_dropped_too_far_ahead", "dropped too far ahead"),
        ("packets_marked", "marked"),
    ),
    "rimm": (
        ("alarms", "alarms"),
        ("packets_detoured", "packets detoured"),
        ("packets_released_in_order", "released in order"),
    ),
    "dibs": _DEFLECTING,
    "pabo": _DEFLECTING,
    "simple-deflection": _DEFLECTING,
    "preemptive-deflection": _DEFLECTING,
    "aifo": (
        ("packets_seen", "packets seen"),
        ("packets_not_admitted", "not admitted"),
        ("packets_of_full_queue", "of a full queue"),
    ),
    "rank-guard": (
        ("packets_seen", "packets seen"),
        ("packets_raised", "ranks raised"),
        ("flows_found_out", "flows found out"),
    ),
    "trimming": (("packets_seen", "packets seen"), ("packets_trimmed", "trimmed"), ("headers_lost", "headers lost")),
    "vertigo": (
        ("packets_seen", "packets seen"),
        ("packets_displaced", "had to leave their queue"),
        ("packets_deflected", "deflected"),
    ),
    "bolt": (
        ("packets_seen", "packets seen"),
        ("packets_congested", "met a congested queue"),
        ("notices_sent", "notices sent"),
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
        chosen = _CHOSEN.get(str(mechanism)) or _first(counters)
        found.append(Did(str(mechanism), [(words, of[key]) for key, words in chosen if key in of]))
    return found


def counters_above_zero(table: pl.DataFrame | None) -> pl.DataFrame:
    """Return these rows of a run's table ``mechanisms``, without resources."""
    # The columns of a table without rows are untyped.
    if table is None or table.is_empty() or not set(COUNTERS) <= set(table.columns):
        return pl.DataFrame(schema=COUNTERS)
    return table.select(COUNTERS).filter((pl.col("value") > 0) & ~pl.col("counter").str.starts_with(_RESOURCES))


def _first(counters: pl.DataFrame) -> Sequence[tuple[str, str]]:
    """Return the first three counters of a mechanism, under its own labels."""
    own = counters.filter(~pl.col("counter").str.starts_with(_RESOURCES))
    return list(own.select("counter", "label").head(3).iter_rows())
