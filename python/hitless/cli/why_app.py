"""`hitless why`: arguments and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Json, takes


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
    json: Json = False


@takes(WhyOptions)
def why(options: WhyOptions) -> int:
    """Explain why flows were slow: their completion times, divided along the critical path.

    Examples:

      hitless run slow.toml --out out     # slow.toml has [measure] autopsy = true
      hitless why out
      hitless why out 31

    Without a flow, it explains the slowest messages in a sentence each, and divides the median and the tail.
    """
    from hitless.cli import why as command

    return command.why(options)
