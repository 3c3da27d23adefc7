"""The cells of notebook tutorials: each runs, in order, and shows the same output as the page."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from notebook_pages import NOTEBOOKS, PAGES, SHIPPED, SHIPPED_TO, TUTORIALS, Notebook, notebook_of

IS_RECORDING = "HITLESS_RECORD" in os.environ


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """Open a page in a temporary folder, as a terminal of 100 columns would show it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "100")
    with pl.Config(tbl_rows=20, tbl_width_chars=100, tbl_cols=12):
        yield Notebook


def _record(notebook, rendered):
    notebook.page.write_text(rendered, "utf-8")
    notebook.text = rendered
    for name, picture in notebook.pictures.items():
        (TUTORIALS / "pictures" / name).write_text(picture, "utf-8")


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "notebook-live"], ids=lambda page: page.stem)
def test_every_cell_runs_and_shows_what_the_page_shows(page, notebook):
    if page.stem == "gym":
        pytest.importorskip("gymnasium", reason="Gymnasium is not installed")
    opened = notebook(page)
    rendered = opened.run()
    if IS_RECORDING:
        _record(opened, rendered)
    assert opened.shown >= 3
    assert rendered == opened.text
    for name, picture in opened.pictures.items():
        assert (TUTORIALS / "pictures" / name).read_text("utf-8") == picture, name


def test_live_and_simulated_agree_about_what_is_retransmitted(notebook):
    """Its numbers depend on the machine and the moment, so they differ from the page."""
    if os.geteuid() != 0:
        pytest.skip("labs need root")
    for program in ("ip", "iperf3"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is missing")
    opened = notebook(TUTORIALS / "notebook-live.md")
    try:
        rendered = opened.run()
    finally:  # the page's last command, in case it was not reached
        subprocess.run(["hitless", "lab", "down", "--name", "notebook"], check=False, capture_output=True)
    if IS_RECORDING:
        _record(opened, rendered)
    bare, protected = (opened._known["share_retransmitted"](name) for name in ("bare.json", "protected.json"))
    assert 2e-4 < bare < 5e-3
    assert protected < bare / 5


def test_there_are_five_notebooks_and_no_picture_of_none():
    assert len(NOTEBOOKS) == 5
    told = "".join(page.read_text("utf-8") for page in NOTEBOOKS)
    unused = [path.name for path in (TUTORIALS / "pictures").iterdir() if f"(pictures/{path.name})" not in told]
    assert unused == []


@pytest.mark.parametrize("page", SHIPPED, ids=lambda page: page.stem)
def test_a_shipped_notebook_is_its_page_and_runs(page, notebook):
    path = SHIPPED_TO / SHIPPED[page]
    made = notebook_of(page.read_text("utf-8"))
    if IS_RECORDING:
        path.write_text(made, "utf-8")
    assert path.read_text("utf-8") == made, "HITLESS_RECORD=1 pytest tests/simulator/test_tutorials.py writes it"
    known = {"__name__": "notebook"}
    for cell in json.loads(made)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            exec(compile(source, str(path), "exec"), known)  # noqa: S102 - our own pages
        for link in re.findall(r"\]\(([^)#:]+)[^)]*\)", source if cell["cell_type"] == "markdown" else ""):
            assert (SHIPPED_TO / link).is_file(), link
