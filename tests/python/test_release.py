"""A release: its metadata, a README that works outside of the checkout, and the workflow that publishes it."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
URL = "https://example.org/owner/hitless"
WORKFLOW = (ROOT / ".github/workflows/wheels.yml").read_text("utf-8")


@pytest.fixture
def checkout(tmp_path):
    for name in ("Cargo.toml", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def release(folder, ref):
    command = [sys.executable, ROOT / "scripts/release-metadata", f"{URL}/", ref, folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def version():
    return tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]["version"]


def test_every_link_of_a_released_readme_is_absolute_and_leads_to_a_file(checkout):
    before = (ROOT / "README.md").read_text("utf-8")
    done = release(checkout, f"v{version()}")
    assert done.returncode == 0, done.stderr
    text = (checkout / "README.md").read_text("utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(targets) == len(re.findall(r"\]\(([^)\s]+)\)", before)) > 20
    for target in targets:
        found = re.fullmatch(rf"{URL}/(blob|raw)/v{version()}/([^#]+)(#.*)?", target)
        assert found, target
        assert (ROOT / found[2]).exists(), target
        assert (found[1] == "raw") == found[2].endswith(".svg"), target
    assert re.sub(rf"{URL}/(blob|raw)/v{version()}/", "", text) == before, "nothing but links changes"


def test_a_released_project_has_the_urls_of_its_repository(checkout):
    release(checkout, "main")
    project = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["urls"]["Repository"] == URL
    assert set(project["urls"]) == {"Repository", "Documentation", "Changelog", "Issues"}
    for place in project["urls"].values():
        path = place.removeprefix(f"{URL}/blob/main/")
        assert path == place or (ROOT / path).is_file(), place
    assert release(checkout, "main").returncode == 1, "a second call would write the table twice"


def test_a_tag_of_another_version_is_refused(checkout):
    done = release(checkout, "v99.0.0")
    assert done.returncode == 1
    assert f"Cargo.toml has version {version()}" in done.stderr
    assert (checkout / "README.md").read_text("utf-8") == (ROOT / "README.md").read_text("utf-8")


def test_links_in_code_stay(tmp_path, checkout):
    (checkout / "README.md").write_text("[a](b.md)\n```\n[a](b.md)\n```\n[c](https://d.org) [e](#f)\n")
    release(checkout, "main")
    expected = f"[a]({URL}/blob/main/b.md)\n```\n[a](b.md)\n```\n[c](https://d.org) [e](#f)\n"
    assert (checkout / "README.md").read_text("utf-8") == expected


def test_the_metadata_is_complete():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {"description", "readme", "license", "license-files", "authors", "keywords", "classifiers"} <= set(project)
    assert not [one for one in project["classifiers"] if one.startswith("License ::")], "license has it (PEP 639)"
    lowest = project["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {lowest}" in project["classifiers"]


def jobs():
    text = WORKFLOW.partition("\njobs:\n")[2]
    return dict(re.findall(r"^  ([a-z]+):\n(.*?)(?=^  [a-z]+:\n|\Z)", text, re.MULTILINE | re.DOTALL))


def test_the_workflow_publishes_by_trusted_publishing_only_from_a_tag():
    found = jobs()
    assert "refs/tags/v" in found["publish"]
    assert "id-token: write" in found["publish"]
    assert "name: pypi" in found["publish"]
    assert "pypa/gh-action-pypi-publish@release/v1" in found["publish"]
    assert "needs: publish" in found["release"]
    assert "secrets." not in WORKFLOW
    for name in ("linux", "macos", "source"):
        assert "scripts/release-metadata" in found[name], name
        assert "name: dist-" in found[name], name
        assert re.search(rf"needs: \[.*\b{name}\b.*\]", found["publish"]), name


def test_the_workflow_builds_both_packages():
    assert "--deb" in jobs()["packages"]
    assert "packaging/container/Containerfile" in jobs()["packages"]
