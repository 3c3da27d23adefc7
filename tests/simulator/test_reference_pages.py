"""The pages of commands and of public names match the output of scripts/reference."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


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
