"""Curves reduced to the points that an eye can distinguish, so that a page stays small."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Place: TypeAlias = tuple[float, float]
"""Pixels from the left and from the top."""

_FAINTEST = 0.35
"""Maximum pixels by which a curve can miss a point."""
_SHORT = 40
"""Minimum number of points for numpy; it is slower on fewer."""
_Numbers: TypeAlias = NDArray[np.float64]


def path(pieces: Iterable[Sequence[Place]]) -> str:
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
    x, y = np.array(places).T.copy()
    kept = {0, len(places) - 1}
    spans = [(0, len(places) - 1)]
    while spans:
        first, last = spans.pop()
        is_short = last - first < _SHORT
        furthest = _furthest(places, first, last) if is_short else _furthest_of_many(x, y, first, last)
        if furthest is not None:
            kept.add(furthest)
            spans += [(first, furthest), (furthest, last)]
    return [places[number] for number in sorted(kept)]


def _furthest(places: Sequence[Place], first: int, last: int) -> int | None:
    """Return the furthest point from the line between two others; None if it is too close for an eye."""
    (left, top), (right, bottom) = places[first], places[last]
    along, down = right - left, bottom - top
    square = math.hypot(along, down) ** 2
    furthest, distance = None, _FAINTEST
    for number in range(first + 1, last):
        x, y = places[number]
        share = ((x - left) * along + (y - top) * down) / square if square else 0.0
        share = 0.0 if share < 0.0 else min(share, 1.0)
        away = math.hypot(x - (left + share * along), y - (top + share * down))
        if away > distance:
            furthest, distance = number, away
    return furthest


def _furthest_of_many(x: _Numbers, y: _Numbers, first: int, last: int) -> int | None:
    """Do the same as `_furthest`, for many points."""
    left, top = x[first], y[first]
    along, down = x[last] - left, y[last] - top
    square = math.hypot(along, down) ** 2
    across, below = x[first + 1 : last], y[first + 1 : last]
    share = ((across - left) * along + (below - top) * down) / square if square else np.zeros(across.size)
    share = share.clip(0.0, 1.0)
    away = np.hypot(across - (left + share * along), below - (top + share * down))
    furthest = int(away.argmax())
    return first + 1 + furthest if away[furthest] > _FAINTEST else None


def _piece(places: Sequence[Place]) -> str:
    return "M" + " ".join(f"{x:.4g},{y:.4g}" for x, y in places)
