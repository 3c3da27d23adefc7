"""Writes a new crate."""

import shutil
from pathlib import Path

from hitless.errors import BadInput
from hitless.extend import sources

TEMPLATE = Path(__file__).parent / "template"
"""Template crate, with the names early-drop, early_drop, EarlyDrop and Early Drop."""


def create(name: str, folder: Path) -> Path:
    """Write the crate ``name`` into a folder, which must not exist yet."""
    if folder.exists():
        raise BadInput("this path already exists", where=str(folder), hint="choose another folder with --path")
    crates = sources.root() / "crates"
    words = {
        "early-drop": name,
        "early_drop": name.replace("-", "_"),
        "EarlyDrop": "".join(word.capitalize() for word in name.split("-")),
        "Early Drop": " ".join(word.capitalize() for word in name.split("-")),
        "/CRATES": str(crates),
    }
    files = [path for path in TEMPLATE.rglob("*") if path.is_file()]
    try:
        for path in files:
            text = path.read_text(encoding="utf-8")
            for word, meant in words.items():
                text = text.replace(word, meant)
            target = folder / path.relative_to(TEMPLATE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    except OSError as failed:
        shutil.rmtree(folder, ignore_errors=True)
        raise BadInput(f"cannot be written: {failed.strerror}", where=str(folder)) from failed
    return folder
