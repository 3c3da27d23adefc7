"""`hitless envelope`: the map of where a mechanism helps."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import groupby

from rich.table import Table

from hitless.cli.execute import execute
from hitless.comparison.sides import Addition
from hitless.envelope import COARSE, FINE, SYSTEMS, Cell, Colour, Grid, RandomPlaces, System, system_of
from hitless.envelope.places import Place, cable
from hitless.errors import BadInput
from hitless.results import RESULTS, ResultsFolder
from hitless.runs.keeping import KeptPoints
from hitless.runs.result import failed
from hitless.terminal.console import print_error, print_json, print_note, print_text, stdout
from hitless_papers import page
from hitless_papers.campaign import Campaign
from hitless_papers.cli.reproduce_app import EnvelopeOptions
from hitless_papers.envelope.exhibit import Envelope
from hitless_papers.registry import Entry

_TOLD = 10
"""Maximum harmed places in the notes."""
_SIGNS: dict[Colour, str] = {"helps": "+", "no harm": "=", "refused": "-", "harms": "HARM"}


def envelope(options: EnvelopeOptions) -> int:
    """Run the map and show it; return the exit code: 1 where the mechanism harms."""
    seed, out = options.seed, options.out
    if options.fine and options.random:
        raise BadInput("--fine and --random exclude each other")
    system = _system(options)
    mechanism = system.name
    grid = RandomPlaces(options.random, seed) if options.random else FINE if options.fine else COARSE
    exhibit = Envelope(system, grid)
    entry = Entry(f"envelope/{mechanism}", f"{mechanism}: {system.trouble}", headline=False, make=lambda: exhibit)
    kept = KeptPoints((out or RESULTS) / "points")
    campaign = Campaign([entry], seed=seed, jobs=options.jobs, kept=kept, fresh=options.fresh)
    make_folder = partial(ResultsFolder, f"envelope-{mechanism}", out, points=kept.folder)
    execution = execute(campaign, make_folder, "mapping", page, seed=seed)
    document = {"mechanism": mechanism, "seeds": grid.seeds, "cells": [cell.as_json() for cell in exhibit.cells]}
    with execution.folder.troubles_kept():
        execution.folder.write_json("envelope.json", document)
    if options.json:
        print_json(document)
    else:
        _show(system, grid, exhibit.cells)
    failures = [failure for result in execution.results for failure in result.failures]
    if failures:
        runs = sum(len(result.tasks) for result in execution.results)
        print_error(failed(failures, runs, entry.id))
    execution.tell_place()
    return execution.exit_code or int(any(cell.colour == "harms" for cell in exhibit.cells))


def _system(options: EnvelopeOptions) -> System:
    """Return the map; a mechanism in the table of maps needs no options."""
    if options.kind in SYSTEMS:
        return system_of(options.kind, {}, against=options.against, cost=options.cost)
    asked = Addition.of(options.kind)
    return system_of(asked.kind, asked.fields, against=options.against, cost=options.cost)


def _show(system: System, grid: Grid | RandomPlaces, cells: Sequence[Cell]) -> None:
    print_text(f"{system.name}, against {system.trouble}; {grid.seeds} seeds a place")
    print_text(f"stated cost: {system.cost.share:.0%} ({system.cost.why})")
    if isinstance(grid, RandomPlaces):
        for cell in cells:
            stdout.print(f"{_SIGNS[cell.colour]:4} {cell.place.name}", highlight=False)
    else:
        for transport, of_transport in groupby(cells, key=lambda cell: cell.place.transport):
            stdout.print(_map(transport, list(of_transport)))
    counts = Counter(cell.colour for cell in cells)
    told = ", ".join(f"{sign} {colour} ({counts[colour]})" for colour, sign in _SIGNS.items())
    print_text(told)
    harmed = [cell for cell in cells if cell.colour == "harms"]
    for cell in harmed[:_TOLD]:
        share = f"{cell.ratio.estimate:.2f}" if cell.ratio else "nothing"
        print_note(f"{cell.place.name}: {share} of the service without it")
    if len(harmed) > _TOLD:
        print_note(f"and {len(harmed) - _TOLD} more places: --json has all")
    for reason, place in _reasons(cells).items():
        print_note(f"refused, as at {place.name}: {reason}")


def _map(transport: str, cells: Sequence[Cell]) -> Table:
    """Rates and cables across, frames and loads down."""
    table = Table(title=transport, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    columns = list(dict.fromkeys((cell.place.rate_gbps, cell.place.cable_m) for cell in cells))
    table.add_column("frame, load")
    for rate, metres in columns:
        table.add_column(f"{rate}G\n{cable(metres)}", justify="right")
    found = {(_across(cell.place), _down(cell.place)): cell.colour for cell in cells}
    for down in dict.fromkeys(_down(cell.place) for cell in cells):
        signs = (_SIGNS[found[column, down]] if (column, down) in found else "" for column in columns)
        table.add_row(down, *signs)
    return table


def _across(place: Place) -> tuple[int, int]:
    return place.rate_gbps, place.cable_m


def _down(place: Place) -> str:
    return f"{place.frame_bytes} B" + (f", {place.load:.0%}" if place.transport == "udp" else "")


def _reasons(cells: Sequence[Cell]) -> dict[str, Place]:
    """The reasons of refusals, each with its first place; those that differ in numbers only are one."""
    first: dict[str, tuple[str, Place]] = {}
    for cell in cells:
        if cell.colour == "refused":
            kind = "".join(letter for letter in cell.reason if not letter.isdigit())
            first.setdefault(kind, (cell.reason, cell.place))
    return dict(first.values())
