"""The names in ARCHITECTURE.md and CONTRIBUTING.md exist, and imports of the packages never point up."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

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
    """One folder of 100 lines or fewer, and one line in the registry."""
    mechanisms = ROOT / "crates/mechanisms/src"
    [source] = (mechanisms / "every_nth").iterdir()
    assert len(source.read_text().splitlines()) <= 100
    naming = [path for path in (ROOT / "crates").rglob("src/**/*.rs") if "EveryNth" in path.read_text()]
    assert sorted(naming) == sorted([mechanisms / "lib.rs", source])


def steps():
    path = (ROOT / PAGES[0]).read_text().split("## The path of a packet")[1].split("\n## ")[0]
    return re.findall(r"^\d+\. (\S+\.rs): (.*?)(?=^\d+\. |\Z)", path, re.MULTILINE | re.DOTALL)


def test_each_step_of_a_packets_path_is_in_the_file_that_it_names():
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
    """Return our crates that a crate uses."""
    dependencies = tomllib.loads(manifest.read_text()).get("dependencies", {})
    return [name.removeprefix("hitless-") for name in dependencies if name.startswith("hitless-")]


def test_the_table_of_crates_says_what_each_uses():
    """The table matches the Cargo.toml files, from the lowest crate up."""
    table = (ROOT / PAGES[0]).read_text().split("## Layers")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([a-z0-9/]+) \|.*\|.*\| ?([a-z0-9, -]*) \|$", table, re.MULTILINE)
    said = {crate: uses.split(", ") if uses else [] for crate, uses in rows if crate != "crate"}
    found = {}
    for room in [*(ROOT / "crates").iterdir(), *(ROOT / "tools").iterdir()]:
        name = room.relative_to(ROOT).as_posix().removeprefix("crates/")
        # The inner crates of a room are parts of it.
        dependencies = {of for manifest in room.rglob("Cargo.toml") for of in used_by(manifest)}
        found[name] = sorted(of for of in dependencies if of.split("-")[0] != name)
    assert said == found
    order = list(said)
    assert all(order.index(used) < order.index(crate) for crate, uses in said.items() for used in uses)


def test_no_import_of_the_packages_points_up():
    done = subprocess.run([ROOT / "scripts" / "layers"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def script(name):
    module = ModuleType(name)
    module.__file__ = str(ROOT / "scripts" / name)
    sys.modules[name] = module
    SourceFileLoader(name, module.__file__).exec_module(module)
    return module


def test_a_room_over_its_budget_is_told():
    budgets = script("budgets")
    rooms = {
        "crates/a": budgets.Room(lines=101, words=2_000, hits=9),
        "crates/b": budgets.Room(lines=100, words=2_000, hits=7),
        "docs/c": budgets.Room(words=500, hits=50),
        "new": budgets.Room(lines=1),
    }
    allowed = {"lines": 100, "prose": 40}
    found = list(budgets.over(rooms, {"crates/a": allowed, "crates/b": allowed}))
    assert [line.split(", and")[0] for line in found] == [
        "crates/a: 101 lines",
        "crates/a: 45 unidiomatic constructions in 10,000 words",
        "scripts/budgets.toml: new is missing, with 1 lines and 0 constructions",
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("/// What is kept, and for whom.\nlet what = 1;", 2),
        ("/// Returns the packets that a queue holds.", 0),
        ("//! A host whose card is full has none of its own.", 3),
    ],
)
def test_unidiomatic_constructions_are_counted_in_comments_only(text, count):
    budgets = script("budgets")
    assert len(budgets.PATTERN.findall(budgets.comments(Path("a.rs"), text))) == count


def test_an_import_that_points_up_is_found(tmp_path):
    layers = script("layers")
    package = tmp_path / "python" / "hitless"
    (package / "runs").mkdir(parents=True)
    (package / "runs" / "pool.py").write_text(
        "def lazy():\n    from hitless.sweeps import plan\n    import hitless_papers\n"
    )
    (package / "attic.py").write_text("")
    found = [line for line in layers.pointing_up(tmp_path / "python") if "there is no room" not in line]
    assert found == [
        "python/hitless/attic.py: attic has no floor in scripts/layers",
        "python/hitless/runs/pool.py:2: runs imports hitless.sweeps, which is not below it",
        "python/hitless/runs/pool.py:3: runs imports hitless_papers, which is not below it",
    ]


def test_nothing_below_the_papers_imports_them():
    """Regardless of the layers: neither by any form of import, nor by name, except as text in the table of commands."""
    naming = {}
    for path in (ROOT / "python" / "hitless").rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        assert not any(name.startswith("hitless_papers") for name in names), path
        texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        naming[path.relative_to(ROOT / "python/hitless").as_posix()] = any("hitless_papers." in text for text in texts)
    assert [path for path, names_them in naming.items() if names_them] == ["cli/main.py"]


def test_the_wheel_has_all_packages():
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]["python-packages"]
    assert sorted(told) == sorted(path.parent.name for path in (ROOT / "python").glob("*/__init__.py"))


def test_every_folder_of_modules_is_a_package():
    folders = {path.parent for path in (ROOT / "python").glob("*/**/*.py") if "template" not in path.parts}
    assert sorted(folder for folder in folders if not (folder / "__init__.py").exists()) == []
