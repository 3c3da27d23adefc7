"""`hitless lab`: arguments and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from hitless.cli.options import Json, Mechanisms, Order, takes

lab_app = typer.Typer(
    no_args_is_help=True,
    help="Run real programs over a scenario: its hosts as network namespaces (docs/how-to/labs.md).",
)

Name = Annotated[str | None, typer.Option("--name", "-n", help="Name of the lab; by default, your only one.")]
Link = Annotated[str, typer.Argument(metavar="LINK", help='sw1-sw2 in this direction, "sw1<->sw2" in both.')]


@dataclass(frozen=True, slots=True)
class UpOptions:
    """Options for starting a lab."""

    scenario: Annotated[
        Path, typer.Argument(metavar="SCENARIO", help="A scenario file; - for standard input.", allow_dash=True)
    ]
    name: Annotated[
        str | None, typer.Option("--name", "-n", help="Name of the lab.", show_default="the scenario's name")
    ] = None
    foreground: Annotated[
        bool, typer.Option("--foreground", "-f", help="Stay in the foreground; Ctrl-C ends the lab.")
    ] = False
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if a deadline was missed.")] = False
    record: Annotated[
        Path | None,
        typer.Option(help="File to record frames, commands and decisions for hitless lab replay.", show_default=False),
    ] = None
    mode: Annotated[
        Literal["auto", "packet", "xdp", "xdp-zero-copy", "xdp-copy", "xdp-generic"],
        typer.Option(help="Path of frames to the kernel."),
    ] = "packet"
    slack_us: Annotated[
        float, typer.Option(min=1.0, max=1e6, help="Maximum lateness of a departure in microseconds.")
    ] = 1_000.0
    real_time: Annotated[
        bool, typer.Option("--real-time", help="Run before all other programs of this machine (SCHED_RR).")
    ] = False
    congestion: Annotated[
        str | None,
        typer.Option(help="TCP congestion control of every host, such as bbr.", show_default="the scenario's"),
    ] = None
    mechanism: Mechanisms = None
    scale_rates: Annotated[
        float | None,
        typer.Option(min=1e-9, max=1.0, metavar="FACTOR", help="Multiply the rates of all links, such as by 0.01."),
    ] = None
    ipv6: Annotated[bool, typer.Option("--ipv6", help="Also give hosts IPv6 addresses: fd00::1, ...")] = False
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder for results at the end.", show_default=False)
    ] = None
    json: Json = False


@lab_app.command()
@takes(UpOptions)
def up(options: UpOptions) -> int:
    """Bring a scenario up: hosts, links, mechanisms. Needs root; returns when the lab is up and has tested itself.

    Examples:

      hitless scenario example lossy-link --write
      hitless lab up lossy-link.toml
      hitless lab exec h1 -- ping -c 3 h2
      hitless lab down

    A rate that this machine cannot forward is refused; --scale-rates makes all
    links slower. The lab does not start flows: programs in its hosts do. The
    hosts' addresses are 10.0.0.1, 10.0.0.2, ... in the scenario's order, and
    their names work inside the hosts.
    """
    from hitless.cli import lab

    return lab.up(options)


@lab_app.command("exec", context_settings={"allow_interspersed_args": False})
def execute(
    host: Annotated[str, typer.Argument(metavar="HOST", help="A host of the lab.")],
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[--] CMD...", help="A program and its arguments.")
    ] = None,
    name: Name = None,
) -> None:
    """Run a program in a host, with this terminal and its own exit code.

    Examples:

      hitless lab exec h1 -- ping -c 3 h2
      hitless lab exec h2 -- bash
    """
    from hitless.cli import lab

    lab.execute(name, host, command or [])


@lab_app.command()
def status(
    name: Name = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Repeat until Ctrl-C.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Include links, hosts and counters that are all zero.")] = False,
    json: Json = False,
) -> None:
    """Show rates, queues and states of links (failed, losing, protected), mechanisms, drops, missed deadlines.

    Examples:

      hitless lab status --watch
      hitless lab status --json
    """
    from hitless.cli import lab_status

    lab_status.show(name, watch=watch, every=every, json=json)


@lab_app.command()
def fail(link: Link, name: Name = None) -> None:
    """Cut a link in both directions, losing frames in flight; the ends detect it as set in [recovery]."""
    from hitless.cli import lab
    from hitless.lab.control import Fail

    lab.ask(name, Fail, link=link)


@lab_app.command()
def repair(link: Link, name: Name = None) -> None:
    """Bring a link up again."""
    from hitless.cli import lab
    from hitless.lab.control import Repair

    lab.ask(name, Repair, link=link)


# A negative rate must be refused as a rate, not parsed as an option.
@lab_app.command(context_settings={"ignore_unknown_options": True})
def corrupt(
    link: Link,
    rate: Annotated[float, typer.Argument(min=0.0, max=1.0, help="Share of frames, such as 1e-3; 0 stops the loss.")],
    name: Name = None,
    mean_burst: Annotated[
        float | None,
        typer.Option(
            min=1.0,
            max=1e12,
            metavar="FRAMES",
            help="Mean number of frames lost in a row; default: independent losses.",
        ),
    ] = None,
) -> None:
    """Make a link lose frames at random, independently or in bursts (Gilbert and Elliott).

    Examples:

      hitless lab corrupt sw1-sw2 1e-3
      hitless lab corrupt sw1-sw2 1e-3 --mean-burst 4
    """
    from hitless.cli import lab
    from hitless.lab.control import Corrupt

    lab.ask(name, Corrupt, link=link, rate=rate, mean_burst_frames=mean_burst)


@lab_app.command()
def protect(
    link: Link,
    name: Name = None,
    copies: Annotated[int, typer.Option(min=1, max=16, help="Copies sent of each lost frame.")] = 1,
    mode: Order = "blocking",
) -> None:
    """Switch LinkGuardian on at both ends of a link; the scenario must configure it there."""
    from hitless.cli import lab
    from hitless.lab.control import Protect

    lab.ask(name, Protect, link=link, copies=copies, mode=mode)


@lab_app.command()
def unprotect(link: Link, name: Name = None) -> None:
    """Switch LinkGuardian off again at both ends of a link."""
    from hitless.cli import lab
    from hitless.lab.control import Unprotect

    lab.ask(name, Unprotect, link=link)


@lab_app.command()
def down(
    name: Name = None,
    every: Annotated[bool, typer.Option("--all", help="All labs that you started.")] = False,
    json: Json = False,
) -> None:
    """Stop a lab: its programs, its process, its namespaces and links. Also clean up after a killed lab."""
    from hitless.cli import lab

    raise typer.Exit(lab.down(name, every=every, json=json))


@lab_app.command()
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Recording by hitless lab up --record.")],
    other: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="SCENARIO",
            help="Another scenario for the recorded frames; only the fate of packets is compared.",
            show_default="the recording's",
        ),
    ] = None,
    mechanism: Mechanisms = None,
    json: Json = False,
) -> None:
    """Repeat a recorded lab in simulation, and compare every decision of its switches; exit with 1 if one differs.

    Examples:

      hitless lab up mine.toml --record mine.recording
      hitless lab down
      hitless lab replay mine.recording
    """
    from hitless.cli import lab

    raise typer.Exit(lab.show_replay(file, other=other, mechanisms=mechanism or [], json=json))


@lab_app.command("list")
def show_list(json: Json = False) -> None:
    """List the labs that are up, and those with a dead process."""
    from hitless.cli import lab

    lab.show_list(json=json)
