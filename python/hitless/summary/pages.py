"""Pages with places for tables: ``<!-- results: ... -->`` begins one and ``<!-- end of results -->`` ends it.

What stands behind the colon says which table:

=======================  ===============================================================
``counts``               verdicts by paper
``chosen``               the rows of docs/results-chosen.toml, in their order and words
``rows lg/fig8 sqr ...`` all judged rows of the exhibits, a paper's name for all of its
``differs``              the rows that differ, with their notes
=======================  ===============================================================
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hitless.errors import BadInput
from hitless.exhibits.registry import PAPERS
from hitless.summary import tables
from hitless.summary.document import Summary, SummaryExhibit, SummaryRow

SUMMARY = Path("docs/results.json")
CHOSEN = Path("docs/results-chosen.toml")

_PLACE = re.compile(r"(<!-- results: ([^\n]*?) -->\n)(.*?)(<!-- end of results -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page, as it is and as the summary says it should be."""

    path: Path
    found: str
    wanted: str

    @property
    def is_current(self) -> bool:
        """Does every table say what the summary says?"""
        return self.found == self.wanted


def render(root: Path) -> list[Rendered]:
    """All pages below ``root`` that have places: README.md and docs/*.md.

    Raises `BadInput` where a place asks for what the summary does not have.
    """
    summary = Summary.read(root / SUMMARY)
    paths = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    pages = [(path, path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    return [_render(path, text, summary, root) for path, text in pages if _PLACE.search(text)]


def _render(path: Path, text: str, summary: Summary, root: Path) -> Rendered:
    def fill(place: re.Match[str]) -> str:
        try:
            table = _table(place[2].split(), summary, root)
        except BadInput as wrong:
            raise BadInput(wrong.what, where=f"{path}: {place[1].strip()}", hint=wrong.hint) from wrong
        return f"{place[1]}{table}\n{place[4]}"

    return Rendered(path, text, _PLACE.sub(fill, text))


def _table(words: Sequence[str], summary: Summary, root: Path) -> str:
    match words:
        case ["counts"]:
            return tables.counts(summary, [(paper.name, paper.title) for paper in PAPERS])
        case ["chosen"]:
            return tables.chosen(_chosen(summary, root / CHOSEN))
        case ["differs"]:
            return tables.differing(summary.exhibits)
        case ["rows", *names] if names:
            return tables.rows_of(_named(summary, names))
        case _:
            raise BadInput(f"there is no table {' '.join(words)!r}", hint="counts, chosen, differs or rows ID...")


def _named(summary: Summary, names: Sequence[str]) -> Iterable[SummaryExhibit]:
    for name in names:
        found = [exhibit for exhibit in summary.exhibits if name in {exhibit.id, exhibit.paper}]
        if not found:
            raise BadInput(f"the summary has no {name}", hint="hitless results add puts what a run found into it")
        yield from found


def _chosen(summary: Summary, path: Path) -> Iterable[tuple[str, str, SummaryRow]]:
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["row"]:
        yield entry.get("before", ""), entry["words"], _find(summary, entry, path)


def _find(summary: Summary, entry: dict[str, Any], path: Path) -> SummaryRow:
    exhibit = summary.exhibit(entry["exhibit"])
    key = (entry["series"], entry["x"], entry["metric"])
    row = next((row for row in exhibit.rows if row.key == key), None) if exhibit else None
    if row is None:
        raise BadInput(f"the summary has no row {entry['exhibit']}: {', '.join(key)}", where=str(path))
    return row
