"""`hitless swarm`: arguments and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Json, Mechanisms, Seed, takes


@dataclass(frozen=True, slots=True)
class SwarmOptions:
    """What `hitless swarm` goes through."""

    seed: Seed = 1
    worlds: Annotated[int | None, typer.Option(min=1, help="How many worlds.", show_default=False)] = None
    minutes: Annotated[float | None, typer.Option(min=0, max=1e7, help="For how long.", show_default=False)] = None
    threads: Annotated[int, typer.Option(min=1, max=1024, help="Worlds at a time.")] = 1
    judge: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Judge this scenario only.", show_default=False)
    ] = None
    judges: Annotated[bool, typer.Option("--judges", help="Print what runs are held to.")] = False
    canary: Annotated[
        str | None, typer.Option(help="Sow this bug first; in builds with debug assertions only.", show_default=False)
    ] = None
    mechanism: Mechanisms = None
    out: Annotated[Path | None, typer.Option(help="Folder for what is found.", show_default="here")] = None
    json: Json = False


@takes(SwarmOptions)
def swarm(options: SwarmOptions) -> int:
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

    load(options.mechanism or [])
    if options.judges:
        command.list_judges()
        return 0
    if options.judge is not None:
        return command.judge(options.judge, json=options.json)
    return command.swarm(options)
