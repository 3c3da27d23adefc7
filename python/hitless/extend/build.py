"""Compiles crates of mechanisms and the simulator into one native module."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hitless import native
from hitless.errors import BadInput, HitlessError
from hitless.extend import sources
from hitless.extend.crates import Crate
from hitless.extend.record import Built, Record, libraries
from hitless.extend.workspace import LIBRARY, write

_QUICK = "dev"
"""The simulator's profile for development: code that `cargo test` compiled is not compiled again."""
_KEPT = 4
"""Number of modules to keep: running processes can still start others with theirs."""


def build(folders: Sequence[Path], note: Callable[[str], None], *, quick: bool) -> Record:
    """Build the crates in these folders and all that were built earlier; return the new record."""
    crates_of_simulator = sources.root() / "crates"
    crates = {crate.name: crate for crate in (Crate.read(path, crates_of_simulator) for path in folders)}
    for known in Record.read().crates:
        if known.name not in crates:
            crates[known.name] = Crate.read(Path(known.path), crates_of_simulator)
    if not crates:
        raise BadInput("which crate?", hint="hitless mechanism new NAME writes one, and build takes its folder")
    with _one_at_a_time():
        return _build(sorted(crates.values(), key=lambda crate: crate.name), note, quick=quick)


def remove(name: str, note: Callable[[str], None]) -> Record:
    """Build without a crate, which is given by its name or by one of its kinds."""
    record = Record.read()
    staying = [crate for crate in record.crates if name != crate.name and name not in crate.kinds]
    if len(staying) == len(record.crates):
        raise BadInput(f"there is no mechanism {name!r} of yours", hint="hitless mechanism list shows all of them")
    if not staying:
        empty = Record()
        empty.write()
        return empty
    folder = sources.root() / "crates"
    with _one_at_a_time():
        return _build([Crate.read(Path(crate.path), folder) for crate in staying], note, quick=record.quick)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Lock the workspace: two builds would overwrite each other's files."""
    libraries().mkdir(parents=True, exist_ok=True)
    with (Path(native.cache()) / "lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(crates: Sequence[Crate], note: Callable[[str], None], *, quick: bool) -> Record:
    cargo = _cargo()
    profile = _QUICK if quick else "release"
    profiles = {profile: sources.workspace()["profile"][profile]}
    compiler = subprocess.run([cargo, "--version"], capture_output=True, text=True, check=False).stdout
    files = [*sources.files(), *(file for crate in crates for file in crate.sources())]
    names = [f"{crate.name}={crate.path}" for crate in crates]
    library = sources.digest(files, compiler, json.dumps(profiles[profile]), sys.version.split()[0], *names)
    folder = libraries() / library
    if not (folder / native.LIBRARY).is_file():
        began = time.monotonic()
        note(f"compiling {', '.join(crate.name for crate in crates)} with the simulator: minutes the first time")
        made = _compile(cargo, crates, profile, profiles)
        _keep(made, folder)
        note(f"compiled in {time.monotonic() - began:.0f} s")
    try:
        kinds = _kinds_in(folder)
    except HitlessError:
        shutil.rmtree(folder)
        raise
    of = {crate.name: [kind for kind, origin in kinds if origin == crate.name] for crate in crates}
    record = Record(library, quick, [Built(crate.name, str(crate.path), of[crate.name]) for crate in crates])
    record.write()
    _forget_old()
    return record


def _cargo() -> str:
    cargo = shutil.which("cargo")
    if cargo is None:
        raise HitlessError(
            "cargo is missing, which compiles mechanisms",
            hint="Debian 13 or newer: apt-get install rustup && rustup default stable; elsewhere: rustup.rs",
        )
    return cargo


def _compile(cargo: str, crates: Sequence[Crate], profile: str, profiles: dict[str, Any]) -> Path:
    """Return the compiled module. Messages of cargo go to stderr unchanged."""
    workspace = Path(native.cache()) / "workspace"
    write(workspace, crates, profiles)
    # Use the simulator's target folder, to reuse its compiled code.
    target = sources.root() / "target"
    command = [cargo, "build", "--profile", profile, "--target-dir", str(target)]
    # As in maturin: without the first flag the module would be linked with a libpython that may be missing.
    environment = {**os.environ, "PYO3_BUILD_EXTENSION_MODULE": "1", "PYO3_PYTHON": sys.executable}
    done = subprocess.run(command, cwd=workspace, env=environment, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        names = ", ".join(crate.name for crate in crates)
        hint = "the errors of cargo are above; cargo test in the crate's folder finds them faster"
        raise HitlessError(f"{names}: not compiled; the last build stays in force", hint=hint)
    suffix = "dylib" if sys.platform == "darwin" else "so"
    return target / ("debug" if profile == "dev" else profile) / f"lib{LIBRARY}.{suffix}"


def _keep(made: Path, folder: Path) -> None:
    draft = folder.with_suffix(".draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    shutil.copyfile(made, draft / native.LIBRARY)
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)


def _kinds_in(folder: Path) -> list[tuple[str, str | None]]:
    """Return the kinds of a module with their crates, as found by a separate process."""
    program = "import json; from hitless.extend.record import all_kinds; print(json.dumps(all_kinds()))"
    environment = {**os.environ, native.VARIABLE: str(folder)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return [(kind, origin) for kind, _, origin in json.loads(done.stdout)]
    taken = re.search(r"ImportError: (.*two kinds of [a-z ]+ are called .*)", done.stderr)
    if taken:
        hint = "NAME in its src/lib.rs is the kind; hitless mechanism list shows all of them"
        raise BadInput(f"the kind is taken: {taken[1]}", hint=hint)
    raise HitlessError(f"the compiled module cannot be loaded: {done.stderr.strip()}")


def _forget_old() -> None:
    newest = sorted(libraries().iterdir(), key=lambda folder: folder.stat().st_mtime_ns, reverse=True)
    in_force = Record.read().library
    for folder in newest[_KEPT:]:
        if folder.name != in_force:
            shutil.rmtree(folder, ignore_errors=True)
