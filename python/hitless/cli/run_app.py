"""`hitless run`, `resume`, `compare` and `sweep`: arguments and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import (
    Fresh,
    Jobs,
    Json,
    Mechanisms,
    Memory,
    On,
    Out,
    ScenarioFile,
    Seed,
    Transports,
    limit_memory,
    takes,
)
from hitless.errors import BadInput


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of `hitless run`."""

    scenario: ScenarioFile
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**53 - 1, help="Seed, instead of the scenario's own.", show_default=False)
    ] = None
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1024,
            help="Threads for the run; pays on large fabrics. The results do not depend on it.",
            show_default="HITLESS_THREADS, or 1",
        ),
    ] = None
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="EVERY",
            help='Interval of checkpoints for hitless resume: "10 min", or "1 ms simulated". Runs on one thread.',
            show_default="never",
        ),
    ] = None
    mechanism: Mechanisms = None
    transport: Transports = None
    memory: Memory = None
    out: Out = None
    json: Json = False


@takes(RunOptions)
def run(options: RunOptions) -> int:
    """Run one scenario and keep all of its results.

    SIGQUIT (Ctrl-Backslash) prints stalled flows with their causes, and the run continues.

    Examples:

      hitless run mine.toml
      hitless run mine.toml --seed 7 --out results/seed7
      hitless run mine.toml --checkpoint "10 min"
      hitless scenario example NAME | hitless run - --json
      hitless run mine.toml --mechanism early_drop.py
      hitless run mine.toml --transport mine.py
    """
    from hitless.cli.scenario_text import read_sound
    from hitless.prototype.kinds import load
    from hitless.threads import take_threads

    load(options.mechanism or [], options.transport or [])
    limit_memory(options.memory)
    has_checkpoints = options.checkpoint is not None
    if has_checkpoints and options.threads not in {None, 1}:
        raise BadInput("a run with checkpoints is on one thread", where="--threads", hint="leave it out")
    count = take_threads(1 if has_checkpoints else options.threads)
    scenario = read_sound(options.scenario, keeps_rows=has_checkpoints, threads=count)
    from hitless.cli.run import run_scenario

    return run_scenario(scenario, options)


def resume(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The results folder of a run with --checkpoint.")],
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Resume a killed or interrupted run from its newest checkpoint.

    The results equal those of an uninterrupted run, bit for bit. The checkpoint must come from this build of hitless.

    Examples:

      hitless resume results/20261121-081500-run-mine
    """
    from hitless.cli.run import resume_run

    limit_memory(memory)
    raise typer.Exit(resume_run(folder, json=json))


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
