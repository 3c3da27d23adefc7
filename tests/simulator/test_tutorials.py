"""The cells of tutorials in docs/tutorials that are notebooks: each runs, in its order."""

import re
from pathlib import Path

import pytest

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
NOTEBOOKS = [path for path in sorted(TUTORIALS.glob("*.md")) if "import hitless as hl" in path.read_text("utf-8")]


def _value_of(cell, known):
    """Run a cell; what its last line is worth, as a notebook shows it, or None."""
    *head, last = re.split(r"\n(?=\S)", cell.strip())
    exec("\n".join(head), known)  # noqa: S102 - our own pages
    try:
        return eval(last, known)  # noqa: S307 - the same
    except SyntaxError:
        return exec(last, known)  # noqa: S102 - the same


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs_and_shows_something_of_a_size_to_look_at(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known, shown = {}, 0
    for cell in re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE):
        value = _value_of(cell, known)
        picture = getattr(value, "_repr_svg_", None) or getattr(value, "_repr_html_", None)
        if picture is not None:
            assert 50 < len(picture()) < 100_000
            shown += 1
    assert shown >= 3


def test_there_is_a_notebook():
    assert NOTEBOOKS
