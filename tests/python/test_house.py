"""ARCHITECTURE.md and CONTRIBUTING.md name what is there."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["ARCHITECTURE.md", "CONTRIBUTING.md"]
PLACE = re.compile(r"(?<![\w./])(?:crates|data|docs|examples|fuzz|packaging|python|scripts|tests|tools)/[\w./-]*\w")


def places(text):
    return set(PLACE.findall(text))


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page):
    named = places((ROOT / page).read_text())
    assert len(named) >= 5, "the pattern finds nothing"
    assert sorted(place for place in named if not (ROOT / place).exists()) == []


def test_the_smallest_mechanism_is_small():
    """One folder of at most 90 lines, and one line elsewhere: that of the registry."""
    mechanisms = ROOT / "crates/mechanisms/src"
    [source] = (mechanisms / "every_nth").iterdir()
    assert len(source.read_text().splitlines()) <= 90
    naming = [path for path in (ROOT / "crates").rglob("src/**/*.rs") if "EveryNth" in path.read_text()]
    assert sorted(naming) == sorted([mechanisms / "lib.rs", source])


def steps():
    way = (ROOT / PAGES[0]).read_text().split("## The way of one packet")[1].split("\n## ")[0]
    return re.findall(r"^\d+\. (\S+\.rs): (.*?)(?=^\d+\. |\Z)", way, re.MULTILINE | re.DOTALL)


def test_each_step_of_a_packets_way_is_in_the_file_that_it_names():
    found = steps()
    assert len(found) > 20
    missing = {
        file: name
        for file, text in found
        for name in re.findall(r"`([a-z_]+)`", text)
        if not re.search(rf"\b{name}\b", (ROOT / file).read_text())
    }
    assert missing == {}


def used_by(manifest):
    """Our crates that a crate uses."""
    dependencies = tomllib.loads(manifest.read_text()).get("dependencies", {})
    return [name.removeprefix("hitless-") for name in dependencies if name.startswith("hitless-")]


def test_the_table_of_crates_says_what_each_uses():
    """The table is that of the Cargo.toml files, from the lowest crate up."""
    table = (ROOT / PAGES[0]).read_text().split("## Layers")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([a-z0-9/]+) \|.*\|.*\| ?([a-z0-9, -]*) \|$", table, re.MULTILINE)
    said = {crate: uses.split(", ") if uses else [] for crate, uses in rows if crate != "crate"}
    found = {}
    for room in [*(ROOT / "crates").iterdir(), *(ROOT / "tools").iterdir()]:
        name = room.relative_to(ROOT).as_posix().removeprefix("crates/")
        # The crates inside of a room are parts of it.
        dependencies = {of for manifest in room.rglob("Cargo.toml") for of in used_by(manifest)}
        found[name] = sorted(of for of in dependencies if of.split("-")[0] != name)
    assert said == found
    order = list(said)
    assert all(order.index(used) < order.index(crate) for crate, uses in said.items() for used in uses)
