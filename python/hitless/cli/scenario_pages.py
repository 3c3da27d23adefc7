"""The output of `hitless scenario schema` as pages in docs/reference/scenario, one for each table.

The listing is the only source: a page has its sentences, with a list of fields instead of columns, and links instead of
"see [host.kernel]". A test compares the pages with it (tests/simulator/test_scenario_reference.py).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_TITLE = re.compile(r"^\[+([^\]]+)\]+$|\(([\w.]+)\)$")
_KIND = re.compile(r'^kind = "([^"]+)": (.*)$')
_FIELD = re.compile(r"^  (\S+) +(\S.*)$")
_CHOICE = re.compile(r'^("[^"]+"): (.*)$')
_TABLE = re.compile(r"see (\[[^\s\]]+\]+)")

INDEX = "index.md"

_ABOUT = (
    "`[name]` is a table that a scenario has once, `[[name]]` one that may be repeated. How to write a scenario is in",
    "[its guide](../../how-to/scenarios.md). These pages are rendered from what `hitless scenario schema` prints, by",
    "`hitless scenario schema --out docs/reference/scenario`.",
)


@dataclass(slots=True)
class _Table:
    """A section of the listing: ``title`` is ``[[link.loss]]``, ``[host]``, or words with a field in parentheses."""

    title: str
    lines: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        found = _TITLE.search(self.title)
        return (found[1] or found[2]) if found else ""

    @property
    def is_table(self) -> bool:
        """Is it a table of a scenario, as opposed to a list of values for a field?"""
        return self.title.startswith("[")

    @property
    def page(self) -> str:
        """Page that shows it: the page of the outermost table."""
        return f"{self.name.split('.')[0]}.md" if self.name else INDEX


def pages(listing: str) -> dict[str, str]:
    """Return the pages by file name, from the output of `hitless scenario schema`."""
    tables = list(_tables(listing))
    links = _links(tables)
    found: dict[str, list[str]] = {}
    for table in tables:
        is_first = table.page not in found
        heading = f"# {_shown(table)}" if is_first else f"## {_shown(table)}"
        found.setdefault(table.page, []).extend([heading, "", *_body(table, links, is_first=is_first)])
    found[INDEX].extend(_contents(tables))
    return {name: re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n" for name, lines in found.items()}


def _tables(listing: str) -> Iterator[_Table]:
    table: _Table | None = None
    lines = listing.splitlines()
    for number, line in enumerate(lines):
        if line and lines[number + 1 : number + 2] == ["-" * len(line)]:
            if table is not None:
                yield table
            table = _Table(line)
        elif table is not None and line != "-" * len(table.title):
            table.lines.append(line.rstrip())
    if table is not None:
        yield table


def _shown(table: _Table) -> str:
    if table.is_table:
        return f"`{table.title}`"
    return table.title if table.name else "A scenario file: top level"


def _links(tables: Iterable[_Table]) -> dict[str, str]:
    """Return the place of each table as ``page.md#anchor``; titles that occur twice are omitted."""
    titles = Counter(table.title for table in tables)
    return {
        table.title: table.page if "." not in table.name else f"{table.page}#{table.name.replace('.', '')}"
        for table in tables
        if titles[table.title] == 1 and table.is_table
    }


def _contents(tables: Iterable[_Table]) -> Iterator[str]:
    yield from ("", "## All tables", "", *_ABOUT, "")
    for page, group in _by_page(tables).items():
        titles = dict.fromkeys(f"`{table.title}`" for table in group)
        yield f"- [`{group[0].title}`]({page}): " + ", ".join(titles)


def _by_page(tables: Iterable[_Table]) -> dict[str, list[_Table]]:
    found: dict[str, list[_Table]] = {}
    for table in tables:
        if table.is_table:
            found.setdefault(table.page, []).append(table)
    return found


def _body(table: _Table, links: dict[str, str], *, is_first: bool) -> Iterator[str]:
    """Return the lines of a table in Markdown: paragraphs, a heading for each kind, and a list of fields."""
    level = "##" if is_first else "###"
    for line in table.lines:
        if kind := _KIND.match(line):
            yield from (f"{level} {kind[1]}", "", f'`kind = "{kind[1]}"`: {_plain(kind[2])}')
        elif line.startswith("        "):
            choice = _CHOICE.match(line.strip())
            yield f"    - `{choice[1]}`: {_plain(choice[2])}" if choice else f"      {_plain(line.strip())}"
        elif line.startswith("      "):
            yield f"    {_plain(line.strip())}"
        elif entry := _FIELD.match(line):
            yield f"- **`{entry[1]}`**: {_linked(entry[2], table.page, links)}  "
        else:
            yield _plain(line)
    yield ""


def _linked(text: str, page: str, links: dict[str, str]) -> str:
    def link(match: re.Match[str]) -> str:
        to = links.get(match[1])
        return f"see `{match[1]}`" if to is None else f"see [`{match[1]}`]({to.removeprefix(page) or to})"

    return _TABLE.sub(link, _plain(text))


def _plain(text: str) -> str:
    """Escape text so that Markdown shows it unchanged. Python-Markdown does not know a backslash before "<"."""
    return re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", text.replace("*", r"\*"))
