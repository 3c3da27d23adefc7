"""The simulator's own crates: their location and identity."""

import hashlib
import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hitless import _native
from hitless.errors import BadInput, HitlessError

VARIABLE = "HITLESS_SOURCES"
"""Environment variable with the folder of the sources, for installations without a checkout."""
_PART = Path("crates", "python", "Cargo.toml")
"""File that identifies the folder."""


def root() -> Path:
    """Return the folder of the simulator's sources: of `HITLESS_SOURCES`, or the checkout that this program runs from.

    A wheel does not contain them; the source distribution and a checkout do.
    """
    version = _native.version()
    if chosen := os.environ.get(VARIABLE):
        _check(Path(chosen).resolve(), version)
        return Path(chosen).resolve()
    package = Path(__file__).resolve().parents[1]
    found = package.parents[1]
    if not (found / _PART).is_file():
        raise HitlessError(
            "the simulator's sources are missing, but mechanisms are compiled with them",
            where=str(package),
            rule=f"a wheel does not contain them: {VARIABLE} names a folder that does",
            hint=f"unpack the source distribution hitless-{version}.tar.gz, and set {VARIABLE} to its folder",
        )
    return found


def _check(folder: Path, version: str) -> None:
    """Require the sources of this version: the Python package calls functions of the module that they make."""
    if not (folder / _PART).is_file():
        raise BadInput(
            f"{folder} has no {_PART}",
            where=VARIABLE,
            rule="it names the folder of an unpacked source distribution, or a checkout",
        )
    manifest = tomllib.loads((folder / "Cargo.toml").read_text(encoding="utf-8"))
    found = manifest["workspace"]["package"]["version"]
    if found != version:
        raise BadInput(
            f"{folder} has the sources of hitless {found}",
            where=VARIABLE,
            rule=f"they have the version of this program, {version}",
            hint=f"unpack hitless-{version}.tar.gz, or check out its tag",
        )


def workspace() -> dict[str, Any]:
    """Return the workspace settings in Cargo.toml."""
    return tomllib.loads((root() / "Cargo.toml").read_text(encoding="utf-8"))


def files() -> list[Path]:
    """Return all source files of the packaged module: data and examples are compiled in."""
    base = root()
    found = [base / "Cargo.toml", base / "Cargo.lock", *base.glob("crates/**/Cargo.toml")]
    for pattern in ("crates/**/src/**/*", "data/**/*", "examples/*.toml"):
        found += [path for path in base.glob(pattern) if path.is_file()]
    return sorted(found)


def digest(paths: Iterable[Path], *words: str) -> str:
    total = hashlib.sha256("\0".join(words).encode())
    for path in paths:
        content = path.read_bytes()
        total.update(f"{path}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()[:20]
