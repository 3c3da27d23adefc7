"""`hitless run` and `hitless resume`: arguments and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Json, Mechanisms, Memory, Out, ScenarioFile, limit_memory, takes
from hitless.errors import BadInput


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What `hitless run` runs, and how."""

    scenario: ScenarioFile
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**53 - 1, help="Instead of the scenario's own.", show_default=False),
    ] = None
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1024,
            help="Threads that the run is divided among; its results do not depend on them.",
            show_default="HITLESS_THREADS, or all cores",
        ),
    ] = None
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="EVERY",
            help='Write all that hitless resume needs every so often: "10 min", or "1 ms simulated". On one thread.',
            show_default="never",
        ),
    ] = None
    mechanism: Mechanisms = None
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
    """
    from hitless.cli.scenario_text import read_sound
    from hitless.prototype.kinds import load
    from hitless.threads import take_threads

    load(options.mechanism or [])
    limit_memory(options.memory)
    has_checkpoints = options.checkpoint is not None
    if has_checkpoints and options.threads not in {None, 1}:
        raise BadInput("a run with checkpoints is on one thread", where="--threads", hint="leave it out")
    count = take_threads(1 if has_checkpoints else options.threads)
    text = read_sound(options.scenario, keeps_rows=has_checkpoints, threads=count)
    from hitless.cli.run import run_scenario

    return run_scenario(text, options)


def resume(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The results folder of a run with --checkpoint.")],
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Go on with a run that was killed, or interrupted, from its newest checkpoint.

    Its results are those of a run in one go, to the bit. The checkpoint must be of this build of hitless.

    Examples:

      hitless resume results/20261121-081500-run-mine
    """
    from hitless.cli.run import resume_run

    limit_memory(memory)
    raise typer.Exit(resume_run(folder, json=json))
