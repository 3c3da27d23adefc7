"""`hitless swarm`: arguments and help."""

from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Json, Mechanisms, Seed


def swarm(
    seed: Seed = 1,
    worlds: Annotated[int | None, typer.Option(min=1, help="How many worlds.", show_default=False)] = None,
    minutes: Annotated[float | None, typer.Option(min=0, max=1e7, help="For how long.", show_default=False)] = None,
    threads: Annotated[int, typer.Option(min=1, max=1024, help="Worlds at a time.")] = 1,
    judge: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Judge this scenario only.", show_default=False)
    ] = None,
    judges: Annotated[bool, typer.Option("--judges", help="Print what runs are held to.")] = False,
    canary: Annotated[
        str | None, typer.Option(help="Sow this bug first; in builds with debug assertions only.", show_default=False)
    ] = None,
    mechanism: Mechanisms = None,
    out: Annotated[Path | None, typer.Option(help="Folder for what is found.", show_default="here")] = None,
    json: Json = False,
) -> None:
    """Draw random worlds, and judge each by what must hold in every run.

    Examples:

      hitless swarm --worlds 1000
      hitless swarm --seed 7 --minutes 60 --threads 2 --out found
      hitless swarm --judge found/swarm-progress-1234.toml
      hitless swarm --judges

    A world is a whole scenario: fabric, transports, flows, faults, mechanisms
    with random settings. One that breaks a promise is made small and written as
    a scenario file. Exit code 1: something was found.
    """
    from hitless.cli import swarm as command
    from hitless.prototype.kinds import load

    load(mechanism or [])
    if judges:
        command.list_judges()
        return
    if judge is not None:
        raise typer.Exit(command.judge(judge, json=json))
    raise typer.Exit(command.swarm(command.Asked(seed, worlds, minutes, threads, canary, out, json)))
