"""README.md, ARCHITECTURE.md, CONTRIBUTING.md, docs: every link works, on GitHub and in MkDocs."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^(#{1,6}) +(.*?)\s*$")
_ITEM = re.compile(r"([-*]|\d+\.) ")
_FENCE = re.compile(r"^\s*```")


@cache
def prose(page: Path) -> tuple[str, ...]:
    """Return the lines of a page outside fenced and inline code."""
    lines, is_code = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code:
            lines.append(line)
    return tuple(lines)


def headings(page: Path) -> list[tuple[int, str]]:
    return [(len(found[1]), found[2]) for line in prose(page) if (found := _HEADING.match(line))]


def anchors(page: Path) -> set[str]:
    """Return the anchors of unique headings that are the same on GitHub and in Python-Markdown."""
    of_github = Counter(re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for _, text in headings(page))
    of_mkdocs = Counter(
        re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower()) for _, text in headings(page)
    )
    once = {name for name, times in of_github.items() if times == 1}
    return once & {name for name, times in of_mkdocs.items() if times == 1}


def links(page: Path) -> list[str]:
    """Return the targets of a page's relative links, outside code."""
    text = "\n".join(re.sub(r"`[^`]*`", "", line) for line in prose(page))
    return [target for target in _LINK.findall(text) if "://" not in target]


def resolve(page: Path, target: str) -> tuple[Path, str]:
    path, _, anchor = target.partition("#")
    return (page.parent / path).resolve() if path else page, anchor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_page_and_a_heading(page):
    for target in links(page):
        path, anchor = resolve(page, target)
        assert path.exists(), f"{page}: {target}"
        if DOCS in page.parents:
            assert path.is_file(), f"{page}: {target}"
            assert DOCS in path.parents, f"{page}: {target} leaves docs, and so the site"
        if anchor:
            assert anchor in anchors(path), f"{page}: {target}, of {sorted(anchors(path))}"


def test_every_page_can_be_reached_from_the_index():
    reached, found = {DOCS / "index.md"}, [DOCS / "index.md"]
    while found:
        page = found.pop()
        new = {path for target in links(page) if (path := resolve(page, target)[0]).suffix == ".md"} - reached
        reached |= new
        found.extend(new)
    assert set(DOCS.rglob("*.md")) - reached == set()


def test_every_page_stands_once_in_the_navigation_of_the_site():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = Counter(re.findall(r"- (\S+\.md)$", navigation, re.MULTILINE))
    assert listed == Counter(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_has_one_title(page):
    levels = [level for level, _ in headings(page)]
    assert levels[:1] == [1]
    assert levels.count(1) == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_backslash_stands_only_before_characters_that_both_know(page):
    """Python-Markdown shows others, such as the one before "<", and GitHub does not."""
    text = re.sub(r"`[^`]*`", "", "\n".join(prose(page)))
    assert re.findall(r"\\[<&\"':;,/=~$%@^]", text) == [], page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lists_and_tables_begin_after_an_empty_line(page):
    """Otherwise Python-Markdown makes them part of the paragraph; GitHub does not."""
    for before, line in pairwise(("", *prose(page))):
        if _ITEM.match(line) and before and not before.startswith(" "):
            assert _ITEM.match(before) or before.startswith(("#", "<!--")), f"{page}: {line}"
        if line.startswith("|") and before:
            assert before.startswith(("|", "#", "<!--")), f"{page}: {line}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("# A, b\n[x](no.md)\n", ["no.md"]), ("# A\n```\n[x](no.md)\n```\n", []), ("# A\n`[x](no.md)`\n", [])],
)
def test_links_in_code_are_none(tmp_path, text, expected):
    page = tmp_path / "page.md"
    page.write_text(text)
    assert links(page) == expected


def test_an_anchor_must_be_the_same_for_both_and_unique(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One\n## `[host.kernel]`\n## a = b\n## Twice\n## Twice\n")
    assert anchors(page) == {"one", "hostkernel"}


@pytest.mark.skipif(not Path(sys.executable).with_name("zensical").exists(), reason="zensical is missing")
def test_the_site_is_built_without_a_warning_and_links_to_its_repository(tmp_path):
    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    url = "https://example.org/owner/hitless"
    done = subprocess.run(
        [Path(sys.executable).with_name("zensical"), "build", "--strict", "--config-file", "mkdocs.yml"],
        cwd=tmp_path,
        env=os.environ | {"HITLESS_REPOSITORY": url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / ".cache/site"
    assert f'href="{url}"' in (site / "index.html").read_text("utf-8")
    built = {str(path.parent.relative_to(site)) for path in site.rglob("index.html")}
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md")}
    assert {"." if page == "index" else page.removesuffix("/index") for page in pages} == built
