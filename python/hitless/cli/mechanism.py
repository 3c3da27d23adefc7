"""`hitless mechanism`: mechanisms of one's own, in Rust."""

from pathlib import Path

from hitless import _native
from hitless.extend import build as building
from hitless.extend.crates import checked_name
from hitless.extend.create import create
from hitless.extend.record import Record
from hitless.native import STALE, stale
from hitless.terminal.console import print_note, stdout


def new(name: str, path: Path | None) -> None:
    """Write a crate to begin with."""
    kinds = [kind for kind, _, _ in _native.mechanism_kinds()]
    folder = create(checked_name(name, kinds), path or Path(name))
    print_note(f"written to {folder}; next: hitless mechanism build {folder}")


def build(folders: list[Path], *, quick: bool) -> None:
    """Compile crates with the simulator."""
    record = building.build(folders, print_note, quick=quick)
    kinds = " or ".join(f'"{kind}"' for crate in record.crates for kind in crate.kinds)
    print_note(f"scenarios may now say kind = {kinds}")


def list_kinds() -> None:
    """List all kinds."""
    paths = {crate.name: crate.path for crate in Record.read().crates}
    kinds = _native.mechanism_kinds()
    width = max(len(kind) for kind, _, _ in kinds)
    for kind, summary, crate in kinds:
        origin = paths.get(crate, crate) if crate else "built in"
        stdout.print(f"{kind:<{width}}  {origin:<10}  {summary}", markup=False, soft_wrap=True)
    if stale():
        print_note(STALE)


def remove(name: str) -> None:
    """Build without it."""
    record = building.remove(name, print_note)
    left = ", ".join(crate.name for crate in record.crates) or "none"
    print_note(f"{name} is taken out; of yours there is now: {left}")
