"""`hitless mechanism`: mechanisms of one's own, in Rust."""

from pathlib import Path
from typing import Annotated

import typer

mechanism_app = typer.Typer(
    no_args_is_help=True,
    help="Write a mechanism, and compile it with the simulator (docs/how-to/mechanism-in-rust.md).",
)


@mechanism_app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What scenarios will call it, such as early-drop.")],
    path: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where it is written.", show_default="./NAME")
    ] = None,
) -> None:
    """Write a crate to begin with: settings, one hook, a property test, a scenario.

    Examples:

      hitless mechanism new early-drop
      hitless mechanism build early-drop
      hitless run early-drop/scenario.toml
    """
    from hitless.cli import mechanism

    mechanism.new(name, path)


@mechanism_app.command()
def build(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DIR]...", help="Crates to add; those that were built before are built again.", show_default=False
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="With debug assertions, for a slower simulator: in seconds where `cargo test` was run."
        ),
    ] = False,
) -> None:
    """Compile crates with the simulator. From then on scenarios may name their kinds, in every command.

    What did not change since the last time is not compiled again.
    """
    from hitless.cli import mechanism

    mechanism.build(folders or [], quick=quick)


@mechanism_app.command("list")
def list_kinds() -> None:
    """List the kinds of mechanisms that scenarios may name, and where they come from."""
    from hitless.cli import mechanism

    mechanism.list_kinds()


@mechanism_app.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A mechanism of yours, or its crate.")],
) -> None:
    """Take a mechanism of yours out again. Its crate stays where it is."""
    from hitless.cli import mechanism

    mechanism.remove(name)
