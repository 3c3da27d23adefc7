"""List of the papers and their exhibits.

A new paper needs a package in this one and a line in `PAPERS`. `entries` imports its modules, which register their
exhibits.
"""

import difflib
import importlib
import pkgutil
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hitless.errors import BadInput
from hitless_papers.model import Exhibit


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper. Its name is the part before the slash of its exhibits' ids."""

    name: str
    mechanism: str
    title: str
    module: str


MAPS = "envelope"
"""Name of the exhibits without a paper: the maps of `hitless envelope`."""

PAPERS: tuple[Paper, ...] = (
    Paper(
        "lg", "LinkGuardian", "LinkGuardian: masking corruption losses (SIGCOMM 2023)", "hitless_papers.linkguardian"
    ),
    Paper("afq", "AFQ", "AFQ: approximate fair queueing (NSDI 2018)", "hitless_papers.afq"),
    Paper("sqr", "SQR", "SQR: no packet lost when a link fails (ICNP 2019)", "hitless_papers.sqr"),
    Paper("pd", "Deflection", "Simple and Preemptive Deflection (CoNEXT 2023)", "hitless_papers.deflection"),
    Paper("rimm", "RIMM", "RIMM: microbursts detoured to a neighbour (IEEE Access 2022)", "hitless_papers.rimm"),
    Paper("all", "All five", "All five systems: at once, and on real packets", "hitless_papers.together"),
    Paper("field", "Field", "Transports of AI fabrics (Ultra Ethernet's simulator)", "hitless_papers.field"),
    Paper(MAPS, "Maps", "Beyond the papers' testbeds: where a mechanism helps", "hitless_papers.envelope"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered exhibit."""

    id: str
    title: str
    headline: bool
    """Does ``hitless reproduce`` run it by default?"""
    make: Callable[[], Exhibit]

    @property
    def paper(self) -> str:
        """Name of the paper: the part of the id before the slash."""
        return self.id.partition("/")[0]


ExhibitClass = TypeVar("ExhibitClass", bound=type[Exhibit])

_entries: dict[str, Entry] = {}


def exhibit(id: str, *, title: str, headline: bool = False) -> Callable[[ExhibitClass], ExhibitClass]:  # noqa: A002
    """Register an `Exhibit` subclass under ``id``, such as "lg/fig8"."""

    def registered(made: ExhibitClass) -> ExhibitClass:
        register(Entry(id, title, headline, make=made))
        return made

    return registered


def register(entry: Entry) -> None:
    """Add an exhibit made by a function."""
    if entry.id in _entries or "/" not in entry.id:
        raise ValueError(f"an exhibit's id must be a unique PAPER/NAME, unlike {entry.id!r}")
    _entries[entry.id] = entry


def entries() -> list[Entry]:
    """Return all exhibits, paper by paper, in the order of their names: figures by number, then tables."""
    for paper in PAPERS:
        path = getattr(importlib.import_module(paper.module), "__path__", ())
        for module in pkgutil.iter_modules(path, f"{paper.module}."):
            importlib.import_module(module.name)
    papers = [paper.name for paper in PAPERS]
    found = [entry for entry in _entries.values() if entry.paper in papers]
    return sorted(found, key=lambda entry: (papers.index(entry.paper), _numbered(entry.id)))


def _numbered(text: str) -> list[tuple[str, int]]:
    """Split a text into words and numbers, to put fig9 before fig10."""
    return [(word, int(number or 0)) for word, number in re.findall(r"(\D+)(\d*)", text)]


def select(ids: Sequence[str]) -> list[Entry]:
    """Return the named exhibits; without names, the headline exhibits.

    The name of a paper or mechanism selects all exhibits of the paper. The part after the slash is enough if it is
    unique. Case is ignored.
    """
    known = entries()
    if not ids:
        return [entry for entry in known if entry.headline]
    chosen: dict[str, Entry] = {}
    for wanted in ids:
        chosen.update({entry.id: entry for entry in _matching(wanted, known)})
    return list(chosen.values())


def _matching(wanted: str, known: Sequence[Entry]) -> list[Entry]:
    name = wanted.lower()
    papers = {paper.name for paper in PAPERS if name in {paper.name, paper.mechanism.lower()}}
    matches = [entry for entry in known if name == entry.id.lower() or entry.paper in papers]
    if matches:
        return matches
    short = [entry for entry in known if name == entry.id.lower().partition("/")[2]]
    if not short:
        raise BadInput(f"there is no exhibit {wanted!r}", hint=_hint(name, known))
    if len(short) > 1:
        which = "\n".join(f"    {entry.id:<10} {entry.title}" for entry in short)
        raise BadInput(f"several papers have a {wanted!r}: which?", hint=f"one of\n{which}")
    return short


def _hint(wanted: str, known: Sequence[Entry]) -> str:
    names = [entry.id for entry in known] + sorted({entry.paper for entry in known})
    near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    listing = "hitless reproduce --list shows them all"
    return f"did you mean {' or '.join(near)}? {listing}" if near else listing
