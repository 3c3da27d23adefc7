"""`hitless sweep`: arguments and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Fresh, Jobs, Json, On, takes


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """What `hitless sweep` runs, and how."""

    words: Annotated[
        list[str], typer.Argument(metavar="FILE", help="A sweep file; or merge, and folders of shards behind it.")
    ]
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results.", show_default="results/sweeps/NAME-DIGEST")
    ] = None
    jobs: Jobs = None
    on: On = None
    shard: Annotated[
        str | None, typer.Option(metavar="K/N", help="Only this part of the runs, such as 3/16.", show_default=False)
    ] = None
    fresh: Fresh = False
    json: Json = False


@takes(SweepOptions)
def sweep(options: SweepOptions) -> int:
    """Run a scenario over a grid of settings and seeds: a Parquet data set, and a report with a plot for each axis.

    Examples:

      hitless sweep loss.toml
      hitless sweep loss.toml --on ray
      hitless sweep loss.toml --on ray://head:10001
      hitless sweep loss.toml --shard $((SLURM_ARRAY_TASK_ID + 1))/16 --out /shared/loss
      hitless sweep merge /shared/loss

    FILE names a scenario, the axes by the paths of their fields, seeds, and the tables to keep: docs/how-to/sweep.md.
    Ctrl-C keeps what is done, and the same command goes on from there. The rows are the same whatever ran them.
    """
    from hitless.cli import sweep as command

    return command.sweep(options)
