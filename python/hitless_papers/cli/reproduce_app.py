"""`hitless reproduce` and `hitless envelope`: arguments and help."""

from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from hitless.cli.options import Fresh, Jobs, Json, Mechanisms, On, Out, Seed, takes
from hitless.errors import BadInput


def _complete_exhibits(incomplete: str) -> list[tuple[str, str]]:
    from hitless_papers.registry import entries

    return [(entry.id, entry.title) for entry in entries() if entry.id.startswith(incomplete)]


@dataclass(frozen=True, slots=True)
class ReproduceOptions:
    """What `hitless reproduce` runs, and how."""

    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            help="Exhibits, as lg/fig8, or a paper for all of its; a few of each paper when none is named.",
            autocompletion=_complete_exhibits,
        ),
    ] = None
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, same parameters; says what it shortened.")] = (
        False
    )
    full: Annotated[bool, typer.Option("--full", help="The papers' own run lengths. May take hours.")] = False
    seed: Seed = 1
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000,
            help="How many seeds, from --seed on. Fewer than 3 give no verdict.",
            show_default="3, 5 with --full, 1 where a quick run takes long",
        ),
    ] = None
    out: Out = None
    json: Json = False
    jobs: Jobs = None
    fresh: Fresh = False
    points: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only runs of this name, such as '*DCTCP 10/40G 95 %'; may be repeated."),
    ] = None
    on: On = None
    tables: Annotated[bool, typer.Option("--tables", help="Show every row, before the summary.")] = False
    list_only: Annotated[bool, typer.Option("--list", help="List the exhibits, and how long each takes.")] = False


@takes(ReproduceOptions)
def reproduce(options: ReproduceOptions) -> int:
    """Measure figures and tables of papers, each number beside the paper's.

    An exhibit is a figure or table of a paper, or an experiment about it.
    Papers: lg (LinkGuardian), sqr, afq, rimm, pd (Simple and Preemptive
    Deflection), all (all five systems together), field (transports of AI
    fabrics), envelope (the maps of `hitless envelope`).

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
    from hitless_papers.cli import reproduce as command
    from hitless_papers.cli import show

    if options.quick and options.full:
        raise BadInput("--quick and --full exclude each other")
    if options.quick and options.fresh:
        raise BadInput("--fresh has nothing to forget", hint="--quick keeps no points")
    if options.list_only:
        show.print_exhibits(json=options.json)
        return 0
    return command.reproduce(options)


@dataclass(frozen=True, slots=True)
class EnvelopeOptions:
    """What `hitless envelope` maps, and how."""

    kind: Annotated[
        str,
        typer.Argument(metavar="MECHANISM", help="As in a scenario: linkguardian, or with settings: afq,ecn_rounds=8."),
    ]
    mechanism: Mechanisms = None
    against: Annotated[
        Literal["lossy-link", "bursts", "cheating-sender", "link-failure"] | None,
        typer.Option(help="Trouble for a mechanism without a map, such as your own.", show_default="the mechanism's"),
    ] = None
    cost: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="SHARE",
            help="Share of the service that it may take, such as 0.05.",
            show_default="the mechanism's, or 0",
        ),
    ] = None
    fine: Annotated[bool, typer.Option("--fine", help="More rates, cables, frames, loads and seeds.")] = False
    random: Annotated[
        int | None, typer.Option(min=1, max=100_000, metavar="N", help="N places drawn by --seed instead of a grid.")
    ] = None
    seed: Seed = 1
    out: Out = None
    json: Json = False
    jobs: Jobs = None
    fresh: Fresh = False


@takes(EnvelopeOptions)
def envelope(options: EnvelopeOptions) -> int:
    """Map where a mechanism helps: rates, cables, frames, loads and transports.

    Examples:

      hitless envelope linkguardian
      hitless envelope sqr --fine --json
      hitless envelope rimm --random 50 --seed 7
      hitless envelope early-drop --mechanism early_drop.py --against bursts

    Each place of the map has the trouble that the mechanism is for, and pairs of
    runs with and without it. It helps, does no harm beyond its stated cost, is
    refused with the reason, or harms. Exit code 1: it harms somewhere.
    """
    from hitless.prototype.kinds import load
    from hitless_papers.cli.envelope import envelope as draw

    load(options.mechanism or [])
    return draw(options)
