"""The workspace for crates of mechanisms: a copy of the simulator's workspace that includes them.

Cargo identifies crates of a workspace by their path relative to its root, wherever the root is. This workspace
therefore reuses everything that `cargo test` compiled in the simulator's own one.
"""

import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w

from hitless.errors import BadInput
from hitless.extend import sources
from hitless.extend.crates import Crate

LIBRARY = "hitless_own_module"
"""Name of the compiled module."""

_MODULE = """//! The Python module `hitless._native` with mechanisms from out of the tree.

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {{
    hitless_python::fill(module, &[{crates}])
}}
"""
_CRATES = "crates"
_OWN = "own"


def write(folder: Path, crates: Sequence[Crate], profiles: Mapping[str, Any]) -> None:
    """Write the workspace into a folder: a module with everything from the simulator, and these crates."""
    folder.mkdir(parents=True, exist_ok=True)
    _link(folder / _CRATES, sources.root() / "crates")
    shutil.rmtree(folder / _OWN, ignore_errors=True)
    own = {crate.name: {"path": str(_stand_in(folder, crate.path))} for crate in crates}
    shared = sources.workspace()["workspace"]
    simulator = {"workspace": True, "features": ["live"]}
    manifest = {
        "package": {"name": "hitless-own-module", "version": "0.0.0", "edition": "2024", "publish": False},
        "lib": {"name": LIBRARY, "path": "lib.rs", "crate-type": ["cdylib"]},
        "dependencies": {"hitless-python": simulator, "pyo3": {"workspace": True}, **own},
        "profile": dict(profiles),
        "workspace": shared | {"members": [member for member in shared["members"] if member.startswith(_CRATES)]},
    }
    entries = ", ".join(f'("{crate.name}", {crate.identifier}::register)' for crate in crates)
    (folder / "Cargo.toml").write_text(tomli_w.dumps(manifest), encoding="utf-8")
    (folder / "lib.rs").write_text(_MODULE.format(crates=entries), encoding="utf-8")
    lock = sources.root() / "Cargo.lock"
    ours = folder / "Cargo.lock"
    if not ours.exists() or ours.stat().st_mtime_ns < lock.stat().st_mtime_ns:
        # Use the versions that the simulator is tested with; cargo adds further dependencies of the mechanisms.
        shutil.copyfile(lock, ours)


def _link(link: Path, to: Path) -> None:
    if link.is_symlink() and link.readlink() != to:
        link.unlink()
    if not link.is_symlink():
        link.symlink_to(to)


def _stand_in(folder: Path, crate: Path) -> Path:
    """Write a member that stands in for an outside crate: its sources, with the simulator's crates of this workspace.

    The user's other crates that it uses are replaced likewise.
    """
    content = tomllib.loads((crate / "Cargo.toml").read_text(encoding="utf-8"))
    if place := next(_inherited(content), None):
        raise BadInput(
            f"{place} is inherited from a workspace",
            where=str(crate / "Cargo.toml"),
            rule="a crate of mechanisms must be self-contained: it is compiled in the simulator's workspace",
            hint="write the value out, as hitless mechanism new does",
        )
    package = content["package"]
    stand_in = folder / _OWN / str(package["name"])
    if stand_in.exists():
        return stand_in
    stand_in.mkdir(parents=True)
    content["lib"] = content.get("lib", {}) | {"path": str(crate / content.get("lib", {}).get("path", "src/lib.rs"))}
    script = package.get("build", (crate / "build.rs").is_file())
    package["build"] = str(crate / ("build.rs" if script is True else script)) if script else False
    package.pop("workspace", None)
    for name in ("workspace", "profile", "dev-dependencies", "bin", "test", "bench", "example"):
        content.pop(name, None)
    package |= {"autobins": False, "autotests": False, "autobenches": False, "autoexamples": False}
    for table in _tables_of_dependencies(content):
        for name, wanted in table.items():
            if isinstance(wanted, dict) and "path" in wanted:
                found = (crate / wanted["path"]).resolve()
                is_simulator = found.parent == (sources.root() / "crates").resolve()
                own = folder / _CRATES / found.name if is_simulator else _stand_in(folder, found)
                table[name] = wanted | {"path": str(own)}
    (stand_in / "Cargo.toml").write_text(tomli_w.dumps(content), encoding="utf-8")
    return stand_in


def _tables_of_dependencies(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for part in (content, *content.get("target", {}).values()):
        yield from (part[name] for name in ("dependencies", "build-dependencies") if name in part)


def _inherited(content: Any, place: str = "") -> Iterator[str]:
    """Return the keys that inherit their values from a workspace."""
    if isinstance(content, dict):
        if content.get("workspace") is True:
            yield place
        for name, value in content.items():
            yield from _inherited(value, f"{place}.{name}".lstrip("."))
