"""Decisions made by the setup."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _bash(script, **options):
    command = ["bash", "-c", f"set -euo pipefail; source {ROOT}/scripts/setup.sh; {script}"]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize(
    ("have", "want", "enough"),
    [("1.95.0", "1.88", True), ("1.88.0", "1.88", True), ("1.9.0", "1.88", False), ("1.63.0", "1.88", False)],
)
def test_versions_are_compared_as_numbers(have, want, enough):
    assert (_bash(f"version_at_least {have} {want}").returncode == 0) is enough


@pytest.mark.parametrize(
    ("check", "tool"), [("check_python", "python3"), ("check_cargo", "cargo"), ("check_linker", "cc")]
)
def test_a_missing_tool_is_named_with_a_way_to_get_it(tmp_path, check, tool):
    for name in ("sed", "head"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    done = _bash(f"PATH={tmp_path}; {check}")
    assert done.returncode == 1
    assert f"{tool}" in done.stderr.splitlines()[0]
    assert "apt-get install" in done.stderr


@pytest.mark.parametrize(("profile", "is_current"), [("dev", True), ("release", False)])
def test_a_module_that_was_compiled_otherwise_is_compiled_again(tmp_path, profile, is_current):
    for folder in ("crates", "data", "examples", "python/hitless", "stamps"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("Cargo.toml", "Cargo.lock", "pyproject.toml", "examples/a.toml", "python/hitless/_native.abi3.so"):
        (tmp_path / file).touch()
    script = f"root={tmp_path}; stamps={tmp_path}/stamps; echo dev >$stamps/native; native_is_current"
    assert (_bash(script, env=os.environ | {"HITLESS_PROFILE": profile}).returncode == 0) is is_current


@pytest.mark.parametrize(
    ("oldest_first", "writes"),
    [
        (("script", "native", "types"), False),
        (("types", "native", "script"), True),
        (("script", "types", "native"), True),
        (("native", "types", "script"), True),
        (("native", "script"), True),
    ],
)
def test_the_types_are_written_after_a_build_and_after_a_change_of_their_script(tmp_path, oldest_first, writes):
    files = {
        "script": tmp_path / "scripts/scenario-types",
        "native": tmp_path / "stamps/native",
        "types": tmp_path / "python/hitless/types.py",
    }
    for number, name in enumerate(oldest_first):
        files[name].parent.mkdir(parents=True, exist_ok=True)
        files[name].touch()
        os.utime(files[name], (number, number))
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/bin/echo")
    done = _bash(f"root={tmp_path}; stamps={tmp_path}/stamps; venv={tmp_path}/venv; write_types")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (f"{files['script']} --write\n" if writes else "")
