"""`hitless run` and `hitless resume`: arguments and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Json, Mechanisms, Memory, Out, ScenarioFile, Transports, limit_memory, takes
from hitless.errors import BadInput


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of `hitless run`."""

    scenario: ScenarioFile
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**53 - 1, help="Seed, instead of the scenario's own.", show_default=False),
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
