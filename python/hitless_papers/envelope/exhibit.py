"""The runs of a map, and its cells; the coarse maps are exhibits, with more seeds than in tests."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from hitless.envelope.places import COARSE, Grid, Place, RandomPlaces
from hitless.envelope.systems import SYSTEMS, System
from hitless.envelope.verdicts import Cell, Side, judged
from hitless.errors import RefusedScenario
from hitless.runs.point import Point, Runs
from hitless.scenario import Scenario
from hitless.simulation import Run
from hitless_papers.model import Context, Exhibit, Row
from hitless_papers.registry import Entry, register
from hitless_papers.statements import Shape

_KEPT = ("flows",)
_SIDES = ("without", "with")
_SEEDS = 5
SERVICE = "service, with / without"
WORST = f"worst {SERVICE}"
HELPS, REFUSED, HARMS = "places where it helps", "places where it is refused", "places where it harms"
"""Metrics of rows."""


class Envelope(Exhibit):
    """A mechanism at every place of a grid, in pairs of runs with and without it."""

    def __init__(self, system: System, grid: Grid | RandomPlaces) -> None:
        self.system = system
        self.grid = grid
        self.refused: dict[Place, str] = {}
        self.cells: list[Cell] = []

    def places(self) -> Iterator[Place]:
        """Those of the grid that the system measures."""
        return filter(self.system.measures, self.grid.places(self.system.transports))

    @property
    def own_seeds(self) -> int:
        """Those of the grid."""
        return self.grid.seeds

    def points(self, context: Context) -> Iterable[Point]:
        """A pair of runs a seed and place, but where the mechanism is refused."""
        for place in self.places():
            with_it = self.system.scenario(place, with_it=True)
            try:
                Scenario.from_dict(with_it).check()
            except RefusedScenario as refused:
                self.refused[place] = _rule(refused)
                continue
            without = self.system.scenario(place, with_it=False)
            for seed in range(self.grid.seeds):
                yield Point(f"{place.name} without {seed}", without, seed, _KEPT)
                yield Point(f"{place.name} with {seed}", with_it, seed, _KEPT)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        """Counts by colour, the worst service, and the service at each place."""
        self.cells = list(self._cells(runs))
        yield from self._counts()
        for cell in self.cells:
            ratio = cell.ratio.estimate if cell.ratio else None
            interval = cell.ratio.interval if cell.ratio else None
            note = cell.reason and f"refused: {cell.reason}"
            yield Row(self.system.name, cell.place.name, SERVICE, "x", ratio, interval=interval, note=note)

    def _counts(self) -> Iterator[Row]:
        name, over = self.system.name, f"{len(self.cells)} places"
        counts = Counter(cell.colour for cell in self.cells)
        helps = Shape(counts["helps"] > len(self.cells) / 3, "helps at more than a third of the places")
        yield Row(name, over, HELPS, "", counts["helps"], judge=helps)
        reasons = Shape(all(cell.reason for cell in self.cells if cell.colour == "refused"), "is refused with a reason")
        yield Row(name, over, REFUSED, "", counts["refused"], judge=reasons)
        harms = Shape(counts["harms"] == 0, "harms nowhere beyond its stated cost")
        yield Row(name, over, HARMS, "", counts["harms"], judge=harms)
        compared = [(cell, cell.ratio) for cell in self.cells if cell.ratio]
        if compared:
            cell, ratio = min(compared, key=lambda each: each[1].estimate)
            judge = Shape(cell.colour != "harms", "keeps the service at its worst place, but for its stated cost")
            note = f"at {cell.place.name}"
            worst = ratio.estimate
            yield Row(name, over, WORST, "x", worst, interval=ratio.interval, judge=judge, note=note)

    def tables(self, runs: Runs, context: Context) -> Mapping[str, pl.DataFrame]:
        """All cells."""
        return {"cells": pl.DataFrame([cell.as_json() for cell in self.cells], infer_schema_length=None)}

    def _cells(self, runs: Runs) -> Iterator[Cell]:
        for place in self.places():
            if place in self.refused:
                yield Cell(place, "refused", reason=self.refused[place])
                continue
            without, with_it = (
                [Side.of(run, self.system, place) for run in self._each(runs, place, side)] for side in _SIDES
            )
            if without and len(without) == len(with_it):
                yield judged(place, without, with_it, self.system.cost_at(place))

    def _each(self, runs: Runs, place: Place, side: str) -> Sequence[Run]:
        keys = (f"{place.name} {side} {seed}" for seed in range(self.grid.seeds))
        return [runs[key] for key in keys if key in runs]


def _rule(refused: RefusedScenario) -> str:
    """The first fault, without the place in a file that nobody wrote."""
    return str(refused).splitlines()[0].partition(": ")[2].partition(": ")[2]


for _name, _system in SYSTEMS.items():
    _make = partial(Envelope, _system, replace(COARSE, seeds=_SEEDS))
    register(Entry(f"envelope/{_name}", f"{_name}: {_system.trouble}", headline=False, make=_make))
