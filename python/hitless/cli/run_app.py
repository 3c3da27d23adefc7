"""`hitless run` and `hitless resume`: arguments and help."""

from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Json, Mechanisms, Memory, Out, ScenarioFile, limit_memory
from hitless.errors import BadInput


def run(
    context: typer.Context,
    scenario: ScenarioFile,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**53 - 1, help="Instead of the scenario's own.", show_default=False),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1024,
            help="Threads that the run is divided among; its results do not depend on them.",
            show_default="HITLESS_THREADS, or all cores",
        ),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="EVERY",
            help='Write all that hitless resume needs every so often: "10 min", or "1 ms simulated". On one thread.',
            show_default="never",
        ),
    ] = None,
    mechanism: Mechanisms = None,
    memory: Memory = None,
    out: Out = None,
    json: Json = False,
) -> None:
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

    load(mechanism or [])
    limit_memory(memory)
    if checkpoint is not None and threads not in {None, 1}:
        raise BadInput("a run with checkpoints is on one thread", where="--threads", hint="leave it out")
    count = take_threads(threads if checkpoint is None else 1)
    text = read_sound(scenario, keeps_rows=checkpoint is not None, threads=count)
    from hitless.cli.run import run_scenario

    debug = bool(context.obj)
    code = run_scenario(scenario, text, seed=seed, out=out, json=json, debug=debug, checkpoint=checkpoint)
    raise typer.Exit(code)


def resume(
    context: typer.Context,
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
    raise typer.Exit(resume_run(folder, json=json, debug=bool(context.obj)))
