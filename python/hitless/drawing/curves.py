"""Curves reduced to the points that an eye can distinguish, so that a page stays small."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

Place: TypeAlias = tuple[float, float]
"""Pixels from the left and from the top."""

_FAINTEST = 0.35
"""Maximum pixels by which a curve can miss a point."""


def path(pieces: Iterable[Sequence[Place]]) -> str:
    """Write the pieces of a curve as an SVG path."""
    return "".join(_piece(thinned(piece)) for piece in pieces if piece)


def steps(places: Sequence[Place]) -> list[Place]:
    """Return a curve that holds each value until the next one."""
    made = list(places[:1])
    for (_, before), (x, y) in pairwise(places):
        made += [(x, before), (x, y)]
    return made


def thinned(places: Sequence[Place]) -> list[Place]:
    """Keep the visible points: first, lowest, highest and last of each column of pixels, and of these the corners."""
    return _corners(_by_columns(places))


def _by_columns(places: Sequence[Place]) -> list[Place]:
    if len(places) < 2_000:
        return list(places)
    made: list[Place] = []
    column: list[Place] = []
    for place in [*places, (math.inf, 0.0)]:
        if column and int(column[0][0]) != (int(place[0]) if math.isfinite(place[0]) else None):
            heights = [y for _, y in column]
            kept = {0, heights.index(min(heights)), heights.index(max(heights)), len(column) - 1}
            made += [column[number] for number in sorted(kept)]
            column = []
        column.append(place)
    return made


def _corners(places: Sequence[Place]) -> list[Place]:
    """Remove points close to the line between others (Ramer 1972, Douglas and Peucker 1973)."""
    if len(places) < 3:
        return list(places)
    kept = {0, len(places) - 1}
    spans = [(0, len(places) - 1)]
    while spans:
        first, last = spans.pop()
        furthest, distance = first, _FAINTEST
        for number in range(first + 1, last):
            away = _distance(places[number], places[first], places[last])
            if away > distance:
                furthest, distance = number, away
        if furthest != first:
            kept.add(furthest)
            spans += [(first, furthest), (furthest, last)]
    return [places[number] for number in sorted(kept)]


def _distance(place: Place, begin: Place, end: Place) -> float:
    """Return the distance from a point to the line between two others."""
    along, down = end[0] - begin[0], end[1] - begin[1]
    length = math.hypot(along, down)
    if length == 0.0:
        return math.dist(place, begin)
    share = ((place[0] - begin[0]) * along + (place[1] - begin[1]) * down) / length**2
    share = min(1.0, max(0.0, share))
    return math.dist(place, (begin[0] + share * along, begin[1] + share * down))


def _piece(places: Sequence[Place]) -> str:
    return "M" + " ".join(f"{x:.4g},{y:.4g}" for x, y in places)
