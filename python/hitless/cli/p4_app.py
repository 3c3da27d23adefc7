"""`hitless p4`: P4 programs, as p4c compiles them for BMv2. The work is in the module beside this one."""

from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Json

p4_app = typer.Typer(
    no_args_is_help=True, help="Run P4 programs that p4c compiled: their packet tests, and one packet's way."
)

Program = Annotated[
    Path, typer.Argument(metavar="PROGRAM.json", help="What p4c --target bmv2 --arch v1model writes.")
]


@p4_app.command()
def test(
    program: Program,
    tests: Annotated[list[Path], typer.Argument(metavar="TESTS.stf...", help="Packet tests in p4c's STF format.")],
    *,
    json: Json = False,
) -> None:
    """Run packet tests: entries, packets that come in, packets that must leave.

    Each file begins with an empty switch. Exit code 1: a packet left otherwise than expected.

    Examples:

      hitless p4 test forward.json forward.stf
    """
    from hitless.cli import p4

    p4.test(program, tests, json=json)


@p4_app.command()
def trace(
    program: Program,
    packet: Annotated[str, typer.Argument(metavar="HEX", help="The packet's bytes in hexadecimal, without check sequence.")],
    *,
    commands: Annotated[
        Path | None, typer.Option("--commands", metavar="FILE", help="Commands of simple_switch_CLI, run before.")
    ] = None,
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=511, help="Where it comes in.")] = 0,
    json: Json = False,
) -> None:
    """Show one packet's way: parser, tables with key, entry and action, deparser, and what leaves.

    Examples:

      hitless p4 trace forward.json --commands entries.txt --port 1 "ffffffffffff 020000000001 0800 4500..."
    """
    from hitless.cli import p4

    p4.trace(program, packet, commands, port, json=json)
