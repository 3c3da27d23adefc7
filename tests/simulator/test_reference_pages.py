"""The pages of commands and of public names, and the man page, match the output of scripts/reference."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAN = ROOT / "packaging/wheel.data/data/share/man/man1/hitless.1"


def test_the_pages_of_commands_and_of_names_are_current():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/reference", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_public_name_and_every_command_has_its_place():
    import hitless

    api = (ROOT / "docs/reference/api.md").read_text("utf-8")
    assert [name for name in hitless.PUBLIC if f"\n## {name}\n" not in api] == []
    commands = (ROOT / "docs/reference/cli.md").read_text("utf-8")
    for name in ("run", "sweep", "reproduce", "lab up", "fleet compare", "bench sweep"):
        assert f"\n## hitless {name}\n" in commands


def test_the_man_page_has_every_command_and_the_usual_sections():
    text = MAN.read_text("utf-8")
    sections = re.findall(r"^\.SH (.*)$", text, re.MULTILINE)
    expected = "NAME, SYNOPSIS, DESCRIPTION, OPTIONS, COMMANDS, FILES, ENVIRONMENT, EXIT STATUS"
    assert ", ".join(sections) == expected
    pages = (ROOT / "docs/reference/cli.md").read_text("utf-8")
    commands = re.findall(r"^## hitless (.+)$", pages, re.MULTILINE)
    assert len(commands) > 30
    assert [name.replace("\\-", "-") for name in re.findall(r"^\.SS (.*)$", text, re.MULTILINE)] == commands
    # A line of help that begins with a dot would be an unknown request.
    known = {'.\\"', ".TH", ".SH", ".SS", ".B", ".I", ".RI", ".TP", ".PP", ".RS", ".RE", ".nf", ".fi"}
    assert set(re.findall(r"^['.]\S*", text, re.MULTILINE)) <= known


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is missing")
def test_groff_formats_the_man_page_without_a_warning():
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", MAN], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    assert "hitless scenario example lossy-link --write" in shown
    assert re.search(r"^ +--mechanism\b", shown, re.MULTILINE)


def test_a_wheel_installs_the_man_page():
    import tomllib

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["maturin"]
    # maturin puts DATA/data below the prefix of the environment, where `man` looks for share/man.
    assert MAN.relative_to(ROOT / settings["data"]).as_posix() == "data/share/man/man1/hitless.1"


def test_help_names_only_files_that_an_installed_program_has():
    """A wheel lacks the folder examples; `hitless scenario example NAME --write` writes one."""
    pages = (ROOT / "docs/reference/cli.md").read_text("utf-8")
    commands = re.split(r"^## ", pages, flags=re.MULTILINE)[1:]
    naming = [text.splitlines()[0] for text in commands if "examples/" in text]
    assert [name for name in naming if not name.startswith("hitless lab")] == []
