"""The simulator's own crates: their location and identity."""

import hashlib
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hitless.errors import HitlessError


def root() -> Path:
    """Return the checkout that this program runs from."""
    package = Path(__file__).resolve().parents[1]
    found = package.parents[1]
    if not (found / "crates" / "python" / "Cargo.toml").is_file():
        raise HitlessError(
            "the simulator's crates are not here, but mechanisms are compiled with them",
            where=str(package),
            rule="hitless runs from a checkout of its repository",
            hint="clone it, and call its ./hitless instead",
        )
    return found


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
    """Return the digest of these files."""
    total = hashlib.sha256("\0".join(words).encode())
    for path in paths:
        content = path.read_bytes()
        total.update(f"{path}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()[:20]
