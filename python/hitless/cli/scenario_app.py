"""`hitless scenario`: checks and imports of files, their fields, and examples."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from hitless.cli.options import Json, Mechanisms, Memory, ScenarioFile, Transports, limit_memory

scenario_app = typer.Typer(
    no_args_is_help=True, help="Check, draw and import scenario files, show their fields, print examples."
)


@scenario_app.command()
def check(
    file: ScenarioFile, mechanism: Mechanisms = None, transport: Transports = None, memory: Memory = None
) -> None:
    """Check a scenario, and print it with every default spelled out."""
    from hitless.cli import scenario
    from hitless.prototype.kinds import load

    load(mechanism or [], transport or [])
    limit_memory(memory)
    scenario.check(file)


@scenario_app.command()
def draw(
    file: ScenarioFile,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="File for the drawing.", show_default="standard output")
    ] = None,
    mechanism: Mechanisms = None,
) -> None:
    """Draw the network as SVG: hosts, switches, links with rates, and the places of mechanisms and faults.

    Examples:

      hitless scenario draw mine.toml --out mine.svg
      hitless scenario example all-together | hitless scenario draw - > network.svg

    In a large network, equal hosts and switches are one box, and the drawing says so.
    """
    from hitless.cli import scenario_draw
    from hitless.prototype.kinds import load

    load(mechanism or [])
    scenario_draw.draw(file, out)


@scenario_app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of one simulation or switch.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for scenario.toml and its list of flows.")],
    transport: Annotated[
        Literal["uet", "roce", "tcp"] | None,
        typer.Option(help="Transport of the flows.", show_default="uet for files of htsim, else roce"),
    ] = None,
    start_unit: Annotated[
        Literal["us", "ps"],
        typer.Option(help="Unit of starts in a connection matrix: us for htsim_uec and htsim_swift, ps for others."),
    ] = "us",
) -> None:
    """Import htsim's matrices and topologies, HPCC's and SimAI's topologies and flows, SONiC's buffers.

    Examples:

      hitless scenario import incast.cm fat_tree.topo --out incast
      hitless scenario import topology.txt flow.txt --out hpcc
      hitless scenario import incast.cm config_db.json --transport roce --out sonic

    Files are recognised by their contents. A report on stderr says what was mapped, assumed and not mapped
    (docs/how-to/import.md).
    """
    from hitless.cli import scenario_import

    scenario_import.import_(files, out, transport, start_unit)


@scenario_app.command()
def resources(file: ScenarioFile, json: Json = False) -> None:
    """Print the mechanisms' resources on a real switch: stages, memory, queues (docs/explanation/resources.md)."""
    from hitless.cli import resources as command

    command.resources(file, json=json)


@scenario_app.command()
def schema(
    json: Annotated[bool, typer.Option("--json", help="Print JSON Schema, for editors.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write a page of Markdown for each table instead.")
    ] = None,
) -> None:
    """Print every field of a scenario file: meaning, unit, default."""
    from hitless.cli import scenario

    if out is not None:
        scenario.write_pages(out)
    else:
        scenario.schema(json=json)


def _names() -> list[str]:
    """Names of examples, for the shell's completion."""
    from hitless import _native

    return [name for name, _ in _native.scenario_examples()]


@scenario_app.command()
def example(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Name of the example; omit it to list them.", autocompletion=_names),
    ] = None,
    is_list: Annotated[bool, typer.Option("--list", help="List all examples, as without a name.")] = False,
    is_written: Annotated[bool, typer.Option("--write", help="Write NAME.toml into the current folder.")] = False,
) -> None:
    """Print an example scenario, or write it into the current folder.

    Examples:

      hitless scenario example linkguardian-testbed > mine.toml
      hitless scenario example lossy-link --write
    """
    from hitless.cli import scenario
    from hitless.errors import BadInput

    if name is None and is_written:
        raise BadInput("which example?", where="--write", hint="hitless scenario example lists them")
    if name is None or is_list:
        scenario.list_examples()
    elif is_written:
        scenario.write_example(name)
    else:
        scenario.print_example(name)
