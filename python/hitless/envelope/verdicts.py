"""The four colours of a map."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import polars as pl

from hitless.analysis import Paired, paired_ratio
from hitless.envelope.places import Place
from hitless.envelope.systems import System
from hitless.simulation import Run

Colour: TypeAlias = Literal["helps", "no harm", "refused", "harms"]
_ROUNDING = 0.01
"""The last packets of a run are under way at its end, on one side and not on the other."""


@dataclass(frozen=True, slots=True)
class Side:
    """Results of a run at its hosts."""

    service: float
    """Bytes delivered to the flows that the mechanism should help; for messages, bytes per second."""
    packets_lost: int

    @classmethod
    def of(cls, run: Run, system: System, place: Place) -> "Side":
        """Sum up the flows that the mechanism should help."""
        flows = run.flows.filter(pl.col("group").is_in(system.victims))
        service = float(flows["delivered_bytes"].sum())
        if system.sends_messages(place):
            # A message that did not end took as long as the run.
            times_us = flows["fct_us"].fill_null(float(run.summary["simulated_s"]) * 1e6)
            service /= float(times_us.sum()) / 1e6
        return cls(service, int(flows["network_packets_lost"].sum()))


@dataclass(frozen=True, slots=True)
class Cell:
    place: Place
    colour: Colour
    ratio: Paired | None = None
    """Service with the mechanism, over that without."""
    lost: tuple[float, float] = (0.0, 0.0)
    """Packets lost to hosts without and with it; means over seeds."""
    reason: str = ""
    """Why it was refused."""

    def as_json(self) -> dict[str, Any]:
        place = {name: getattr(self.place, name) for name in self.place.__dataclass_fields__}
        interval = self.ratio.interval if self.ratio else None
        return {
            **place,
            "colour": self.colour,
            "ratio": self.ratio.estimate if self.ratio else None,
            "ci_low": interval.low if interval else None,
            "ci_high": interval.high if interval else None,
            "lost_without": self.lost[0],
            "lost_with": self.lost[1],
            "reason": self.reason,
        }


def judged(place: Place, without: Sequence[Side], with_it: Sequence[Side], cost: float) -> Cell:
    """Judge a place by runs in pairs with the same seed.

    The mechanism harms if the whole interval of the ratio is below the stated cost. It helps if the whole interval is
    above one, or if it at least halves the packets lost and delivers no less.
    """
    lost = (_mean(without), _mean(with_it))
    if not all(side.service for side in (*without, *with_it)):
        # The logarithm of a ratio to zero is undefined.
        gained = sum(side.service for side in with_it) - sum(side.service for side in without)
        return Cell(place, "helps" if gained > 0 else "harms" if gained < 0 else "no harm", lost=lost)
    ratio = paired_ratio([side.service for side in without], [side.service for side in with_it])
    low, high = (ratio.interval.low, ratio.interval.high) if ratio.interval else (ratio.estimate, ratio.estimate)
    colour: Colour = "no harm"
    if high < 1 - cost - _ROUNDING:
        colour = "harms"
    elif low > 1 + _ROUNDING or (lost[1] < lost[0] / 2 and high > 1 - _ROUNDING):
        colour = "helps"
    return Cell(place, colour, ratio, lost)


def _mean(sides: Sequence[Side]) -> float:
    return sum(side.packets_lost for side in sides) / len(sides)
