"""What a scenario's own report says of it: topology, mechanisms, queues, links and counters."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from hitless.exhibits.campaign import Result

_MOST_ROWS = 40
_NAMES_SHOWN = 6
_COUNTERS = ("switch", "mechanism", "scope", "counter", "value")
_LINKS = ("link", "frames_sent", "frames_arrived", "frames_corrupted", "frames_lost_down")


@dataclass(frozen=True, slots=True)
class Table:
    """A table beside the rows."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left_out: int
    """Rows that are in the Parquet file alone."""


def facts(result: Result) -> list[tuple[str, str]]:
    """What ran, in a few lines, from the effective scenario; nothing for work that has none."""
    run = next((task.run for task in result.tasks if task.run is not None), None)
    return [] if run is None else facts_of(run.effective)


def facts_of(effective: str) -> list[tuple[str, str]]:
    """What an effective scenario consists of, in a few lines."""
    scenario = tomllib.loads(effective)
    found = [
        ("scenario", scenario.get("description", "")),
        ("topology", _topology(scenario.get("topology", {}))),
        ("mechanisms", "; ".join(map(_mechanism, scenario.get("mechanism", []))) or "none"),
        ("queues", _queues(scenario.get("switch", {}))),
        ("flows", _named(scenario.get("flows", []), "kind")),
        ("transports", _named(scenario.get("transport", []), "kind")),
    ]
    return [(name, text) for name, text in found if text]


def tables(result: Result) -> list[Table]:
    """What the mechanisms counted, and what happened on the links; what is zero is left out."""
    made = []
    # A table without rows has no types of columns.
    counters, links = (_filled(result.tables.get(name)) for name in ("mechanisms", "links"))
    if counters is not None and set(_COUNTERS) <= set(counters.columns):
        counted = (pl.col("value") > 0) & ~pl.col("counter").str.starts_with("resources:")
        made.append(_table("What the mechanisms counted", counters.filter(counted), _COUNTERS))
    if links is not None and set(_LINKS) <= set(links.columns):
        lost = pl.col("frames_corrupted") + pl.col("frames_lost_down")
        made.append(_table("Links that lost frames", links.filter(lost > 0).sort(lost, descending=True), _LINKS))
    return [table for table in made if table.rows]


def _filled(table: pl.DataFrame | None) -> pl.DataFrame | None:
    return None if table is None or table.is_empty() else table


def _topology(topology: Mapping[str, Any]) -> str:
    parts = [str(topology.get("kind", ""))]
    for name, value in topology.items():
        words = name.replace("_", " ")
        if isinstance(value, Mapping):
            parts.append(f"{words} {_rate(value)}")
        elif isinstance(value, list):
            rates = sorted({_rate(one) for one in value if isinstance(one, Mapping)})
            parts.append(f"{words}: {len(value)}{' of ' + ', '.join(rates) if rates else ''}")
        elif name != "kind":
            parts.append(f"{words} {value}")
    return ", ".join(part for part in parts if part)


def _rate(link: Mapping[str, Any]) -> str:
    return str(link.get("rate", "")).replace("bps", "b/s")


def _mechanism(mechanism: Mapping[str, Any]) -> str:
    """Its name, and where it works and how, as far as texts say so."""
    places = [str(mechanism[name]) for name in ("link", "links", "switches", "mode") if mechanism.get(name)]
    return f"{mechanism.get('kind', '')}{' (' + ', '.join(places) + ')' if places else ''}"


def _queues(switch: Mapping[str, Any]) -> str:
    buffer = switch.get("buffer", {})
    count = f"{switch['queues_per_port']} a port" if "queues_per_port" in switch else ""
    words = [str(switch.get("scheduler", "")), count]
    words.append(", ".join(f"{name.replace('_', ' ')} {value}" for name, value in buffer.items()))
    return ", ".join(filter(None, words))


def _named(things: Iterable[Mapping[str, Any]], field: str) -> str:
    names = [f"{one.get('name', '')} ({one.get(field, '')})" for one in things]
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


def _table(title: str, table: pl.DataFrame, columns: Sequence[str]) -> Table:
    cells = table.select(columns).iter_rows()
    rows = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in cells]
    header = [name.replace("_", " ") for name in columns]
    return Table(title, header, rows[:_MOST_ROWS], max(0, len(rows) - _MOST_ROWS))
