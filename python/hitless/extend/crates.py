"""A crate of a mechanism: written from a template, its names and its checks."""

import re
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hitless.errors import BadInput
from hitless.extend import sources

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_RULE = "letters of a to z, digits and single dashes, a letter first, such as early-drop"


def checked_name(what: str, name: str, taken: list[str]) -> str:
    """Return the name of a new mechanism or transport, which is also the name of its crate."""
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name!r} is not a valid name for a {what}", rule=_RULE)
    if name in taken:
        raise BadInput(f"there is already a {what} {name!r}", hint=f"hitless {what} list shows all of them")
    if name.startswith("hitless"):
        raise BadInput(f"{name!r} is a name of the simulator's crates", rule="it does not begin with hitless")
    return name


@dataclass(frozen=True)
class Crate:
    name: str
    path: Path
    identifier: str
    """Name of the crate in Rust."""

    @classmethod
    def read(cls, path: Path, crates: Path) -> "Crate":
        """Read the crate in a folder; ``crates`` is the folder of the simulator's own."""
        manifest = path.resolve() / "Cargo.toml"
        try:
            content = tomllib.loads(manifest.read_text(encoding="utf-8"))
        except OSError as missing:
            hint = "hitless mechanism new NAME writes one"
            raise BadInput("there is no crate", where=str(manifest), hint=hint) from missing
        except tomllib.TOMLDecodeError as broken:
            raise BadInput(f"not TOML: {broken}", where=str(manifest)) from broken
        name = content.get("package", {}).get("name")
        if not isinstance(name, str):
            raise BadInput("the crate has no name", where=str(manifest), rule="[package] has a name")
        _check_simulator(content, manifest, crates)
        identifier = content.get("lib", {}).get("name", name.replace("-", "_"))
        return cls(name, manifest.parent, identifier)

    def sources(self) -> list[Path]:
        """Return all source files of the crate, and of the user's crates that it depends on."""
        folders = _folders(self.path, set())
        files = [file for folder in folders for file in (folder / "src").rglob("*")]
        files += [folder / name for folder in folders for name in ("Cargo.toml", "build.rs")]
        return sorted(file for file in files if file.is_file())


def _folders(path: Path, known: set[Path]) -> set[Path]:
    """Return the folders of a crate and of its path dependencies, except the simulator's."""
    manifest = path / "Cargo.toml"
    if path in known or not manifest.is_file():
        return known
    known.add(path)
    for name, wanted in tomllib.loads(manifest.read_text(encoding="utf-8")).get("dependencies", {}).items():
        if isinstance(wanted, dict) and "path" in wanted and not name.startswith("hitless-"):
            _folders((path / wanted["path"]).resolve(), known)
    return known


def _check_simulator(content: dict[str, Any], manifest: Path, crates: Path) -> None:
    """Require that it depends on this simulator: types of another checkout would differ."""
    tables = [content.get("dependencies", {}), content.get("dev-dependencies", {})]
    for table in tables:
        for name, wanted in table.items():
            if not name.startswith("hitless-"):
                continue
            path = wanted.get("path") if isinstance(wanted, dict) else None
            ours = crates / name.removeprefix("hitless-")
            if path is None or (manifest.parent / path).resolve() != ours.resolve():
                raise BadInput(
                    f"{name} belongs to another hitless",
                    where=str(manifest),
                    rule="all crates of a program must come from one checkout",
                    hint=f'{name} = {{ path = "{ours}" }}',
                )


@dataclass(frozen=True)
class Template:
    """A crate to copy under another name."""

    folder: Path
    name: str
    """Its own name, such as early-drop; it also contains early_drop, EarlyDrop and Early Drop."""


TEMPLATES = {
    "mechanism": Template(Path(__file__).with_name("template"), "early-drop"),
    "transport": Template(Path(__file__).with_name("transport_template"), "short-queue"),
}


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
