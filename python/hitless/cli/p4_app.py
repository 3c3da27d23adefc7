"""`hitless p4`: P4 programs, as p4c compiles them for BMv2. The work is done in other modules."""

from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Json, Out, P4Commands, P4Info, P4Runtime, Seed

p4_app = typer.Typer(
    no_args_is_help=True, help="Run P4 programs that p4c compiled: packet tests, the path of a packet, a whole fabric."
)

Program = Annotated[Path, typer.Argument(metavar="PROGRAM.json", help="Output of p4c --target bmv2 --arch v1model.")]


@p4_app.command("test")
def run_tests(
    program: Program,
    tests: Annotated[list[Path], typer.Argument(metavar="TESTS.stf...", help="Packet tests in p4c's STF format.")],
    *,
    json: Json = False,
) -> None:
    """Run packet tests: table entries, input packets, expected output packets.

    Each file begins with an empty switch. Exit code 1: a packet did not leave as expected.

    Examples:

      hitless p4 test forward.json forward.stf
    """
    from hitless.cli import p4

    p4.test(program, tests, json=json)


@p4_app.command()
def trace(
    program: Program,
    packet: Annotated[str, typer.Argument(metavar="HEX", help="The packet in hexadecimal, without check sequence.")],
    *,
    commands: P4Commands = None,
    p4info: P4Info = None,
    p4runtime: P4Runtime = None,
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=511, help="Ingress port.")] = 0,
    json: Json = False,
) -> None:
    """Show the path of a packet: parser, tables with key, entry and action, deparser, and output.

    Examples:

      hitless p4 trace forward.json --commands entries.txt --port 1 "ffffffffffff 020000000001 0800 4500..."
    """
    from hitless.cli import p4
    from hitless.cli.p4_files import Entries

    p4.trace(program, packet, Entries(commands, p4info, p4runtime), port, json=json)


@p4_app.command()
def run(
    program: Program,
    *,
    topology: Annotated[str, typer.Option(help='"leaf-spine", "fat-tree", "dumbbell" or "chain".')] = "leaf-spine",
    routes: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE:ACTION:PORT[:ADDRESS]",
            help="A table with an entry for each host, its action, and the parameters for port and next hop.",
            show_default=False,
        ),
    ] = None,
    commands: P4Commands = None,
    p4info: P4Info = None,
    p4runtime: P4Runtime = None,
    load: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Load on the hosts' links, by TCP flows of 20 KB.")
    ] = 0.2,
    duration: Annotated[str, typer.Option(help="Time during which flows start.")] = "5 ms",
    show: Annotated[bool, typer.Option("--print", help="Print the scenario instead of running it.")] = False,
    seed: Seed = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run the program on all switches of a fabric, under TCP flows.

    Examples:

      hitless p4 run forward.json --routes ipv4_lpm:ipv4_forward:port:dstAddr
      hitless p4 run forward.json --topology fat-tree --commands entries.txt --print > mine.toml
      hitless p4 run forward.json --p4info forward.p4info.txtpb --p4runtime entries.txtpb
    """
    from hitless.cli import p4_run
    from hitless.cli.p4_files import Entries

    entries = Entries(commands, p4info, p4runtime)
    text = p4_run.scenario(program, topology, routes, entries, load=load, duration=duration)
    raise typer.Exit(p4_run.run(text, program, show=show, seed=seed, out=out, json=json))
