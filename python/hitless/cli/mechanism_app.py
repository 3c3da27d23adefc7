"""`hitless mechanism`: the user's mechanisms in Rust."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

mechanism_app = typer.Typer(
    no_args_is_help=True,
    help="Write a mechanism, and compile it with the simulator (docs/how-to/mechanism-in-rust.md).",
)


@mechanism_app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its kind in scenarios, such as early-drop.")],
    path: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the new crate.", show_default="./NAME")
    ] = None,
) -> None:
    """Write a new crate with settings, one hook, a property test and a scenario.

    Examples:

      hitless mechanism new early-drop
      hitless mechanism build early-drop
      hitless run early-drop/scenario.toml
    """
    from hitless import _native
    from hitless.extend.crates import MECHANISM, checked_name, create
    from hitless.terminal.console import print_note

    taken = [kind for kind, _, _ in _native.mechanism_kinds()]
    folder = create(MECHANISM, checked_name("mechanism", name, taken), path or Path(name))
    print_note(f"written to {folder}; next: hitless mechanism build {folder}")


@mechanism_app.command("build")
def build_crates(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[DIR]...", help="Crates to add; earlier ones are built again.", show_default=False),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Build with debug assertions: a slower simulator, built in seconds after `cargo test`."
        ),
    ] = False,
) -> None:
    """Compile crates with the simulator. Scenarios can then name their kinds, in every command.

    Crates that did not change are not compiled again.
    """
    from hitless.extend.build import build
    from hitless.terminal.console import print_note

    record = build(folders or [], print_note, quick=quick)
    kinds = " or ".join(f'"{kind}"' for crate in record.crates for kind in crate.kinds)
    print_note(f"scenarios may now say kind = {kinds}")


@mechanism_app.command("list")
def list_kinds() -> None:
    """List the kinds of mechanisms that scenarios can name, and their origin."""
    from hitless import _native

    print_kinds(_native.mechanism_kinds(), "built in")


def print_kinds(kinds: Sequence[tuple[str, str, str | None]], others: str) -> None:
    """Print kinds with their origin: a crate's folder, or ``others``."""
    from hitless.extend.record import Record
    from hitless.native import STALE, stale
    from hitless.terminal.console import print_note, stdout

    paths = {crate.name: crate.path for crate in Record.read().crates}
    width = max((len(kind) for kind, _, _ in kinds), default=0)
    for kind, summary, crate in kinds:
        origin = paths.get(crate, crate) if crate else others
        stdout.print(f"{kind:<{width}}  {origin:<10}  {summary}", markup=False, soft_wrap=True)
    if stale():
        print_note(STALE)


@mechanism_app.command("remove")
def remove_crate(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One of your kinds, or its crate.")],
) -> None:
    """Remove one of your mechanisms or transports. Its crate stays where it is."""
    from hitless.extend.build import remove
    from hitless.terminal.console import print_note

    record = remove(name, print_note)
    left = ", ".join(crate.name for crate in record.crates) or "none"
    print_note(f"{name} is taken out; of yours there is now: {left}")
