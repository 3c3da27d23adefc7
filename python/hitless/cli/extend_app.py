"""`hitless mechanism` and `hitless transport`: the user's crates in Rust, compiled with the simulator."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

mechanism_app = typer.Typer(
    no_args_is_help=True,
    help="Write a mechanism, and compile it with the simulator (docs/how-to/mechanism-in-rust.md).",
)
transport_app = typer.Typer(
    no_args_is_help=True,
    help="Write a congestion control, and compile it with the simulator (docs/how-to/transport-in-rust.md).",
)

NewFolder = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the new crate.", show_default="./NAME")]


@mechanism_app.command("new")
def new_mechanism(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its kind in scenarios, such as early-drop.")],
    path: NewFolder = None,
) -> None:
    """Write a new crate with settings, one hook, a property test and a scenario.

    Examples:

      hitless mechanism new early-drop
      hitless mechanism build early-drop
      hitless run early-drop/scenario.toml
    """
    from hitless import _native

    _create("mechanism", name, path, [kind for kind, _, _ in _native.mechanism_kinds()])


@transport_app.command("new")
def new_transport(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its kind in scenarios, such as short-queue.")],
    path: NewFolder = None,
) -> None:
    """Write a new crate with settings, a congestion control by delay, a property test and a scenario.

    Examples:

      hitless transport new short-queue
      hitless transport build short-queue
      hitless run short-queue/scenario.toml
    """
    _create("transport", name, path, list(_controls()))


def _create(what: str, name: str, path: Path | None, taken: list[str]) -> None:
    from hitless.extend.crates import TEMPLATES, checked_name, create
    from hitless.terminal.console import print_note

    folder = create(TEMPLATES[what], checked_name(what, name, taken), path or Path(name))
    print_note(f"written to {folder}; next: hitless {what} build {folder}")


@transport_app.command("build")
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
def list_mechanisms() -> None:
    """List the kinds of mechanisms that scenarios can name, and their origin."""
    from hitless import _native

    _print_kinds(_native.mechanism_kinds())


@transport_app.command("list")
def list_controls() -> None:
    """List the congestion controls that scenarios can name, and their origin."""
    from hitless import _native

    crates = {name: crate for name, _, crate in _native.congestion_kinds()}
    _print_kinds([(name, summary, crates.get(name)) for name, summary in _controls().items()])


def _controls() -> dict[str, str]:
    """Return all congestion controls, each with the first sentence of its description."""
    from hitless import _native

    variants = json.loads(_native.scenario_schema("json"))["$defs"]["Congestion"]["oneOf"]
    return {each["properties"]["kind"]["const"]: each["description"].partition(". ")[0] for each in variants}


def _print_kinds(kinds: Sequence[tuple[str, str, str | None]]) -> None:
    from hitless.extend.record import Record
    from hitless.native import STALE, stale
    from hitless.terminal.console import print_note, stdout

    paths = {crate.name: crate.path for crate in Record.read().crates}
    width = max((len(kind) for kind, _, _ in kinds), default=0)
    for kind, summary, crate in kinds:
        origin = paths.get(crate, crate) if crate else "built in"
        stdout.print(f"{kind:<{width}}  {origin:<10}  {summary}", markup=False, soft_wrap=True)
    if stale():
        print_note(STALE)


@transport_app.command("remove")
@mechanism_app.command("remove")
def remove_crate(name: Annotated[str, typer.Argument(metavar="NAME", help="One of your kinds, or its crate.")]) -> None:
    """Remove one of your mechanisms or transports. Its crate stays where it is."""
    from hitless.extend.build import remove
    from hitless.terminal.console import print_note

    record = remove(name, print_note)
    left = ", ".join(crate.name for crate in record.crates) or "none"
    print_note(f"{name} is removed; your crates are now: {left}")
