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

Name = Annotated[str | None, typer.Option("--name", "-n", help="Which lab; not needed when one is up.")]
Link = Annotated[str, typer.Argument(metavar="LINK", help='sw1-sw2 in that direction, "sw1<->sw2" in both.')]


@dataclass(frozen=True, slots=True)
class UpOptions:
    """How a lab is brought up."""

    scenario: Annotated[
        Path, typer.Argument(metavar="SCENARIO", help="A scenario file; - for standard input.", allow_dash=True)
    ]
    name: Annotated[
        str | None, typer.Option("--name", "-n", help="What to call the lab.", show_default="the scenario's name")
    ] = None
    foreground: Annotated[
        bool, typer.Option("--foreground", "-f", help="Stay in the foreground; Ctrl-C ends the lab.")
    ] = False
    strict: Annotated[bool, typer.Option("--strict", help="Its end exits with 1 when a deadline was missed.")] = False
    record: Annotated[
        Path | None,
        typer.Option(help="Keep frames, commands and decisions here, for hitless lab replay.", show_default=False),
    ] = None
    mode: Annotated[
        Literal["auto", "packet", "xdp", "xdp-zero-copy", "xdp-copy", "xdp-generic"],
        typer.Option(help="How frames cross to the kernel."),
    ] = "packet"
    slack_us: Annotated[float, typer.Option(min=1.0, max=1e6, help="How late a departure may be, in microseconds.")] = (
        1_000.0
    )
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
        typer.Option(min=1e-9, max=1.0, metavar="FACTOR", help="All links this much slower, such as 0.01."),
    ] = None
    ipv6: Annotated[bool, typer.Option("--ipv6", help="Give hosts addresses of IPv6 too: fd00::1, ...")] = False
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Leave results here at the end.", show_default=False)
    ] = None
    json: Json = False


@lab_app.command()
@takes(UpOptions)
def up(options: UpOptions) -> int:
    """Bring a scenario up: hosts, links, mechanisms. Needs root; returns when the lab is up and has tested itself.

    Examples:

      hitless lab up examples/lossy-link.toml
      hitless lab exec h1 -- ping -c 3 h2
      hitless lab down

    A rate that this machine cannot forward is refused; --scale-rates makes all
    links slower. The lab starts no flows: programs do, in its hosts. Their
    addresses are 10.0.0.1, 10.0.0.2, ... in the order of the scenario, and
    inside the hosts their names work too.
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
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Until Ctrl-C, again and again.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Links, hosts and counters with nothing but zeros too.")] = False,
    json: Json = False,
) -> None:
    """Rates, queues and states of links (failed, losing, protected), what mechanisms did, drops, missed deadlines.

    Examples:

      hitless lab status --watch
      hitless lab status --json
    """
    from hitless.cli import lab_status

    lab_status.show(name, watch=watch, every=every, json=json)


@lab_app.command()
def fail(link: Link, name: Name = None) -> None:
    """Cut a link, both ways: what is on it is lost, and its ends find out as the scenario's table recovery says."""
    from hitless.cli import lab
    from hitless.lab.control import Fail

    lab.ask(name, Fail, link=link)


@lab_app.command()
def repair(link: Link, name: Name = None) -> None:
    """Bring a link up again."""
    from hitless.cli import lab
    from hitless.lab.control import Repair

    lab.ask(name, Repair, link=link)


# A rate below zero is no option: it is to be refused as a rate.
@lab_app.command(context_settings={"ignore_unknown_options": True})
def corrupt(
    link: Link,
    rate: Annotated[float, typer.Argument(min=0.0, max=1.0, help="Share of frames, such as 1e-3; 0 for none.")],
    name: Name = None,
    mean_burst: Annotated[
        float | None,
        typer.Option(
            min=1.0, max=1e12, metavar="FRAMES", help="Frames lost in a row, on average; left out: each by itself."
        ),
    ] = None,
) -> None:
    """Make a link lose frames at random, each with the same probability or in bursts (Gilbert and Elliott).

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
    """Switch LinkGuardian on at both ends of a link that the scenario configures it for."""
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
    every: Annotated[bool, typer.Option("--all", help="Every lab.")] = False,
    json: Json = False,
) -> None:
    """End a lab: its programs, its process, its namespaces and links. Also what a killed one has left."""
    from hitless.cli import lab

    raise typer.Exit(lab.down(name, every=every, json=json))


@lab_app.command()
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What hitless lab up --record has kept.")],
    other: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="SCENARIO",
            help="Its switches get the frames, and what becomes of packets is compared, not how.",
            show_default="that of the recording",
        ),
    ] = None,
    mechanism: Mechanisms = None,
    json: Json = False,
) -> None:
    """Repeat a recorded lab in simulation, and compare every decision of its switches: 1 when one differs.

    Examples:

      hitless lab up mine.toml --record mine.recording
      hitless lab down
      hitless lab replay mine.recording
    """
    from hitless.cli import lab

    raise typer.Exit(lab.show_replay(file, other=other, mechanisms=mechanism or [], json=json))


@lab_app.command("list")
def show_list(json: Json = False) -> None:
    """The labs that are up, and those whose process is gone."""
    from hitless.cli import lab

    lab.show_list(json=json)
