"""Axes: the position of a value between the two ends, and the ticks."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hitless.drawing.plot import Position, Scale
from hitless.numbers import format_number

_MANY_TICKS = 6
_NARROW = 6.0
"""Minimum ratio between the ends of a logarithmic axis; below it, the ticks are linear."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the grid."""

    at: float
    """Share of the axis, 0 to 1."""
    label: str


@dataclass(frozen=True, slots=True)
class Numbers:
    """An axis of numbers from ``low`` to ``high``."""

    low: float
    high: float
    is_log: bool
    only: float | None = None
    """The only number, if there is just one; it gets the only tick."""

    @property
    def ticks(self) -> Sequence[Tick]:
        """Round numbers, in ascending order."""
        values = _log_ticks(self.low, self.high) if self.is_log else _round_ticks(self.low, self.high)
        values = values if self.only is None else [self.only]
        places = [(value, self.at(value)) for value in values]
        return [
            Tick(place, format_number(value))
            for value, place in places
            if place is not None and -1e-9 <= place <= 1 + 1e-9
        ]

    def at(self, value: Position) -> float | None:
        """Return the share of the axis; None for values that do not fit, such as zero on a logarithmic axis."""
        if isinstance(value, str) or not math.isfinite(value):
            return None
        if not self.is_log:
            return (value - self.low) / (self.high - self.low)
        return math.log(value / self.low) / math.log(self.high / self.low) if value > 0 else None


@dataclass(frozen=True, slots=True)
class Categories:
    """An axis of texts, each in the middle of its slot."""

    names: Sequence[str]

    @property
    def ticks(self) -> Sequence[Tick]:
        return [Tick(self.slot(number), name) for number, name in enumerate(self.names)]

    def at(self, value: Position) -> float | None:
        return self.slot(self.names.index(str(value)))

    def slot(self, number: int) -> float:
        return (number + 0.5) / len(self.names)


Axis: TypeAlias = Numbers | Categories


def axis(values: Iterable[Position], scale: Scale, *, from_zero: bool = False) -> Axis:
    """Return an axis that holds the values. If one of them is a text, all are: "1e-3" reads like a number."""
    found = list(values)
    if any(isinstance(value, str) for value in found):
        return Categories(list(dict.fromkeys(map(str, found))))
    numbers = [float(value) for value in found if math.isfinite(float(value))]
    if scale == "log":
        return _log_axis([number for number in numbers if number > 0])
    if not numbers:
        return Numbers(0.0, 1.0, is_log=False)
    low, high = min(numbers), max(numbers)
    if from_zero or 0 <= low <= 0.6 * high:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return Numbers(low - 0.5, high + 0.5, is_log=False, only=low)
    pad = 0.04 * (high - low)
    return Numbers(low if low == 0 else low - pad, high + pad, is_log=False)


def _log_axis(positive: Sequence[float]) -> Numbers:
    low, high = (min(positive), max(positive)) if positive else (1.0, 10.0)
    if high / low < 2:
        low, high = low / 1.5, high * 1.5
    pad = (high / low) ** 0.04
    return Numbers(low / pad, high * pad, is_log=True)


def _round_ticks(low: float, high: float) -> list[float]:
    step = 10 ** math.floor(math.log10((high - low) / _MANY_TICKS))
    step *= next(factor for factor in (1, 2, 2.5, 5, 10) if (high - low) / (step * factor) <= _MANY_TICKS)
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    if high / low < _NARROW:
        return [tick for tick in _round_ticks(low, high) if tick > 0]
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if math.log10(high / low) <= 2:
        ticks = [factor * 10.0**power for power in range(first, last + 1) for factor in (1, 2, 5)]
        return [tick for tick in ticks if low <= tick <= high]
    every = math.ceil((last - first) / (_MANY_TICKS + 1))
    return [10.0**power for power in range(first, last + 1) if power % every == 0]
