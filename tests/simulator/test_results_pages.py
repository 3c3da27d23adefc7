"""Tables of results in README.md and docs are rendered from docs/results.json."""

from pathlib import Path

import pytest

from hitless_papers.summary.pages import render

ROOT = Path(__file__).parents[2]
PAGES = render(ROOT)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path.name)
def test_the_tables_of_a_page_are_rendered_from_the_summary(page):
    assert page.is_current, f"hitless results render --root {ROOT}"


def test_the_pages_that_show_results_are_among_them():
    assert {"README.md", "results.md"} <= {page.path.name for page in PAGES}
