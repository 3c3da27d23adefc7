"""The simulator's own crates: where they are, and what tells them from others."""

import hashlib
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hitless.errors import HitlessError


def root() -> Path:
    """The checkout that this program runs from."""
    package = Path(__file__).resolve().parents[1]
    found = package.parents[1]
    if not (found / "crates" / "python" / "Cargo.toml").is_file():
        raise HitlessError(
            "the simulator's crates are not here, and a mechanism is compiled with them",
            where=str(package),
            rule="hitless runs from a checkout of its repository",
            hint="clone it, and call its ./hitless instead",
        )
    return found


def workspace() -> dict[str, Any]:
    """What Cargo.toml says of all crates together."""
    return tomllib.loads((root() / "Cargo.toml").read_text(encoding="utf-8"))


def files() -> list[Path]:
    """All that goes into the packaged module: data and examples are compiled in."""
    base = root()
    found = [base / "Cargo.toml", base / "Cargo.lock", *base.glob("crates/**/Cargo.toml")]
    for pattern in ("crates/**/src/**/*", "data/**/*", "examples/*.toml"):
        found += [path for path in base.glob(pattern) if path.is_file()]
    return sorted(found)


def digest(paths: Iterable[Path], *words: str) -> str:
    """What tells this content from another."""
    total = hashlib.sha256("\0".join(words).encode())
    for path in paths:
        content = path.read_bytes()
        total.update(f"{path}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()[:20]
