"""The command line: arguments and help. The work is in the modules beside this one, loaded when they are needed."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hitless.cli.bench_app import bench_app
from hitless.cli.corruptd_app import corruptd_app
from hitless.cli.fleet_app import fleet_app
from hitless.cli.lab_app import lab_app
from hitless.cli.mechanism_app import mechanism_app
from hitless.cli.options import (
    Fresh,
    Jobs,
    Json,
    Mechanisms,
    Memory,
    Order,
    Out,
    ScenarioFile,
    Seed,
    Verbose,
    limit_memory,
)
from hitless.cli.p4_app import p4_app
from hitless.cli.parameters import adjusted
from hitless.cli.results_app import results_app
from hitless.cli.scenario_app import scenario_app
from hitless.errors import BadInput, HitlessError, explained, was_interrupted
from hitless.native import STALE, stale
from hitless.terminal import console

if TYPE_CHECKING:
    from hitless.exhibits.model import Effort

app = typer.Typer(
    name="hitless",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(scenario_app, name="scenario")
app.add_typer(fleet_app, name="fleet")
app.add_typer(lab_app, name="lab")
app.add_typer(mechanism_app, name="mechanism")
app.add_typer(p4_app, name="p4")
app.add_typer(bench_app, name="bench")
app.add_typer(results_app, name="results")
app.add_typer(corruptd_app, name="corruptd")

On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="PLACE",
        help='"processes", "ray" for a Ray cluster of this machine, or the address of one: ray://head:10001.',
        show_default="threads",
    ),
]


def _print_version(asked: bool) -> None:
    if asked:
        from hitless import _native

        console.print_text(f"hitless {_native.version()}")
        raise typer.Exit


def _complete_exhibits(incomplete: str) -> list[tuple[str, str]]:
    from hitless.exhibits.registry import entries

    return [(entry.id, entry.title) for entry in entries() if entry.id.startswith(incomplete)]


@app.callback()
def hitless(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show where in the program an error came from.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """See what a datacenter loses when links corrupt or fail and buffers overflow, and how much switches recover.

    Simulate a scenario, and see what a mechanism changes:

      hitless scenario example linkguardian-testbed > mine.toml
      hitless run mine.toml
      hitless compare mine.toml --without linkguardian

    Measure a figure of a paper and compare it with the paper's numbers:

      hitless reproduce --list
      hitless reproduce lg/fig8 --quick

    Bring a scenario up on this machine as root, with real programs at the ends:

      hitless lab up examples/lossy-link.toml

    Follow a datacenter's corrupting links for a year; write a mechanism:

      hitless fleet run
      hitless mechanism new early-drop

    Guides are in docs/index.md, abbreviations in docs/reference/glossary.md.
    Numbers and tables go to stdout, everything else to stderr.
    Exit code 0: done. 1: a run failed. 2: wrong usage or input. 130: interrupted.
    """
    context.obj = debug
    if context.invoked_subcommand != "mechanism" and stale():
        console.print_note(STALE)


@app.command()
def reproduce(
    context: typer.Context,
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            help="Exhibits, as lg/fig8, or a paper for all of its; a few of each paper when none is named.",
            autocompletion=_complete_exhibits,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Shorter runs, same parameters; says what it shortened.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="The papers' own run lengths. May take hours.")] = False,
    seed: Seed = 1,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000,
            help="How many seeds, from --seed on. Fewer than 3 give no verdict.",
            show_default="3, 5 with --full, 1 where a quick run takes long",
        ),
    ] = None,
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
    fresh: Fresh = False,
    points: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only runs of this name, such as '*DCTCP 10/40G 95 %'; may be repeated."),
    ] = None,
    on: On = None,
    tables: Annotated[bool, typer.Option("--tables", help="Show every row, before the summary.")] = False,
    list_only: Annotated[bool, typer.Option("--list", help="List the exhibits, and how long each takes.")] = False,
) -> None:
    """Measure figures and tables of papers, each number beside the paper's.

    An exhibit is a figure or table of a paper, or an experiment about it.
    Papers: lg (LinkGuardian), sqr, afq, rimm, pd (Simple and Preemptive
    Deflection), all (all five systems together), envelope (the maps of
    `hitless envelope`).

    Examples:

      hitless reproduce                        a few exhibits of every paper
      hitless reproduce lg/fig8 lg/fig10 -j 1  two exhibits, one run at a time
      hitless reproduce lg --quick --tables    all of a paper, every row
      hitless reproduce lg --quick --json      the same for a program
      hitless reproduce pd/fig6 --points '*Swift*'  some runs of one exhibit

    One exhibit is shown with its rows, several on one screen; the report has
    all rows, and --tables shows them here.

    A verdict is match, within (a factor of two of the paper's number, all that
    its rule asks), beyond (the paper's own scheme does better here than the
    paper says), differs, or unjudged (the paper has no number, or the runs
    cannot tell). It rests on several seeds: numbers are means over them, with
    intervals by Student's t. After Ctrl-C the same command goes on where it was, except
    with --quick: finished runs are kept in results/points, or in points of
    --out.
    """
    from hitless.cli import reproduce as command
    from hitless.cli import show

    if quick and full:
        raise BadInput("--quick and --full exclude each other")
    if quick and fresh:
        raise BadInput("--fresh has nothing to forget", hint="--quick keeps no points")
    if list_only:
        show.print_exhibits(json=json)
        return
    effort: Effort = "quick" if quick else "full" if full else "normal"
    code = command.reproduce(
        ids or [],
        effort=effort,
        seed=seed,
        seeds=seeds,
        out=out,
        json=json,
        tables=tables,
        jobs=jobs,
        fresh=fresh,
        patterns=points or [],
        on=on,
        debug=bool(context.obj),
    )
    raise typer.Exit(code)


@app.command()
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


@app.command()
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


@app.command()
def envelope(
    context: typer.Context,
    mechanism: Annotated[str, typer.Argument(metavar="MECHANISM", help="As in a scenario: linkguardian.")],
    fine: Annotated[bool, typer.Option("--fine", help="More rates, cables, frames, loads and seeds.")] = False,
    seed: Seed = 1,
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
    fresh: Fresh = False,
) -> None:
    """Map where a mechanism helps: rates, cables, frames, loads and transports.

    Examples:

      hitless envelope linkguardian
      hitless envelope sqr --fine --json

    Each place of the map has the trouble that the mechanism is for, and pairs of
    runs with and without it. It helps, does no harm beyond its stated cost, is
    refused with the reason, or harms. Exit code 1: it harms somewhere.
    """
    from hitless.cli.envelope import envelope as draw

    found = draw(mechanism, fine=fine, seed=seed, out=out, json=json, jobs=jobs, fresh=fresh, debug=bool(context.obj))
    raise typer.Exit(found)


@app.command()
def compare(
    context: typer.Context,
    first: Annotated[Path, typer.Argument(metavar="A", help="A scenario file; - for standard input.", allow_dash=True)],
    second: Annotated[
        Path | None, typer.Argument(metavar="[B]", help="Another one; left out with --with, --without or --set.")
    ] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="MECHANISM", help="B is A with it: linkguardian, or afq,ecn_rounds=8."),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", metavar="MECHANISM", help="B is A without it.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="A setting of B, as flows.bulk.load=0.8; may be repeated."),
    ] = None,
    mechanism: Mechanisms = None,
    seeds: Annotated[int, typer.Option(min=1, max=10_000, help="How many pairs of runs.")] = 10,
    seed: Seed = 1,
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
    fresh: Fresh = False,
) -> None:
    """Run two scenarios with the same seeds, and say which differences are more than chance.

    Examples:

      hitless compare examples/leaf-spine-lossy.toml --with linkguardian
      hitless compare examples/leaf-spine-lossy.toml --with link-layer-retry --seeds 20
      hitless compare mine.toml --with 'linkguardian,link=sw1->sw2,mode=non-blocking'
      hitless compare mine.toml --without afq
      hitless compare mine.toml --set switch.ecn.threshold='20 packets'
      hitless compare a.toml b.toml --seeds 30 --json

    A mechanism comes with its defaults; one of links goes onto the links that
    corrupt frames, or that fail. With both --without X and --with Y, A has X
    and B has Y. Ctrl-C keeps what is done, and the same command goes on from
    there.
    """
    from hitless.cli import compare as command
    from hitless.comparison.sides import Asked
    from hitless.prototype.kinds import load

    load(mechanism or [])
    asked = Asked(with_ or [], without or [], settings or [])
    effort = command.Effort(seeds, seed, jobs, fresh)
    raise typer.Exit(command.compare(first, second, asked, effort, out=out, json=json, debug=bool(context.obj)))


@app.command()
def sweep(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="FILE", help="A sweep file; or merge, and folders of shards behind it.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results.", show_default="results/sweeps/NAME-DIGEST")
    ] = None,
    jobs: Jobs = None,
    on: On = None,
    shard: Annotated[
        str | None, typer.Option(metavar="K/N", help="Only this part of the runs, such as 3/16.", show_default=False)
    ] = None,
    fresh: Fresh = False,
    json: Json = False,
) -> None:
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

    asked = command.Asked(out, jobs, on, shard, fresh, json)
    raise typer.Exit(command.sweep(words, asked, debug=bool(context.obj)))


@app.command()
def switch(
    config: Annotated[
        Path | None,
        typer.Argument(metavar="[CONFIG]", help="Which scenario, and which node is behind which interface."),
    ] = None,
    check_only: Annotated[bool, typer.Option("--check", help="Only check CONFIG and print it in full.")] = False,
    print_example: Annotated[bool, typer.Option("--example", help="Print a configuration to begin with.")] = False,
    verbose: Verbose = False,
) -> None:
    """Run a scenario's switches on this box's interfaces, until Ctrl-C (docs/how-to/real-interfaces.md).

    Examples:

      hitless scenario example lossy-link > fabric.toml
      hitless switch --example > switch.toml
      hitless switch switch.toml --check
      hitless switch switch.toml

    SIGHUP reads CONFIG and its scenario again: loss rates and LinkGuardian
    change without a packet lost; what a running switch cannot change is
    refused, and it goes on as before. Needs CAP_NET_RAW and CAP_NET_ADMIN.
    """
    from hitless.cli import switch as command

    if print_example:
        command.example()
    elif config is None:
        raise BadInput("which configuration?", hint="hitless switch --example prints one")
    elif check_only:
        command.check(config)
    else:
        raise typer.Exit(command.run(config, verbose=verbose))


@app.command()
def link(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A configuration, in place of all options.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Check FILE, print it with all defaults, and exit.")] = False,
    example: Annotated[bool, typer.Option("--example", help="Print a FILE to begin with.")] = False,
    inside: Annotated[str | None, typer.Option(metavar="IF", help="The interface to the hosts.")] = None,
    outside: Annotated[
        str | None, typer.Option(metavar="IF", help="The interface to the other box: the lossy link.")
    ] = None,
    rate: Annotated[
        str | None, typer.Option(help='Rate of the link, such as "1 Gbps": queues build here, not there.')
    ] = None,
    delay: Annotated[str, typer.Option(help="The link's delay, one way.")] = "100 us",
    answer: Annotated[str, typer.Option(help="Maximum time for both processes to answer, without the delay.")] = "5 ms",
    loss_rate: Annotated[float, typer.Option(min=1e-12, max=0.4, help="Expected loss rate.")] = 1e-3,
    target: Annotated[float, typer.Option(min=1e-18, max=0.4, help="Target residual loss rate.")] = 1e-8,
    mode: Order = "blocking",
    off: Annotated[bool, typer.Option("--off", help="Only forward, to observe the bare link.")] = False,
    set_mtu: Annotated[
        bool, typer.Option("--set-mtu", help="Raise the MTU of the outside interface as far as is needed.")
    ] = False,
    vlan_tags: Annotated[int, typer.Option(min=0, max=2, help="VLAN tags that frames may carry.")] = 0,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when a deadline was missed.")] = False,
    busy_poll: Annotated[bool, typer.Option("--busy-poll", help="Never sleep: takes a processor.")] = False,
    metrics_port: Annotated[int, typer.Option(min=0, max=65_535, help="For Prometheus, on 127.0.0.1; 0 for none.")] = 0,
) -> None:
    """Protect a real link with LinkGuardian: this end of it. The other box runs the same command.

    Examples:

      hitless link --inside eth1 --outside eth2 --rate "1 Gbps"
      hitless link --inside eth1 --outside wlan0 --rate "200 Mbps" --delay "2 ms" --loss-rate 1e-2
      hitless link /etc/hitless/link-eth2.toml

    Frames of any kind cross the link whole, in frames of an EtherType of their
    own, and arrive in order; the hosts notice nothing. Give both ends the same
    rate, delay, loss rate and mode.
    """
    from hitless.cli import link as command
    from hitless.switch.link_file import Config, Link, LinkMetrics

    if example:
        command.example()
        return
    if file is not None:
        command.require_alone(inside=inside, outside=outside, rate=rate)
        if check:
            command.check_file(file)
            return
        raise typer.Exit(command.run_file(file))
    inside, outside, rate = command.require_all(inside=inside, outside=outside, rate=rate)
    # What the options say was checked by what they are declared to be.
    link = Link.model_construct(
        inside=inside,
        outside=outside,
        rate=rate,
        delay=delay,
        answer=answer,
        loss_rate=loss_rate,
        target=target,
        mode=mode,
        active=not off,
        set_mtu=set_mtu,
        vlan_tags=vlan_tags,
        strict=strict,
        busy_poll=busy_poll,
    )
    raise typer.Exit(command.run(Config(link=link, metrics=LinkMetrics(port=metrics_port))))


def main() -> None:
    """The program ``hitless``."""
    debug = "--debug" in sys.argv
    # Nothing here multiplies matrices, and the threads of numpy's linear algebra take a tenth of a second to start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    console.be_tolerant()
    try:
        adjusted(typer.main.get_command(app))()
    except HitlessError as error:
        console.print_error(error, debug=debug)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        console.print_note("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        console.leave(sys.stdout)
    except Exception as fault:  # noqa: BLE001 - the last line of defence: no traceback reaches a user unasked
        if was_interrupted(fault):
            console.print_note("interrupted")
            sys.exit(130)
        found = explained(fault)
        found.__cause__ = fault
        console.print_error(found, debug=debug)
        if isinstance(fault, OSError):
            console.leave(sys.stdout)
        sys.exit(found.exit_code)
