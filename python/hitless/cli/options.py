"""Common options, and commands that take their options as one value."""

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from hitless.errors import BadInput
from hitless.quantities import bytes_of

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A scenario file; - for standard input.", allow_dash=True)
]
Seed = Annotated[int, typer.Option(min=0, max=2**53 - 1, help="The same seed gives the same results on every machine.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, and nothing else, on stdout.")]
Out = Annotated[Path | None, typer.Option(help="Folder for the results.", show_default="results/TIME-WHAT")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Simulations in parallel.", show_default="one per core")
]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="PLACE",
        help='"processes", "ray" for a Ray cluster of this machine, or the address of one: ray://head:10001.',
        show_default="threads",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Ignore finished runs, and run everything again.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log more.")]
Order = Annotated[Literal["blocking", "non-blocking"], typer.Option(help="Keep frames in order, or not.")]
P4Commands = Annotated[
    Path | None,
    typer.Option("--commands", metavar="FILE", help="Commands of simple_switch_CLI, run first.", show_default=False),
]
P4Info = Annotated[
    Path | None,
    typer.Option("--p4info", metavar="FILE", help="Output of p4c --p4runtime-files, as text.", show_default=False),
]
P4Runtime = Annotated[
    Path | None,
    typer.Option(
        "--p4runtime", metavar="FILE", help="A p4.v1.WriteRequest as text, run after the commands.", show_default=False
    ),
]
Mechanisms = Annotated[
    list[Path] | None,
    typer.Option(
        "--mechanism",
        metavar="FILE",
        help="A Python file with a mechanism that the scenario names; repeatable.",
        show_default=False,
    ),
]
Transports = Annotated[
    list[Path] | None,
    typer.Option(
        "--transport",
        metavar="FILE",
        help="A Python file with a congestion control that the scenario names; repeatable.",
        show_default=False,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help='Refuse scenarios estimated to need more, and stop a run that does: "3GB".',
        show_default="the machine's",
    ),
]


OptionsType = TypeVar("OptionsType")


def takes(options: type[OptionsType]) -> Callable[[Callable[[OptionsType], int]], Callable[..., None]]:
    """Make a command from a function that takes a dataclass; its fields become arguments and options.

    The function returns the exit code.
    """

    def command_of(work: Callable[[OptionsType], int]) -> Callable[..., None]:
        def command(**given: Any) -> None:
            raise typer.Exit(work(options(**given)))

        command.__name__, command.__doc__ = work.__name__, work.__doc__
        command.__signature__ = inspect.signature(options)  # type: ignore[attr-defined] # typer reads it
        return command

    return command_of


def limit_memory(size: str | None) -> None:
    """Make this process, and its children, refuse scenarios with a higher estimated memory use."""
    if size is None:
        return
    try:
        limit = bytes_of(size)
    except ValueError:
        limit = -1.0
    if limit < 0:
        raise BadInput(f"{size!r} is not a size", where="--memory", hint='"3GB", "500 MB"')
    os.environ["HITLESS_MEMORY"] = str(int(limit))
