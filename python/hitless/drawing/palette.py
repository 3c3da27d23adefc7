"""The look of schemes: one colour throughout a report. Only this module names colours of schemes."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from hitless.drawing.plot import Plot

# Colours by Okabe and Ito 2008, for any colour vision. Their black and yellow, invisible on a dark and a white page,
# are a brown and a grey here.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7f7f7f")
DASHES = ("", "7 4", "2 3", "9 3 2 3")
HATCHES = ("", "M0,6 6,0", "M0,0 6,6 M0,6 6,0", "M3,0 3,6")
"""Hatches of bars, for reports with more schemes than colours: the strokes in a square of 6 by 6."""


MARKERS = "os^Dv*PX"
"""Markers of figures for papers, in the notation of matplotlib: distinct in black and white."""


@dataclass(frozen=True, slots=True)
class Look:
    colour: str
    dash: str
    """Dashes of its curves, as in SVG."""
    hatch: int
    """Hatch of its bars: an index into `HATCHES`."""
    marker: str

    @property
    def pattern(self) -> str:
        """Name of the fill with the hatch."""
        return f"hatch{self.hatch}-{self.colour[1:]}"

    @property
    def fill(self) -> str:
        """Fill of its bars, as in SVG."""
        return f"url(#{self.pattern})" if self.hatch else self.colour


class Palette:
    """The looks of all schemes of a report.

    A scheme has one look throughout. Two schemes in the same plot differ: in colour, unless a scheme meets more others
    than there are colours. Schemes that never meet can share a colour.
    """

    def __init__(self, plots: Iterable[Plot]) -> None:
        meets: dict[str, set[str]] = {}
        for plot in plots:
            names = dict.fromkeys(series.name for series in plot.series)
            for name in names:
                meets.setdefault(name, set()).update(names)
        self._numbers: dict[str, int] = {}
        for name, others in meets.items():
            taken = {self._numbers[other] for other in others if other in self._numbers}
            self._numbers[name] = next(number for number in itertools.count() if number not in taken)

    def looks(self, plot: Plot) -> dict[str, Look]:
        """Return the looks of the schemes of a plot."""
        return {series.name: self._look(self._numbers[series.name]) for series in plot.series}

    @staticmethod
    def _look(number: int) -> Look:
        turn = number // len(COLOURS)
        return Look(
            COLOURS[number % len(COLOURS)],
            DASHES[turn % len(DASHES)],
            turn % len(HATCHES),
            MARKERS[number % len(MARKERS)],
        )
