"""Writes a new crate."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from hitless.errors import BadInput
from hitless.extend import sources

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Template:
    """A crate to copy under another name."""

    folder: Path
    name: str
    """Its own name, such as early-drop; it also contains early_drop, EarlyDrop and Early Drop."""


MECHANISM = Template(_FOLDER / "template", "early-drop")
TRANSPORT = Template(_FOLDER / "transport_template", "short-queue")


def create(template: Template, name: str, folder: Path) -> Path:
    """Write the crate ``name`` into a folder, which must not exist yet."""
    if folder.exists():
        raise BadInput("this path already exists", where=str(folder), hint="choose another folder with --path")
    crates = sources.root() / "crates"
    words = dict(zip(_spellings(template.name), _spellings(name), strict=True)) | {"/CRATES": str(crates)}
    files = [path for path in template.folder.rglob("*") if path.is_file()]
    try:
        for path in files:
            text = path.read_text(encoding="utf-8")
            for word, meant in words.items():
                text = text.replace(word, meant)
            target = folder / path.relative_to(template.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    except OSError as failed:
        shutil.rmtree(folder, ignore_errors=True)
        raise BadInput(f"cannot be written: {failed.strerror}", where=str(folder)) from failed
    return folder


def _spellings(name: str) -> tuple[str, str, str, str]:
    """Return a name as written in scenarios, modules, types and texts."""
    words = [word.capitalize() for word in name.split("-")]
    return name, name.replace("-", "_"), "".join(words), " ".join(words)
