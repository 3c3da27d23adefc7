"""`hitless bench`: arguments and help. The work is done in other modules."""

from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Json, P4Commands, P4Info, P4Runtime, Seed

bench_app = typer.Typer(no_args_is_help=True, help="Measure the speed of hitless itself.")


@bench_app.command()
def engine(
    works: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORK]...",
            help="A to F, W, fat-tree-128, fat-tree-1024, strict, linkguardian, afq, deflection, linkguardian-64, "
            "sqr-64, autopsy; the default is all but D, E and W, which take minutes.",
        ),
    ] = None,
    instructions: Annotated[
        bool, typer.Option("--instructions", help="Count instructions per transmission with valgrind (slow).")
    ] = False,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; each runs every workload once.")] = 3,
    threads: Annotated[
        int, typer.Option(min=1, max=1024, help="Also run each on N threads, and compare the wall time.")
    ] = 1,
    beside: Annotated[
        str | None, typer.Option(metavar="CMD", help="Another program to run in each round; its CPU time is compared.")
    ] = None,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Measure packet transmissions per CPU second; one packet, data or ACK, crossing one link counts as one.

    Examples:

      hitless bench engine
      hitless bench engine A --instructions --json
      hitless bench engine B D --threads 2
      hitless bench engine B --rounds 9 --beside "./peer workload-b.txt"
    """
    from hitless.cli.bench import bench

    bench(works or [], rounds=rounds, threads=threads, seed=seed, instructions=instructions, beside=beside, json=json)


@bench_app.command("switch")
def bench_switch(
    discipline: Annotated[
        str | None, typer.Argument(metavar="[DISCIPLINE]", help="Discipline or mechanism; all if omitted.")
    ] = None,
    instructions: Annotated[
        bool, typer.Option("--instructions", help="Count instructions per packet with valgrind (slow).")
    ] = False,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Measure the cost per packet of queueing disciplines and mechanisms, in a switch with 64 flows through one port.

    Examples:

      hitless bench switch
      hitless bench switch ideal-fq --instructions --json
    """
    from hitless.cli.bench import bench_disciplines

    bench_disciplines(discipline, seed=seed, instructions=instructions, json=json)


@bench_app.command("sweep")
def measure_sweep(
    points: Annotated[int, typer.Option(min=10, help="Runs of the sweep, ten seeds at each loss rate.")] = 1000,
    messages: Annotated[int, typer.Option(min=1, help="Messages of a run, about 4 us each.")] = 10_000,
    rounds: Annotated[int, typer.Option(min=1, help="Number of measurements.")] = 3,
    json: Json = False,
) -> None:
    """Measure the overhead of a sweep over the sum of its runs, in CPU time on one thread.

    Examples:

      hitless bench sweep
      hitless bench sweep --points 200 --messages 5000 --json
    """
    from hitless.bench_sweep import bench_sweep
    from hitless.terminal.console import print_json, stderr, stdout

    with stderr.status(f"a sweep of {points:,} runs, {rounds} times"):
        found = bench_sweep(points, messages, rounds)
    if json:
        print_json(found)
        return
    ends = found["overhead_interval"]
    interval = f" [{ends[0]:.1%}, {ends[1]:.1%}]" if ends else ""
    stdout.print(
        f"a sweep of {found['points']:,} runs of {found['run_ms']:.3g} ms each costs {found['overhead']:.1%}{interval} "
        "more CPU time than its runs"
    )


@bench_app.command()
def live(
    only: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Part of a device's name; all if omitted.")
    ] = None,
    trial: Annotated[float, typer.Option(min=0.1, help="Seconds of one trial with packets.")] = 1.0,
    tcp: Annotated[float, typer.Option(min=1.0, help="Seconds of TCP.")] = 5.0,
    json: Json = False,
) -> None:
    """Measure throughput, packet rate, delay and loss between two network namespaces, next to the kernel's bridge.

    Needs root and iperf3.

    Examples:

      hitless bench live
      hitless bench live bridge "switch, packet" --trial 0.5
    """
    from hitless.cli.bench_live import bench

    bench(only or [], trial_s=trial, tcp_s=tcp, json=json)


@bench_app.command("p4")
def bench_p4(
    program: Annotated[Path, typer.Argument(metavar="PROGRAM.json", help="Output of p4c for BMv2's v1model.")],
    *,
    commands: P4Commands = None,
    p4info: P4Info = None,
    p4runtime: P4Runtime = None,
    packet: Annotated[
        str | None, typer.Option(metavar="HEX", help="The input packet.", show_default="UDP from 10.0.0.1 to 10.0.1.5")
    ] = None,
    packets: Annotated[int, typer.Option(min=1, help="Packets in each of five rounds.")] = 1_000_000,
    json: Json = False,
) -> None:
    """Measure the packets per CPU second of a P4 program, from parser to deparser, without a network.

    Examples:

      hitless bench p4 forward.json --commands forward.txt
    """
    from hitless.cli.bench import bench_program
    from hitless.cli.p4_files import Entries

    bench_program(program, Entries(commands, p4info, p4runtime), packet, packets=packets, json=json)
