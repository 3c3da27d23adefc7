"""Tables of results in README.md and docs are rendered from docs/results.json."""

from pathlib import Path

import pytest

from hitless_papers.registry import PAPERS
from hitless_papers.summary.pages import render

ROOT = Path(__file__).parents[2]
PAGES = render(ROOT)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.path.relative_to(ROOT)))
def test_the_tables_of_a_page_are_rendered_from_the_summary(page):
    assert page.is_current, f"hitless results render --root {ROOT}"


def test_the_pages_that_show_results_are_among_them():
    shown = {page.path.relative_to(ROOT).as_posix() for page in PAGES}
    papers = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/evidence/results").glob("*.md")}
    assert {"README.md", "docs/evidence/results.md"} | papers <= shown


def test_every_paper_has_a_page_with_all_its_rows():
    pages = "".join(page.found for page in PAGES)
    assert [paper.name for paper in PAPERS if f"<!-- results: rows {paper.name} -->" not in pages] == []
