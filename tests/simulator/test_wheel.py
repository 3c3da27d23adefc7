"""The build backend puts the types of scenarios into what pip installs; scripts/check-wheel tries real wheels."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BACKEND = ["wheel_backend.py", "scenario-types"]
MATURIN = f"""
import shutil, zipfile
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "python" / "hitless"
LIBRARY = {str(ROOT / "python/hitless/_native.abi3.so")!r}

def build_wheel(wheel_directory, config_settings, metadata_directory):
    with zipfile.ZipFile(Path(wheel_directory, "hitless.whl"), "w") as wheel:
        wheel.write(LIBRARY, "hitless/_native.abi3.so")
        for path in PACKAGE.glob("*.py"):
            wheel.write(path, "hitless/" + path.name)
    return "hitless.whl"

def build_editable(wheel_directory, config_settings, metadata_directory):
    shutil.copy(LIBRARY, PACKAGE)
    return "hitless.whl"

build_sdist = get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel = None
prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel = None
"""


@pytest.fixture
def checkout(tmp_path):
    """Make a new clone, with a maturin that has compiled the simulator already."""
    for folder in ("python/hitless", "scripts", "fake"):
        (tmp_path / folder).mkdir(parents=True)
    for name in BACKEND:
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    (tmp_path / "fake/maturin.py").write_text(MATURIN)
    return tmp_path


def build(checkout, hook):
    code = f"import wheel_backend; print(wheel_backend.{hook}('.'))"
    environment = {"PYTHONPATH": f"{checkout}/fake:{checkout}/scripts"}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return checkout / done.stdout.strip()


def types():
    return subprocess.run([sys.executable, ROOT / "scripts/scenario-types"], capture_output=True, check=True).stdout


def test_a_wheel_of_a_new_clone_has_the_types(checkout):
    with zipfile.ZipFile(build(checkout, "build_wheel")) as wheel:
        assert wheel.read("hitless/types.py") == types()


def test_a_clone_that_is_installed_in_place_gets_the_types(checkout):
    build(checkout, "build_editable")
    assert (checkout / "python/hitless/types.py").read_bytes() == types()


def test_a_source_distribution_has_its_backend_and_a_wheel_has_the_ignored_file():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert settings["build-system"]["build-backend"] == "wheel_backend"
    included = {(entry["path"], entry["format"]) for entry in settings["tool"]["maturin"]["include"]}
    # The man page; without it maturin could not build a wheel from the source distribution.
    assert (f"{settings['tool']['maturin']['data']}/**/*", "sdist") in included
    assert included >= {(f"scripts/{name}", "sdist") for name in BACKEND} | {("python/hitless/types.py", "wheel")}
