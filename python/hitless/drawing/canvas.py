"""The rectangle between the axes of a plot: the position of values, the grid, the labels."""

from dataclasses import dataclass
from html import escape

from hitless.drawing.scales import Axis, Categories

CHARACTER = 6.7
"""Pixels of an average character."""
_LONGEST_LABEL = 22


@dataclass(frozen=True, slots=True)
class Size:
    width: int
    height: int


WIDE, NARROW = Size(880, 400), Size(360, 330)
"""Sizes for a desktop and for a phone."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """The axes, with positions in pixels from the left and from the top."""

    left: float
    top: float
    width: float
    height: float
    x: Axis
    y: Axis

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def across(self, share: float) -> float:
        """Return the pixels from the left."""
        return self.left + share * self.width

    def down(self, share: float) -> float:
        """Return the pixels from the top."""
        return self.bottom - share * self.height

    @property
    def labels_height(self) -> float:
        """The pixels that the labels of the x axis need below it."""
        if not isinstance(self.x, Categories) or self._fits:
            return 22
        return 24 + 0.55 * CHARACTER * max(len(_short(name)) for name in self.x.names)

    def grid(self) -> str:
        """Draw the lines of the grid with their labels, and the x axis."""
        made = []
        for tick in self.y.ticks:
            y = self.down(tick.at)
            made.append(
                f'<path class="grid" d="M{self.left:.1f},{y:.1f}h{self.width:.1f}"/>'
                f'<text x="{self.left - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{escape(tick.label)}</text>'
            )
        frame = f'<path class="frame" d="M{self.left:.1f},{self.bottom:.1f}h{self.width:.1f}"/>'
        return "".join([*made, *self._below(), frame])

    @property
    def _fits(self) -> bool:
        """Is there enough space for the name of each category?"""
        names = self.x.names if isinstance(self.x, Categories) else ()
        return all(len(name) * CHARACTER <= self.width / len(names) - 4 for name in names)

    def _below(self) -> list[str]:
        if isinstance(self.x, Categories) and not self._fits:
            return [_slanted(tick.label, self.across(tick.at), self.bottom + 14) for tick in self.x.ticks]
        made, free_from = [], float("-inf")
        for tick in self.x.ticks:
            x, half = self.across(tick.at), len(tick.label) * CHARACTER / 2
            if not isinstance(self.x, Categories):
                made.append(f'<path class="grid" d="M{x:.1f},{self.top:.1f}v{self.height:.1f}"/>')
            if x - half >= free_from:
                free_from = x + half + 8
                y = self.bottom + 17
                made.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(tick.label)}</text>')
        return made


def _slanted(label: str, x: float, y: float) -> str:
    """Draw a label that ends at its tick and does not begin left of the picture."""
    room = int(x / (0.85 * CHARACTER)) - 1
    turn = f'transform="rotate(-32 {x:.1f} {y:.1f})"'
    words = f"{escape(_short(label, room))}<title>{escape(label)}</title>"
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="end" {turn}>{words}</text>'


def _short(label: str, room: int = _LONGEST_LABEL) -> str:
    room = max(2, min(room, _LONGEST_LABEL))
    return label if len(label) <= room else f"{label[: room - 1]}\N{HORIZONTAL ELLIPSIS}"
