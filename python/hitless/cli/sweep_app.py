"""`hitless sweep`: arguments and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Fresh, Jobs, Json, Mechanisms, On, Transports, takes


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """Options of `hitless sweep`."""

    words: Annotated[
        list[str], typer.Argument(metavar="FILE", help="A sweep file; or merge, followed by folders of shards.")
    ]
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results.", show_default="results/sweeps/NAME-DIGEST")
    ] = None
    jobs: Jobs = None
    on: On = None
    shard: Annotated[
        str | None, typer.Option(metavar="K/N", help="Shard of the runs to run, such as 3/16.", show_default=False)
    ] = None
    mechanism: Mechanisms = None
    transport: Transports = None
    fresh: Fresh = False
    json: Json = False


@takes(SweepOptions)
def sweep(options: SweepOptions) -> int:
    """Run a scenario over a grid of settings and seeds: a Parquet data set, and a report with a plot for each axis.

    Examples:

      hitless sweep loss.toml
      hitless sweep loss.toml --mechanism early_drop.py
      hitless sweep loss.toml --on ray
      hitless sweep loss.toml --on ray://head:10001
      hitless sweep loss.toml --shard $((SLURM_ARRAY_TASK_ID + 1))/16 --out /shared/loss
      hitless sweep merge /shared/loss

    FILE names a scenario, the axes by the paths of their fields, seeds, and the tables to keep: docs/how-to/sweep.md.
    Ctrl-C keeps finished runs, and the same command continues from there. The rows do not depend on the executor.
    """
    from hitless.cli import sweep as command
    from hitless.prototype.kinds import load

    load(options.mechanism or [], options.transport or [])
    return command.sweep(options)
