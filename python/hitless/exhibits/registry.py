"""The list of papers and the exhibits of each.

A new paper is a module in this package and one line in `PAPERS`; its exhibits register themselves on import.
"""

import difflib
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hitless.errors import BadInput
from hitless.exhibits.model import Exhibit


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: the name before the slash of its exhibits' ids, what it is called, and the module of its exhibits."""

    name: str
    title: str
    module: str


PAPERS: tuple[Paper, ...] = (
    Paper("lg", "LinkGuardian: masking corruption losses (SIGCOMM 2023)", "hitless.exhibits.linkguardian"),
    Paper("afq", "AFQ: approximate fair queueing (NSDI 2018)", "hitless.exhibits.afq"),
    Paper("sqr", "SQR: no packet lost when a link fails (ICNP 2019)", "hitless.exhibits.sqr"),
    Paper("pd", "Simple and Preemptive Deflection (CoNEXT 2023)", "hitless.exhibits.deflection"),
    Paper("rimm", "RIMM: microbursts detoured to a neighbour (IEEE Access 2022)", "hitless.exhibits.rimm"),
    Paper("all", "All five systems: at once, and on real packets", "hitless.exhibits.together"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered exhibit."""

    id: str
    title: str
    headline: bool
    """Is it among those that ``hitless reproduce`` runs when none is named?"""
    make: Callable[[], Exhibit]

    @property
    def paper(self) -> str:
        """The paper's name: what stands before the slash."""
        return self.id.partition("/")[0]


ExhibitClass = TypeVar("ExhibitClass", bound=type[Exhibit])

_entries: dict[str, Entry] = {}


def exhibit(id: str, *, title: str, headline: bool = False) -> Callable[[ExhibitClass], ExhibitClass]:  # noqa: A002
    """Register an `Exhibit` subclass under ``id``, such as "lg/fig8"."""

    def register(made: ExhibitClass) -> ExhibitClass:
        if id in _entries or "/" not in id:
            raise ValueError(f"an exhibit's id is PAPER/NAME and used once, unlike {id!r}")
        _entries[id] = Entry(id, title, headline, make=made)
        return made

    return register


def entries() -> list[Entry]:
    """All exhibits, paper by paper, in the order of their modules."""
    for paper in PAPERS:
        importlib.import_module(paper.module)
    names = {paper.name for paper in PAPERS}
    return [entry for entry in _entries.values() if entry.paper in names]


def select(ids: Sequence[str]) -> list[Entry]:
    """The exhibits named, a bare paper's name meaning all of its; the headline ones when none is named."""
    known = entries()
    if not ids:
        return [entry for entry in known if entry.headline]
    chosen: dict[str, Entry] = {}
    for wanted in ids:
        chosen.update({entry.id: entry for entry in _matching(wanted, known)})
    return list(chosen.values())


def _matching(wanted: str, known: Sequence[Entry]) -> list[Entry]:
    matches = [entry for entry in known if wanted in {entry.id, entry.paper}]
    if not matches:
        raise BadInput(f"there is no exhibit {wanted!r}", hint=_hint(wanted, known))
    return matches


def _hint(wanted: str, known: Sequence[Entry]) -> str:
    names = [entry.id for entry in known] + sorted({entry.paper for entry in known})
    near = difflib.get_close_matches(wanted.lower(), names, n=3, cutoff=0.5)
    listing = "hitless reproduce --list shows them all"
    return f"did you mean {' or '.join(near)}? {listing}" if near else listing
