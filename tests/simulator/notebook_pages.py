"""Tutorials as notebooks: their cells run, and their output is compared with the page, or written into it.

A cell is a block of Python on a page; a line that begins with ``!`` is a command. Its printed output follows as a block
of text, and a picture as a file in docs/tutorials/pictures. To write both again:

    HITLESS_RECORD=1 pytest tests/simulator/test_tutorials.py

Some pages are also notebooks in examples/notebooks: `notebook_of` makes them from the page, without output.
"""

import ast
import contextlib
import io
import json
import posixpath
import re
import subprocess
import tempfile
from pathlib import Path

import polars as pl

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
NOTEBOOKS = [path for path in sorted(TUTORIALS.glob("*.md")) if "import hitless as hl" in path.read_text("utf-8")]
NOTEBOOKS.append(TUTORIALS / "notebook-fleet.md")
SHIPPED = {TUTORIALS / f"{name}.md": f"{name}.ipynb" for name in ("first-notebook", "notebook-sweep")}
"""Pages that are also notebooks, with the names of their files."""
SHIPPED_TO = TUTORIALS.parents[1] / "examples" / "notebooks"
PAGES = [*NOTEBOOKS, TUTORIALS.parent / "how-to" / "gym.md"]

_CELL = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?P<text>\n```text\n.*?^```\n)?(?P<picture>\n!\[[^\]]*\]\(pictures/[^)]*\)\n)?",
    re.DOTALL | re.MULTILINE,
)


def notebook_of(text):
    """Return the page as a notebook of Jupyter, without output."""
    parts = _CELL.split(re.sub(_CELL, lambda cell: f"```python\n{cell['code']}```\n", text))
    words, code = parts[:: _CELL.groups + 1], parts[1 :: _CELL.groups + 1]
    cells = [_cell("markdown", 0, _linked(words[0]))]
    for number, (source, following) in enumerate(zip(code, words[1:], strict=True), start=1):
        cells.append(_cell("code", 2 * number - 1, source))
        if following.strip():
            cells.append(_cell("markdown", 2 * number, _linked(following)))
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": cells, "metadata": {"kernelspec": python}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _cell(kind, number, source):
    made = {
        "cell_type": kind,
        "id": f"cell-{number}",
        "metadata": {},
        "source": source.strip().splitlines(keepends=True),
    }
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def _linked(words):
    """Return Markdown with links from examples/notebooks instead of docs/tutorials."""
    return re.sub(
        r"\]\((?!\w+:)([^)]+)\)", lambda link: f"]({posixpath.normpath('../../docs/tutorials/' + link[1])})", words
    )


class Notebook:
    def __init__(self, page: Path):
        self.page = page
        self.text = page.read_text("utf-8")
        self.pictures = {}
        """Pictures by the names of their files."""
        self.shown = 0
        """Number of cells that end with a picture or with output."""
        self._known = {"__name__": "notebook"}

    def run(self):
        """Run all cells in order; return the page with their output."""
        return _CELL.sub(self._rendered, self.text)

    def _rendered(self, found):
        printed, value = self._run(found["code"])
        self.shown += bool(printed or value is not None)
        draw = getattr(value, "_repr_svg_", None)
        if isinstance(value, pl.DataFrame) or not (value is None or draw or hasattr(value, "_repr_html_")):
            printed += f"{value}"
        block = f"```python\n{found['code']}```\n"
        if printed:
            block += f"\n```text\n{printed.rstrip()}\n```\n"
        if draw is not None:
            name = f"{self.page.stem}-{len(self.pictures) + 1}.svg"
            self.pictures[name] = draw().rstrip() + "\n"
            told = found["picture"]
            block += told if told and f"({Path('pictures', name)})" in told else f"\n![TO WRITE](pictures/{name})\n"
        elif value is not None and hasattr(value, "_repr_html_"):
            assert 50 < len(value._repr_html_()) < 100_000
        return block

    def _run(self, code):
        """Return the printed output of a cell, and the value of its last line for a notebook, or None."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            if code.startswith("!"):
                for command in code.splitlines():
                    told = _output_of(command.removeprefix("!").removeprefix("sudo "))
                    print(told, end="\n" if told else "")
                return printed.getvalue().strip("\n"), None
            parsed = ast.parse(code)
            is_value = isinstance(parsed.body[-1], ast.Expr)
            last = ast.Expression(parsed.body.pop().value) if is_value else None
            exec(compile(parsed, str(self.page), "exec"), self._known)  # noqa: S102 - our own pages
            value = eval(compile(last, str(self.page), "eval"), self._known) if last else None  # noqa: S307 - the same
        return printed.getvalue(), value


def _output_of(command):
    """Return output through a file, since a daemon started by a command inherits it: a pipe would never end."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        shell = ["/bin/sh", "-c", command]
        done = subprocess.run(shell, check=False, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, timeout=300)
        for file in (output, errors):
            file.seek(0)
        assert done.returncode == 0, (command, errors.read())
        return "\n".join(line.rstrip() for line in output)
