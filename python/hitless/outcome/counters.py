"""Counters, histograms and series of mechanisms: their declarations, and counters over several places."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from hitless import _native
from hitless.suggest import similar

_MAXIMA = frozenset({"highest", "largest", "longest", "max", "maximum", "most", "peak"})
"""Words in the keys of counters that are maxima."""
_UNITS = frozenset({"bits", "blocks", "bytes", "frames", "ns", "segments"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """Declaration of the quantity in a histogram or a series."""

    key: str
    label: str

    @property
    def unit(self) -> str:
        """The last word of the key if it is a unit; "" for a count."""
        last = self.key.rpartition("_")[2]
        return last if last in _UNITS and last != self.key else ""


@dataclass(frozen=True, slots=True)
class Counter(Quantity):
    """Declaration of a counter."""

    meaning: str
    """Details beyond the label, or ""."""


def declared() -> Mapping[str, list[Counter]]:
    """Return the counters of each kind of mechanism; the kind "" has the resources, which every kind reports."""
    return {
        kind: [Counter(key, label, " ".join(meaning.split())) for key, label, meaning in counters]
        for kind, counters in _native.mechanism_counters()
    }


def quantities() -> Mapping[str, list[Quantity]]:
    """Return the quantities in histograms and series of each kind of mechanism."""
    return {kind: [Quantity(*one) for one in of_kind] for kind, of_kind in _native.mechanism_quantities()}


def require_key(key: str, known: Collection[str]) -> None:
    """Raise `KeyError` with similar keys if the key is neither ``known`` nor a declared counter."""
    _require("counter", key, known, declared())


def require_quantity(key: str, known: Collection[str]) -> None:
    """Raise `KeyError` with similar keys if the key is neither ``known`` nor a declared quantity."""
    _require("quantity", key, known, quantities())


def require_switch(switch: str, known: Collection[str]) -> None:
    """Raise `KeyError` with similar names if the switch is not ``known``."""
    if switch not in known:
        raise KeyError(f"no switch {switch!r} has a mechanism; {similar(switch, known)}")


def _require(what: str, key: str, known: Collection[str], by_kind: Mapping[str, Sequence[Quantity]]) -> None:
    keys = {*known, *(one.key for of_kind in by_kind.values() for one in of_kind)}
    if key not in keys:
        raise KeyError(f"unknown {what} {key!r}; {similar(key, keys)}")


def is_maximum(key: str) -> bool:
    """Is a counter a maximum, such as ``longest_stall_ns`` or ``replay_buffer_peak_bytes``?"""
    return not _MAXIMA.isdisjoint(key.split("_"))


def over_places(key: str, values: Iterable[int]) -> int:
    """Return a counter over several places."""
    return max(values, default=0) if is_maximum(key) else sum(values)


def by_mechanism(table: pl.DataFrame) -> pl.DataFrame:
    """Return each counter of each mechanism over all switches, from a run's table ``mechanisms``."""
    grouped = table.group_by("mechanism", "counter", "label", maintain_order=True).agg(
        sum=pl.col("value").sum(), max=pl.col("value").max()
    )
    maxima = [is_maximum(key) for key in grouped["counter"]]
    value = pl.when(pl.Series(maxima, dtype=pl.Boolean)).then("max").otherwise("sum")
    return grouped.select("mechanism", "counter", "label", value=value)
