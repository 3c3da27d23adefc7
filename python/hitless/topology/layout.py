"""Positions of the boxes: switches in rows, and hosts below their switches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hitless.topology.folding import Box, Folded, Line

CHARACTER = 7.25
"""Pixels of a character of a monospaced font of 12 px."""
LINE_HEIGHT = 15
_PADDING = 8
_GAP, _HOST_GAP = 18, 10
_ROW, _HOST_ROW = 132, 92
"""Distances between rows, and from the switches to their hosts."""
_MARGIN = 16
_SAMPLES = 60
"""Points of a curve that labels must not touch."""
_HEADING = 64
"""Middle of the first row, below the heading."""
_ARC = 50
"""Height of a line that passes above boxes; its control point is twice as high."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """An area of the drawing, by its middle."""

    x: float
    y: float
    width: float
    height: float

    def meets(self, other: "Rectangle", gap: float = 0.0) -> bool:
        """Do they overlap, or come closer than ``gap``?"""
        across = abs(self.x - other.x) < (self.width + other.width) / 2 + gap
        return across and abs(self.y - other.y) < (self.height + other.height) / 2 + gap


@dataclass(frozen=True, slots=True)
class Curve:
    """A line from a box to another: straight, or bent around boxes (a quadratic curve)."""

    begin: tuple[float, float]
    bend: tuple[float, float]
    end: tuple[float, float]

    def at(self, share: float) -> tuple[float, float]:
        """Return the point at a share of the way, 0 to 1."""
        # Bernstein polynomials of a quadratic Bezier curve, as SVG draws it (command Q).
        parts = ((1 - share) ** 2, 2 * share * (1 - share), share**2)
        points = (self.begin, self.bend, self.end)
        x, y = (sum(part * point[axis] for part, point in zip(parts, points, strict=True)) for axis in (0, 1))
        return x, y


@dataclass(slots=True)
class Layout:
    width: float
    height: float
    boxes: dict[Box, Rectangle] = field(default_factory=dict)
    curves: dict[Line, Curve] = field(default_factory=dict)


def size_of(box: Box) -> tuple[float, float]:
    """Return the width and the height of a box in pixels."""
    width = max(map(len, box.lines)) * CHARACTER + 2 * _PADDING
    return width, LINE_HEIGHT * len(box.lines) + _PADDING


def layout_of(drawing: Folded, least_width: float) -> Layout:
    """Place all boxes; the drawing is at least this wide."""
    slots = [[max(size_of(box)[0], _hosts_width(drawing, box)) + _GAP for box in row] for row in drawing.rows]
    width = max([least_width, *(sum(row) + 2 * _MARGIN for row in slots)])
    has_arcs = any(_is_arc(drawing, line) for line in drawing.lines)
    top = _HEADING + (_ARC if has_arcs else 0)
    made = Layout(width, 0.0)
    for tier, (row, widths) in enumerate(zip(drawing.rows, slots, strict=True)):
        y = top + (len(drawing.rows) - 1 - tier) * _ROW
        order = row if tier == 0 else _by_neighbours(drawing, row, made)
        by_box = dict(zip(row, widths, strict=True))
        spare = (width - 2 * _MARGIN - sum(widths)) / max(1, len(row))
        x = float(_MARGIN)
        for box in order:
            slot = by_box[box] + spare
            made.boxes[box] = Rectangle(x + slot / 2, y, *size_of(box))
            _place_hosts(drawing.hosts[box], made, x + slot / 2, y + _HOST_ROW)
            x += slot
    made.height = max(place.y + place.height / 2 for place in made.boxes.values()) + _MARGIN
    made.curves = {line: _curve(drawing, line, made) for line in drawing.lines}
    return made


def _hosts_width(drawing: Folded, box: Box) -> float:
    hosts = drawing.hosts[box]
    return sum(size_of(host)[0] for host in hosts) + _HOST_GAP * max(0, len(hosts) - 1)


def _place_hosts(hosts: Sequence[Box], made: Layout, middle: float, y: float) -> None:
    widths = [size_of(host)[0] for host in hosts]
    x = middle - (sum(widths) + _HOST_GAP * max(0, len(hosts) - 1)) / 2
    for host, width in zip(hosts, widths, strict=True):
        made.boxes[host] = Rectangle(x + width / 2, y, *size_of(host))
        x += width + _HOST_GAP


def _by_neighbours(drawing: Folded, row: Sequence[Box], made: Layout) -> list[Box]:
    """Sort a row by the mean position of its neighbours in the rows below."""

    def middle(box: Box) -> float:
        if box.title:
            return made.width
        below = [
            made.boxes[end].x for line in drawing.lines if box in line.ends for end in line.ends if end in made.boxes
        ]
        return sum(below) / len(below) if below else 0.0

    return sorted(row, key=middle)


def _is_arc(drawing: Folded, line: Line) -> bool:
    """Does it join two boxes of a row with others between them?"""
    return any(
        abs(row.index(line.ends[0]) - row.index(line.ends[1])) > 1
        for row in drawing.rows
        if line.ends[0] in row and line.ends[1] in row
    )


def _curve(drawing: Folded, line: Line, made: Layout) -> Curve:
    one, other = (made.boxes[box] for box in line.ends)
    if _is_arc(drawing, line):
        begin, end = ((place.x, place.y - place.height / 2) for place in (one, other))
        return Curve(begin, ((one.x + other.x) / 2, one.y - one.height / 2 - 2 * _ARC), end)
    if one.y == other.y:
        side = 1 if one.x < other.x else -1
        begin, end = (one.x + side * one.width / 2, one.y), (other.x - side * other.width / 2, other.y)
    else:
        down = 1 if one.y < other.y else -1
        begin, end = (one.x, one.y + down * one.height / 2), (other.x, other.y - down * other.height / 2)
    return Curve(begin, ((begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2), end)


class Free:
    """The areas that are taken."""

    def __init__(self, taken: Iterable[Rectangle]) -> None:
        self._taken = list(taken)

    def take(self, candidates: Iterable[Rectangle], curves: Iterable[Curve] = ()) -> Rectangle | None:
        """Take the first candidate that is free, and not on a curve; None if there is none."""
        points = [Rectangle(*curve.at(number / _SAMPLES), 1, 1) for curve in curves for number in range(_SAMPLES + 1)]
        for candidate in candidates:
            if not any(candidate.meets(other, 2.0) for other in (*self._taken, *points)):
                self._taken.append(candidate)
                return candidate
        return None
