"""`hitless report`, `hitless why` and `hitless trace`, which read results: arguments and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from hitless.cli.options import Json, takes


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of `hitless report`."""

    folder: Annotated[Path, typer.Argument(help="A folder of results.", file_okay=False)]
    figure: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The plot, or the exhibit, to draw.", show_default="list the plots"),
    ] = None
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A .pdf, .png or .svg file.", show_default="NAME.pdf")
    ] = None
    width: Annotated[str, typer.Option(help="one-column (3.33 inches), two-column (7 inches), or inches.")] = (
        "one-column"
    )
    height: Annotated[float | None, typer.Option(help="Inches.", show_default="the shape of a figure")] = None
    font: Annotated[str | None, typer.Option(help="Name of a font.", show_default="matplotlib's")] = None
    font_size: Annotated[float, typer.Option(help="Points.")] = 8.0
    x_label: Annotated[str | None, typer.Option(help="Label of the x axis.", show_default="the plot's")] = None
    y_label: Annotated[str | None, typer.Option(help="Label of the y axis.", show_default="the plot's")] = None
    label: Annotated[
        list[str] | None, typer.Option(metavar="SERIES=TEXT", help="Another name in the legend; may be repeated.")
    ] = None
    legend: Annotated[str, typer.Option(help='above, none, or a place in the axes such as "upper left".')] = "above"
    intervals: Annotated[Literal["bars", "band", "none"], typer.Option(help="Form of the 95 % intervals.")] = "bars"
    hpcc_fct: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the run's completion times in the form of HPCC's fct.txt instead.",
            show_default=False,
        ),
    ] = None


@takes(ReportOptions)
def report(options: ReportOptions) -> int:
    """List the plots of a results folder, or draw one as a figure for a paper.

    Examples:

      hitless report results/20261121-081500-reproduce
      hitless report results/20261121-081500-reproduce --figure lg/fig8 --out fig8.pdf
      hitless report results/20261121-081500-run-mine --hpcc-fct fct.txt
      hitless report out --figure lg-fig8-1 --width 3.2 --font "Times New Roman" --label none="no protection"

    The plots of an exhibit are numbered: fig8-1.pdf, fig8-2.pdf.
    Figures need matplotlib: pip install 'hitless[figures]'.
    """
    from hitless.cli import report as command

    return command.report(options)


@dataclass(frozen=True, slots=True)
class WhyOptions:
    """Options of `hitless why`."""

    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A folder of results with an autopsy.", file_okay=False)]
    flow: Annotated[
        int | None, typer.Argument(metavar="[FLOW]", help="Number of a flow.", show_default="the slowest flows", min=0)
    ] = None
    number: Annotated[
        int | None, typer.Option(help="Number of the flow's message, from 0.", show_default="the slowest", min=0)
    ] = None
    group: Annotated[str | None, typer.Option(help="Explain this group of flows only.", show_default="all groups")] = (
        None
    )
    slowest: Annotated[int, typer.Option(help="Number of messages to explain.", min=1)] = 5
    query: Annotated[
        int | None, typer.Option(help="Explain this query of an incast.", show_default="messages", min=0)
    ] = None
    queries: Annotated[bool, typer.Option("--queries", help="Explain queries of incasts instead of messages.")] = False
    json: Json = False


@takes(WhyOptions)
def why(options: WhyOptions) -> int:
    """Explain why flows were slow: their completion times, divided along the critical path.

    Examples:

      hitless run slow.toml --out out     # slow.toml has [measure] autopsy = true
      hitless why out
      hitless why out 31
      hitless why out --query 12

    Without a flow, it explains the slowest messages in a sentence each, and divides the median and the tail.
    """
    from hitless.cli import why as command

    return command.why(options)


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """Options of `hitless trace`."""

    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder of results, or a capture in it.")]
    packet: Annotated[
        str | None,
        typer.Option(
            metavar="FLOW[:N]",
            help="Follow packet N of a flow, counted from 0; without N, list the flow's packets.",
            show_default="no packet",
        ),
    ] = None
    perfetto: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a timeline for ui.perfetto.dev.", show_default="no timeline"),
    ] = None
    start: Annotated[str, typer.Option("--from", metavar="TIME", help="Start of the timeline.")] = "0 s"
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="End of the timeline.", show_default="the end of the run")
    ] = None
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Group of flows in the timeline; may be repeated.", show_default="all"),
    ] = None
    events: Annotated[int, typer.Option(min=1, help="Maximum number of events in the timeline.")] = 10_000_000


@takes(TraceOptions)
def trace(options: TraceOptions) -> int:
    """Follow one packet through the captures of a run, or write the run's timeline.

    A packet needs a capture in the scenario, for example [[measure.capture]] with links = ["*"] and ports = ["*"].
    Both directions of a flow are counted, by the first place that saw a packet.
    Packets with equal transport headers, such as repeated acknowledgements, are shown together.

    A timeline shows flows, messages, failures, and the samples of [measure]: queues, windows, rates.

    Examples:

      hitless trace results/20261121-081500-run-mine --packet 3
      hitless trace results/20261121-081500-run-mine --packet 3:17
      hitless trace results/20261121-081500-run-mine --perfetto mine.pftrace --from "1 ms" --until "3 ms"
    """
    from hitless.cli import trace as command

    return command.trace(options)
