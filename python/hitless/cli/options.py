"""Options that many commands have."""

from pathlib import Path
from typing import Annotated

import typer

Seed = Annotated[int, typer.Option(min=0, max=2**53 - 1, help="Same seed, same results, on every machine.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout, and nothing else there.")]
Out = Annotated[Path | None, typer.Option(help="Folder for the results.", show_default="results/TIME-WHAT")]
Mechanisms = Annotated[
    list[Path] | None,
    typer.Option(
        "--mechanism",
        metavar="FILE",
        help="A Python file with a mechanism that the scenario names; may be repeated.",
        show_default=False,
    ),
]
