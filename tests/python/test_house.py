"""ARCHITECTURE.md and CONTRIBUTING.md name what is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["ARCHITECTURE.md", "CONTRIBUTING.md"]
PLACE = re.compile(r"(?<![\w./])(?:crates|data|docs|examples|fuzz|packaging|python|scripts|tests)/[\w./-]*\w")


def places(text):
    return set(PLACE.findall(text))


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page):
    named = places((ROOT / page).read_text())
    assert len(named) >= 5, "the pattern finds nothing"
    assert sorted(place for place in named if not (ROOT / place).exists()) == []


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
