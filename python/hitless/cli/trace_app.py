"""`hitless trace`: arguments and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import takes


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
