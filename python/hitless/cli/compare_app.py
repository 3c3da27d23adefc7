"""`hitless compare`: arguments and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Fresh, Jobs, Json, Mechanisms, Out, Seed, Transports, takes


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """Options of `hitless compare`."""

    first: Annotated[Path, typer.Argument(metavar="A", help="A scenario file; - for standard input.", allow_dash=True)]
    second: Annotated[
        Path | None, typer.Argument(metavar="[B]", help="Another one; omit it with --with, --without or --set.")
    ] = None
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="MECHANISM", help="B is A with it: linkguardian, or afq,ecn_rounds=8."),
    ] = None
    without: Annotated[list[str] | None, typer.Option("--without", metavar="MECHANISM", help="B is A without it.")] = (
        None
    )
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="A setting of B, as flows.bulk.load=0.8; repeatable."),
    ] = None
    mechanism: Mechanisms = None
    transport: Transports = None
    seeds: Annotated[int, typer.Option(min=1, max=10_000, help="Number of pairs of runs.")] = 10
    seed: Seed = 1
    out: Out = None
    json: Json = False
    jobs: Jobs = None
    fresh: Fresh = False


@takes(CompareOptions)
def compare(options: CompareOptions) -> int:
    """Run two scenarios with the same seeds, and report the significant differences.

    Examples:

      hitless scenario example leaf-spine-lossy --write
      hitless compare leaf-spine-lossy.toml --with linkguardian
      hitless compare leaf-spine-lossy.toml --with link-layer-retry --seeds 20
      hitless compare mine.toml --with 'linkguardian,link=sw1->sw2,mode=non-blocking'
      hitless compare mine.toml --without afq
      hitless compare mine.toml --set switch.ecn.threshold='20 packets'
      hitless compare a.toml b.toml --seeds 30 --json

    A mechanism comes with its defaults; a mechanism for links goes onto the links
    that corrupt frames, or that fail. With both --without X and --with Y, A has
    X and B has Y. Ctrl-C keeps finished runs, and the same command continues
    from there.
    """
    from hitless.cli import compare as command
    from hitless.prototype.kinds import load

    load(options.mechanism or [], options.transport or [])
    return command.compare(options)
