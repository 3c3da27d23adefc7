"""Files of `hitless p4`: programs, their entries, and whether a compiled program is older than its source."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hitless.errors import BadInput
from hitless.terminal.console import print_note
from hitless.whole_file import read_text

_File = tuple[str, str]


@dataclass(frozen=True)
class Entries:
    """Sources of a program's entries, each an optional file."""

    commands: Path | None = None
    p4info: Path | None = None
    p4runtime: Path | None = None

    def __post_init__(self) -> None:
        """Require both p4info and request, or neither: p4info explains the numbers in the request.

        Raises:
            BadInput: only one of them is given.
        """
        if self.p4runtime is not None and self.p4info is None:
            hint = "the program's p4info explains its numbers: p4c --p4runtime-files writes it"
            raise BadInput("--p4runtime is given without --p4info", hint=hint)
        if self.p4info is not None and self.p4runtime is None:
            hint = "a p4info has no entries: give a WriteRequest with --p4runtime"
            raise BadInput("--p4info is given without --p4runtime", hint=hint)

    def files(self) -> tuple[_File, tuple[_File, _File] | None]:
        """Return name and text of the commands, both empty without them; then of p4info and of the request."""
        commands = ("", "") if self.commands is None else _named(self.commands)
        if self.p4info is None or self.p4runtime is None:
            return commands, None
        return commands, (_named(self.p4info), _named(self.p4runtime))

    def settings(self) -> dict[str, str]:
        """Return the same files as settings of a mechanism in a scenario, with absolute paths."""
        files = {"commands": self.commands, "p4info": self.p4info, "p4runtime": self.p4runtime}
        return {name: str(path.resolve()) for name, path in files.items() if path is not None}


@contextmanager
def refusals(program: Path) -> Iterator[None]:
    """Convert an error of the interpreter about a program, or its input, into an error for people."""
    try:
        yield
    except ValueError as refused:
        raise BadInput(str(refused), where=str(program)) from None


def packet_bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise BadInput("the packet is not in hexadecimal digits", where=text[:80]) from None


def read_program(path: Path) -> str:
    """Return the text of a compiled program; print a note if it is older than its source."""
    text = read_text(path)
    if (note := age_note(path)) is not None:
        print_note(note)
    return text


def age_note(program: Path) -> str | None:
    """Return the mismatch between a compiled program, the source with the same name, and the manifest that covers both.

    Without a source or a manifest it cannot tell: file times after a checkout are meaningless.
    """
    source = program.with_suffix(".p4")
    if not source.is_file() or (noted := _noted(program)) is None:
        return None
    manifest, compiled, sources = noted
    changed = [path for path, digest in sources.items() if _digest(path) != digest]
    is_as_noted = compiled == _digest(program)
    if is_as_noted and changed:
        files = ", ".join(str(path) for path in changed)
        return f"{program} is older than its source ({files} changed since, by {manifest}): compile it again with p4c."
    if not is_as_noted and not changed:
        return f"{program} is not what p4c made of {source}, by the digest in {manifest}: compile it again with p4c."
    return None


def _named(path: Path) -> _File:
    return str(path), read_text(path)


def _noted(program: Path) -> tuple[Path, str, dict[Path, str]] | None:
    """Return the manifest of a program, with its digests of the program and of its sources."""
    name = program.name
    for folder in (program.resolve().parent, program.resolve().parent.parent):
        manifest = folder / "manifest.json"
        try:
            document: dict[str, Any] = json.loads(manifest.read_text())
            if (entry := document.get("programs", {}).get(program.stem)) is not None:
                # In the manifest of p4/, paths are relative to the root of the repository.
                return manifest, entry["compiled"], {folder.parent / path: of for path, of in entry["sources"].items()}
            if name in (digests := document.get("sha256", {})):
                source = program.with_suffix(".p4")
                return manifest, digests[name], {source: digests[source.name]}
        except (OSError, ValueError, LookupError, AttributeError, TypeError):
            # It is not one of our manifests.
            continue
    return None


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
