"""The record of built crates and their module: read by every process that loads the simulator."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hitless import _native, native


@dataclass
class Built:
    name: str
    path: str
    kinds: list[str]


@dataclass
class Record:
    """The result of `hitless mechanism build`."""

    library: str = ""
    """Folder of the native module, below `libraries`."""
    quick: bool = False
    crates: list[Built] = field(default_factory=list)
    fits: list[int] = field(default_factory=list)
    """Identity of the packaged module that it was made for."""

    @classmethod
    def read(cls) -> "Record":
        """Read the current record; an empty one if it is missing or unreadable."""
        try:
            content = json.loads(_path().read_text(encoding="utf-8"))
            crates = [Built(**crate) for crate in content.pop("crates")]
            return cls(crates=crates, **content)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls()

    def write(self) -> None:
        """Replace the record; processes that start meanwhile read one or the other."""
        path = _path()
        if not self.crates:
            path.unlink(missing_ok=True)
            return
        self.fits = native.identity()
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(asdict(self), indent=2), encoding="utf-8")
        draft.replace(path)


def loaded() -> list[dict[str, str | None]]:
    """Return the loaded module's kinds that came from crates, each with its crate's folder and the module's digest.

    The digest covers the module's bytes: the crates of a module share it, and any change in any of them changes it.
    """
    folder = native.folder()
    if folder is None:
        return []
    paths = {crate.name: crate.path for crate in Record.read().crates}
    digest = hashlib.sha256((Path(folder) / native.LIBRARY).read_bytes()).hexdigest()
    kinds = [(kind, crate) for kind, _, crate in all_kinds() if crate]
    return [{"kind": kind, "crate": crate, "path": paths.get(crate), "module_sha256": digest} for kind, crate in kinds]


def all_kinds() -> list[tuple[str, str, str | None]]:
    """Return the kinds of mechanisms and of congestion controls: name, a sentence, and the user's crate."""
    return [*_native.mechanism_kinds(), *_native.congestion_kinds()]


def libraries() -> Path:
    """Return the folder of all native modules."""
    return Path(native.cache()) / "libraries"


def _path() -> Path:
    return Path(native.cache()) / native.RECORD
