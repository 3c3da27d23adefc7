"""`hitless scenario`: checks of files, their fields, and examples."""

from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Json, Mechanisms, Memory, ScenarioFile, limit_memory

scenario_app = typer.Typer(
    no_args_is_help=True, help="Check and draw scenario files, show their fields, print examples."
)


@scenario_app.command()
def check(
    file: ScenarioFile,
    mechanism: Mechanisms = None,
    memory: Memory = None,
) -> None:
    """Check a scenario, and print it with every default spelled out."""
    from hitless.cli import scenario
    from hitless.prototype.kinds import load

    load(mechanism or [])
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


@scenario_app.command()
def example(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Name of the example; omit it to list them.")
    ] = None,
) -> None:
    """Print an example scenario."""
    from hitless.cli import scenario

    scenario.example(name)
