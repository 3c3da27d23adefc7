"""The P4 programs of p4/, the files that each is made of, and the manifest of what was compiled."""

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "p4"
MANIFEST = FOLDER / "manifest.json"

OPTIONS = ["--emit-externs", "--Wdisable=unused"]
"""With which `p4c-bm2-ss` compiles them."""

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def programs() -> dict[str, Path]:
    """By name: the source of each program, which has the name of its folder."""
    return {path.parent.name: path for path in sorted(FOLDER.glob("*/*.p4")) if path.stem == path.parent.name}


def sources(path: Path) -> list[Path]:
    """A source and all files of ours that it includes, sorted."""
    found: set[Path] = set()
    waiting = [path.resolve()]
    while waiting:
        source = waiting.pop()
        if source not in found:
            found.add(source)
            waiting += [(source.parent / name).resolve() for name in _INCLUDE.findall(source.read_text())]
    return sorted(found)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
