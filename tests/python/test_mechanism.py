"""User mechanisms without a compiler: names, the new crate, and the choice of the native module."""

import json
import os
import tomllib
from pathlib import Path

import pytest

from hitless import _native, native
from hitless.errors import BadInput, HitlessError
from hitless.extend import build as building
from hitless.extend.crates import TEMPLATES, Crate, checked_name, create
from hitless.extend.record import Built, Record
from hitless.extend.sources import root


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(native.VARIABLE, "")
    monkeypatch.delenv(native.VARIABLE)


def built(name="early-drop", library="0123"):
    folder = Path(native.cache()) / "libraries" / library
    folder.mkdir(parents=True)
    (folder / native.LIBRARY).touch()
    Record(library, crates=[Built(name, f"/somewhere/{name}", [name])]).write()
    return folder


@pytest.mark.parametrize("name", ["early-drop", "red", "ecn2-marker"])
def test_a_name_is_of_letters_digits_and_dashes(name):
    assert checked_name("mechanism", name, ["sqr"]) == name


@pytest.mark.parametrize("name", ["Early", "early_drop", "-drop", "drop-", "a--b", "2red", "", "sqr", "hitless-own"])
def test_other_names_are_refused(name):
    with pytest.raises(BadInput):
        checked_name("mechanism", name, ["sqr"])


def test_a_new_crate_has_its_own_names_throughout(tmp_path):
    folder = create(TEMPLATES["mechanism"], "red-marker", tmp_path / "there")
    text = "".join(path.read_text() for path in folder.rglob("*") if path.is_file())
    assert not [word for word in ("early-drop", "early_drop", "EarlyDrop", "Early Drop") if word in text]
    assert "/CRATES" not in text
    assert "pub struct RedMarker " in text
    assert "use red_marker::{RedMarker" in text
    crate = Crate.read(folder, root() / "crates")
    assert (crate.name, crate.identifier) == ("red-marker", "red_marker")
    assert folder / "src/lib.rs" in crate.sources()
    assert tomllib.loads((folder / "scenario.toml").read_text())["mechanism"][0]["kind"] == "red-marker"
    with pytest.raises(BadInput, match="already"):
        create(TEMPLATES["mechanism"], "red-marker", folder)


def test_a_new_transport_has_its_own_names_throughout(tmp_path):
    folder = create(TEMPLATES["transport"], "slow-start", tmp_path / "there")
    text = "".join(path.read_text() for path in folder.rglob("*") if path.is_file())
    assert not [word for word in ("short-queue", "short_queue", "ShortQueue", "Short Queue") if word in text]
    assert "/CRATES" not in text
    assert "use slow_start::{SlowStart" in text
    assert Crate.read(folder, root() / "crates").identifier == "slow_start"
    transport = tomllib.loads((folder / "scenario.toml").read_text())["transport"][0]
    assert transport["congestion"]["kind"] == "slow-start"


def sources(folder, version):
    """Make the smallest folder of sources."""
    (folder / "crates/python").mkdir(parents=True)
    (folder / "crates/python/Cargo.toml").touch()
    (folder / "Cargo.toml").write_text(f'[workspace.package]\nversion = "{version}"\n')
    return folder


def test_sources_elsewhere_serve_an_installation_without_a_checkout(tmp_path, monkeypatch):
    elsewhere = sources(tmp_path / "hitless-source", _native.version())
    monkeypatch.setenv("HITLESS_SOURCES", str(elsewhere))
    assert root() == elsewhere
    folder = create(TEMPLATES["mechanism"], "red-marker", tmp_path / "crate")
    paths = tomllib.loads((folder / "Cargo.toml").read_text())["dependencies"]
    assert {Path(one["path"]).parent for one in paths.values() if "path" in one} == {elsewhere / "crates"}
    assert Crate.read(folder, root() / "crates").name == "red-marker"


def test_sources_of_another_version_or_of_something_else_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HITLESS_SOURCES", str(sources(tmp_path / "old", "0.0.1")))
    with pytest.raises(BadInput, match="has the sources of hitless 0"):
        root()
    monkeypatch.setenv("HITLESS_SOURCES", str(tmp_path))
    with pytest.raises(BadInput, match="has no crates/python"):
        root()


def test_a_wheel_without_sources_says_where_to_get_them(tmp_path, monkeypatch):
    monkeypatch.delenv("HITLESS_SOURCES", raising=False)
    installed = tmp_path / "site-packages/hitless/extend/sources.py"
    monkeypatch.setattr("hitless.extend.sources.__file__", str(installed))
    with pytest.raises(HitlessError) as refused:
        root()
    assert f"hitless-{_native.version()}.tar.gz" in refused.value.hint
    assert "HITLESS_SOURCES" in refused.value.hint


def test_the_example_is_a_crate_like_a_new_one(tmp_path):
    example = root() / "examples/mechanisms/every-nth-crate"
    folder = create(TEMPLATES["mechanism"], "every-nth-crate", tmp_path / "crate")
    names = [sorted(str(path.relative_to(base)) for path in base.rglob("*.*")) for base in (folder, example)]
    assert {name for name in names[1] if not name.startswith(("target", "Cargo.lock"))} == set(names[0])
    assert Crate.read(example, root() / "crates").identifier == "every_nth_crate"


def test_a_crate_of_another_checkout_is_refused(tmp_path):
    folder = create(TEMPLATES["mechanism"], "red-marker", tmp_path / "there")
    manifest = folder / "Cargo.toml"
    manifest.write_text(manifest.read_text().replace(str(root()), "/another"))
    with pytest.raises(BadInput, match="belongs to another hitless"):
        Crate.read(folder, root() / "crates")
    manifest.write_text("[package\n")
    with pytest.raises(BadInput, match="not TOML"):
        Crate.read(folder, root() / "crates")
    with pytest.raises(BadInput, match="no crate"):
        Crate.read(tmp_path, root() / "crates")


def test_without_cargo_the_message_says_where_to_get_it(tmp_path, monkeypatch):
    folder = create(TEMPLATES["mechanism"], "red-marker", tmp_path / "there")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HitlessError, match="cargo is missing"):
        building.build([folder], print, quick=True)
    with pytest.raises(BadInput, match="which crate"):
        building.build([], print, quick=True)


def test_the_packaged_module_is_loaded_where_nothing_was_built():
    assert native.folder() is None
    assert not native.stale()


def test_what_was_built_for_this_package_is_loaded_here_and_in_processes_that_this_one_starts():
    folder = built()
    assert native.folder() == str(folder)
    assert os.environ[native.VARIABLE] == str(folder)
    assert not native.stale()


def test_what_was_built_for_another_package_is_left_out():
    built()
    record = Path(native.cache()) / native.RECORD
    content = json.loads(record.read_text())
    record.write_text(json.dumps(content | {"fits": [1, 2]}))
    assert native.folder() is None
    assert native.stale()
    record.write_text("{")
    assert native.folder() is None
    assert Record.read() == Record()


def test_the_variable_decides(monkeypatch):
    folder = built()
    monkeypatch.setenv(native.VARIABLE, "none")
    assert native.folder() is None
    monkeypatch.setenv(native.VARIABLE, str(folder))
    assert native.folder() == str(folder)
    monkeypatch.setenv(native.VARIABLE, str(folder / "gone"))
    with pytest.raises(ImportError, match="mechanism build"):
        native.folder()


def test_the_last_mechanism_that_is_removed_takes_the_module_with_it():
    built()
    with pytest.raises(BadInput, match="no mechanism 'other' of yours"):
        building.remove("other", print)
    assert building.remove("early-drop", print).crates == []
    assert native.folder() is None
