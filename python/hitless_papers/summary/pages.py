"""Pages with places for tables: ``<!-- results: ... -->`` begins a place and ``<!-- end of results -->`` ends it.

The words after the colon choose the table:

=======================  ===============================================================
``counts``               verdicts by paper
``chosen``               the rows of the first screen (`hitless_papers.answer.chosen`), in their order and words
``rows lg/fig8 sqr ...`` a section for each exhibit with its judged rows; a paper's name selects all its exhibits
``maps rimm sqr ...``    places of the maps of ``hitless envelope`` by colour, a line for each map; by default all maps
``differs lg ...``       rows of these exhibits that differ, with their causes (`hitless_papers.summary.causes`)
``bad-link``             README's table and sentences of field/one-bad-link; ``bad-link-whole`` has all its rows
``causes``               each cause once, with its exhibits and its number of rows
=======================  ===============================================================
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hitless.errors import BadInput
from hitless_papers.answer.chosen import FILE, Key, mechanisms
from hitless_papers.field import answer
from hitless_papers.registry import MAPS, PAPERS, entries
from hitless_papers.summary import tables
from hitless_papers.summary.causes import FILE as CAUSES
from hitless_papers.summary.causes import with_causes
from hitless_papers.summary.document import Summary, SummaryExhibit, SummaryRow

SUMMARY = Path("docs/results.json")

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
    """All pages below ``root`` that have places: README.md and those of docs.

    Raises `BadInput` where a place asks for what the summary does not have.
    """
    summary = Summary.read(root / SUMMARY)
    paths = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    pages = [(path, path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    return [_render(path, text, summary) for path, text in pages if _PLACE.search(text)]


def _render(path: Path, text: str, summary: Summary) -> Rendered:
    def fill(place: re.Match[str]) -> str:
        try:
            table = _table(place[2].split(), summary)
        except BadInput as wrong:
            raise BadInput(wrong.what, where=f"{path}: {place[1].strip()}", hint=wrong.hint) from wrong
        return f"{place[1]}{table}\n{place[4]}"

    return Rendered(path, text, _PLACE.sub(fill, text))


def _table(words: Sequence[str], summary: Summary) -> str:  # noqa: PLR0911 - a table of cases
    match words:
        case ["counts"]:
            return tables.counts(summary, [(paper.name, paper.title) for paper in PAPERS if paper.name != MAPS])
        case ["chosen"]:
            return tables.chosen(_chosen(summary))
        case ["differs", *names] if names:
            ids = {exhibit.id for exhibit in _named(summary, names)}
            return tables.differing([row for row in with_causes(summary, CAUSES) if row[0] in ids])
        case ["causes"]:
            return tables.causes(with_causes(summary, CAUSES))
        case ["maps", *names]:
            found = [f"{MAPS}/{name}" for name in names]
            return tables.maps(_named(summary, found or [MAPS]))
        case ["bad-link" | "bad-link-whole" as name]:
            [exhibit] = _named(summary, [answer.EXHIBIT])
            return _BAD_LINK[name](exhibit.row, exhibit.effort)
        case ["rows", *names] if names:
            return tables.sections(_named(summary, names), {entry.id: entry.title for entry in entries()})
        case _:
            hint = "bad-link, counts, chosen, causes, maps, differs ID... or rows ID..."
            raise BadInput(f"there is no table {' '.join(words)!r}", hint=hint)


_BAD_LINK = {"bad-link": answer.short, "bad-link-whole": answer.whole}


def _named(summary: Summary, names: Sequence[str]) -> Iterable[SummaryExhibit]:
    for name in names:
        found = [exhibit for exhibit in summary.exhibits if name in {exhibit.id, exhibit.paper}]
        if not found:
            raise BadInput(f"the summary has no {name}", hint="hitless results add puts what a run found into it")
        yield from found


def _chosen(summary: Summary) -> Iterable[tuple[str, str, SummaryRow]]:
    """The chosen rows of those exhibits that the summary has."""
    for mechanism in mechanisms():
        rows = [
            (words, _find(exhibit, key))
            for line in mechanism.lines
            if (exhibit := summary.exhibit(line.exhibit)) is not None
            for words, key in line.rows
            if key != line.bare or exhibit.row(key) is not None  # the summary keeps only what has a verdict
        ]
        for number, (words, row) in enumerate(rows):
            unit = "" if row.unit in {"", "times"} else f", {row.unit}"
            yield f"{mechanism.name}: {mechanism.trouble}" if number == 0 else "", f"{words}{unit}", row


def _find(exhibit: SummaryExhibit, key: Key) -> SummaryRow:
    row = exhibit.row(key)
    if row is None:
        raise BadInput(f"the summary has no row {exhibit.id}: {', '.join(key)}", where=FILE.name)
    return row
