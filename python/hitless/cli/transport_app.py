"""`hitless transport`: the user's congestion controls in Rust."""

import json
from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.mechanism_app import build_crates, print_kinds, remove_crate

transport_app = typer.Typer(
    no_args_is_help=True,
    help="Write a congestion control, and compile it with the simulator (docs/how-to/transport-in-rust.md).",
)


@transport_app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its kind in scenarios, such as short-queue.")],
    path: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the new crate.", show_default="./NAME")
    ] = None,
) -> None:
    """Write a new crate with settings, a congestion control by delay, a property test and a scenario.

    Examples:

      hitless transport new short-queue
      hitless transport build short-queue
      hitless run short-queue/scenario.toml
    """
    from hitless.extend.crates import TRANSPORT, checked_name, create
    from hitless.terminal.console import print_note

    folder = create(TRANSPORT, checked_name("transport", name, list(_controls())), path or Path(name))
    print_note(f"written to {folder}; next: hitless transport build {folder}")


transport_app.command("build")(build_crates)


@transport_app.command("list")
def list_kinds() -> None:
    """List the congestion controls that scenarios can name, and their origin."""
    from hitless import _native

    crates = {name: crate for name, _, crate in _native.congestion_kinds()}
    print_kinds([(name, summary, crates.get(name)) for name, summary in _controls().items()], "built in")


transport_app.command("remove")(remove_crate)


def _controls() -> dict[str, str]:
    """Return all congestion controls, each with the first sentence of its description."""
    from hitless import _native

    variants = json.loads(_native.scenario_schema("json"))["$defs"]["Congestion"]["oneOf"]
    return {each["properties"]["kind"]["const"]: each["description"].partition(". ")[0] for each in variants}
