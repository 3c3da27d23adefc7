"""The pictures of docs/explanation match scripts/explanation-pictures, and each is in its page."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "explanation-pictures"
FOLDER = ROOT / "docs" / "explanation" / "pictures"
NAMES = ["afq", "deflection", "linkguardian", "rimm", "sqr"]
SVG = "{http://www.w3.org/2000/svg}"


def script(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


def test_the_pictures_are_what_the_script_writes():
    done = script("--check")
    assert done.returncode == 0, done.stderr
    assert sorted(path.stem for path in FOLDER.iterdir()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_stands_in_its_page_with_words(name):
    alt = re.findall(rf"!\[([^\]]*)\]\(pictures/{name}\.svg\)", (FOLDER.parent / f"{name}.md").read_text("utf-8"))
    assert len(alt) == 1
    assert len(alt[0].split()) > 10


@pytest.mark.parametrize("name", NAMES)
def test_all_that_moves_has_its_keyframes_and_may_be_stopped(name):
    root = ET.parse(FOLDER / f"{name}.svg").getroot()  # noqa: S314 - our own file
    style = root.findtext(f"{SVG}style")
    moving = [group.get("id") for group in root.iter(f"{SVG}g") if group.get("class") == "moves"]
    assert moving == re.findall(r"@keyframes (\w+)", style)
    assert "prefers-reduced-motion: reduce" in style
    assert "prefers-color-scheme: dark" in style


@pytest.mark.parametrize("second", ["0", "3.5", "9.99"])
def test_a_picture_may_be_frozen(tmp_path, second):
    assert script("--at", second, tmp_path).returncode == 0
    frozen = {path.stem: path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert sorted(frozen) == NAMES
    assert all("@keyframes" not in text for text in frozen.values())


def test_no_picture_shows_a_thing_outside_of_it():
    """Neither at a waypoint, nor between two."""
    for path in FOLDER.iterdir():
        root = ET.parse(path).getroot()  # noqa: S314 - our own file
        _, _, width, height = (float(number) for number in root.get("viewBox").split())
        points = re.findall(r"translate\(([-\d.]+)px, ([-\d.]+)px\); opacity: 1;", root.findtext(f"{SVG}style"))
        assert len(points) > 30
        assert [(x, y) for x, y in points if not (0 <= float(x) <= width and 0 <= float(y) <= height)] == [], path
