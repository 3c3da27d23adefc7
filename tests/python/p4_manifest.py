"""The P4 programs of p4/, their source files, and the manifest of the compiled ones."""

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "p4"
MANIFEST = FOLDER / "manifest.json"

OPTIONS = ["--emit-externs", "--Wdisable=unused"]
"""Options for compiling them with `p4c-bm2-ss`."""

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def programs() -> dict[str, Path]:
    """Return each program's source by name; the source is named after its folder."""
    return {path.parent.name: path for path in sorted(FOLDER.glob("*/*.p4")) if path.stem == path.parent.name}


def sources(path: Path) -> list[Path]:
    """Return a source and all of our files that it includes, sorted."""
    found: set[Path] = set()
    waiting = [path.resolve()]
    while waiting:
        source = waiting.pop()
        if source not in found:
            found.add(source)
            waiting += [(source.parent / name).resolve() for name in _INCLUDE.findall(source.read_text())]
    return sorted(found)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
