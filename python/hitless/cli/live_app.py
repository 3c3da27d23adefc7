"""`hitless link` and `hitless switch`: arguments and help, to run one and to control a running one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from hitless.cli.options import Json, Order, Verbose, takes
from hitless.errors import BadInput


def switch(
    config: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG]", help="A scenario, and the interfaces of its nodes.")
    ] = None,
    check_only: Annotated[bool, typer.Option("--check", help="Only check CONFIG and print it in full.")] = False,
    print_example: Annotated[bool, typer.Option("--example", help="Print an example configuration.")] = False,
    verbose: Verbose = False,
) -> None:
    """Run a scenario's switches on this box's interfaces, until Ctrl-C (docs/how-to/real-interfaces.md).

    Examples:

      hitless scenario example lossy-link > fabric.toml
      hitless switch --example > switch.toml
      hitless switch switch.toml --check
      hitless switch switch.toml

    SIGHUP reads CONFIG and its scenario again: loss rates and LinkGuardian
    change without losing packets; other changes are refused, and the switch
    continues unchanged. Needs CAP_NET_RAW and CAP_NET_ADMIN.
    """
    from hitless.cli import switch as command

    if print_example:
        command.example()
    elif config is None:
        raise BadInput("no configuration given", hint="hitless switch --example prints one")
    elif check_only:
        command.check(config)
    else:
        raise typer.Exit(command.run(config, verbose=verbose))


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """Options of `hitless link`."""

    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A configuration file, instead of all options.")
    ] = None
    check: Annotated[bool, typer.Option("--check", help="Check FILE, print it with all defaults, and exit.")] = False
    example: Annotated[bool, typer.Option("--example", help="Print an example FILE.")] = False
    inside: Annotated[str | None, typer.Option(metavar="IF", help="The interface to the hosts.")] = None
    outside: Annotated[
        str | None, typer.Option(metavar="IF", help="The interface to the other box: the lossy link.")
    ] = None
    rate: Annotated[
        str | None, typer.Option(help='Rate of the link, such as "1 Gbps": queues build here, not in the link.')
    ] = None
    delay: Annotated[str, typer.Option(help="One-way delay of the link.")] = "100 us"
    answer: Annotated[str, typer.Option(help="Maximum time for both processes to answer, without the delay.")] = "5 ms"
    loss_rate: Annotated[float, typer.Option(min=1e-12, max=0.4, help="Expected loss rate.")] = 1e-3
    target: Annotated[float, typer.Option(min=1e-18, max=0.4, help="Target residual loss rate.")] = 1e-8
    mode: Order = "blocking"
    off: Annotated[bool, typer.Option("--off", help="Only forward, to observe the bare link.")] = False
    set_mtu: Annotated[bool, typer.Option("--set-mtu", help="Raise the MTU of the outside interface as needed.")] = (
        False
    )
    fail_open: Annotated[
        bool, typer.Option(help="Let the kernel forward, unprotected, while this end or the other does not.")
    ] = True
    disconnect: Annotated[
        bool, typer.Option("--disconnect", help="Remove the kernel's path, which stays after the end, and exit.")
    ] = False
    vlan_tags: Annotated[int, typer.Option(min=0, max=2, help="Maximum VLAN tags on a frame.")] = 0
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if a deadline was missed.")] = False
    busy_poll: Annotated[bool, typer.Option("--busy-poll", help="Never sleep: occupies a processor.")] = False
    metrics_port: Annotated[int, typer.Option(min=0, max=65_535, help="Prometheus port on 127.0.0.1; 0 for none.")] = 0


@takes(LinkOptions)
def link(options: LinkOptions) -> int:
    """Protect one end of a real link with LinkGuardian. The other box runs the same command.

    Examples:

      hitless link --inside eth1 --outside eth2 --rate "1 Gbps"
      hitless link --inside eth1 --outside wlan0 --rate "200 Mbps" --delay "2 ms" --loss-rate 1e-2
      hitless link /etc/hitless/link-eth2.toml

    Frames of any kind are encapsulated under a separate EtherType, and arrive in
    order; the hosts do not notice. Give both ends the same rate, delay, loss
    rate and mode.
    """
    from hitless.cli import link as command
    from hitless.switch.link_file import Config, Link, LinkMetrics

    if options.example:
        command.example()
        return 0
    if options.disconnect:
        command.disconnect(options.file, options.outside)
        return 0
    if options.file is not None:
        command.require_alone(inside=options.inside, outside=options.outside, rate=options.rate)
        if options.check:
            command.check_file(options.file)
            return 0
        return command.run_file(options.file)
    command.require_all(inside=options.inside, outside=options.outside, rate=options.rate)
    # The types of the options have checked the values.
    given = {name: getattr(options, name) for name in Link.model_fields if name != "active"}
    link = Link.model_construct(**given, active=not options.off)
    return command.run(Config(link=link, metrics=LinkMetrics(port=options.metrics_port)))


class _RunsByDefault(TyperGroup):
    """Arguments that do not begin with a command are arguments of ``run``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command in front."""
        first = args[0] if args else ""
        if first not in self.commands and first not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


_LINK = """Protect one end of a real link with LinkGuardian; check its interfaces, control a running one.

Examples:

  hitless link check --inside eth1 --outside eth2 --rate "1 Gbps"
  hitless link --inside eth1 --outside eth2 --rate "1 Gbps"
  hitless link /etc/hitless/link-eth2.toml
  hitless link status
  hitless link unprotect

`hitless link ...` means `hitless link run ...`: its options are in its --help.
"""
_SWITCH = """Run a scenario's switches on this box's interfaces, and control a running one.

Examples:

  hitless switch switch.toml
  hitless switch status --json
  hitless switch protect sw1-sw2 --copies 2

`hitless switch ...` means `hitless switch run ...`: its options are in its --help.
"""

link_app = typer.Typer(cls=_RunsByDefault, help=_LINK)
switch_app = typer.Typer(cls=_RunsByDefault, help=_SWITCH)
link_app.command("run")(link)
switch_app.command("run")(switch)

LinkName = Annotated[
    str | None, typer.Option("--name", "-n", help="Its outside interface; optional if only one link runs.")
]
SwitchName = Annotated[
    str | None, typer.Option("--name", "-n", help="Its file without .toml; optional if only one switch runs.")
]
Where = Annotated[str, typer.Argument(metavar="LINK", help='sw1-sw2 in this direction, "sw1<->sw2" in both.')]
Copies = Annotated[
    int | None, typer.Option(min=1, max=255, help="Copies sent of each lost frame.", show_default="as last set")
]
Mode = Annotated[
    Literal["blocking", "non-blocking"] | None,
    typer.Option(help="Keep frames in order, or not.", show_default="as last set"),
]


@link_app.command("check")
def link_check(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="The file of hitless link.")] = None,
    inside: Annotated[str | None, typer.Option(metavar="IF", help="The interface to the hosts.")] = None,
    outside: Annotated[str | None, typer.Option(metavar="IF", help="The interface to the other box.")] = None,
    rate: Annotated[str | None, typer.Option(help='Rate of the link, such as "1 Gbps".')] = None,
    set_mtu: Annotated[bool, typer.Option("--set-mtu", help="hitless link will raise the MTU as needed.")] = False,
    vlan_tags: Annotated[int, typer.Option(min=0, max=2, help="Maximum VLAN tags on a frame.")] = 0,
    json: Json = False,
) -> None:
    """Check MTU, master, carrier, rate and offloads of both interfaces, and the other end.

    Examples:

      hitless link check --inside eth1 --outside eth2 --rate "1 Gbps"
      hitless link check /etc/hitless/link-eth2.toml

    A line for each property: ok, note, warning or error, and the command that
    mends it. hitless link refuses to start with an error, and logs warnings.
    Changes nothing, and can run next to hitless link. Exit code 1: there is a
    warning or an error.
    """
    from hitless.cli import link as command

    given: dict[str, Any] = {
        "inside": inside,
        "outside": outside,
        "rate": rate,
        "set_mtu": set_mtu,
        "vlan_tags": vlan_tags,
    }
    raise typer.Exit(command.check_interfaces(file, json=json, **given))


@link_app.command("status")
def link_status(name: LinkName = None, json: Json = False) -> None:
    """Show the state and mode of both directions, their losses, drops with reasons, and times of changes.

    Examples:

      hitless link status
      hitless link status --json

    The JSON document is described in docs/reference/live-control.md.
    """
    from hitless.cli import live_control

    live_control.show("link", name, json=json)


@link_app.command("protect")
def link_protect(name: LinkName = None, copies: Copies = None, mode: Mode = None, json: Json = False) -> None:
    """Protect the frames that this end sends; run it on the other box for frames from there.

    Examples:

      hitless link protect
      hitless link protect --copies 2 --mode non-blocking
    """
    from hitless.cli import live_control

    live_control.protect("link", name, None, copies, mode, json=json)


@link_app.command("unprotect")
def link_unprotect(name: LinkName = None, json: Json = False) -> None:
    """Stop protecting the frames that this end sends; they still cross the link."""
    from hitless.cli import live_control

    live_control.unprotect("link", name, None, json=json)


@switch_app.command("status")
def switch_status(name: SwitchName = None, json: Json = False) -> None:
    """Show each link with LinkGuardian: state, mode, losses; drops with reasons, and times of changes.

    Examples:

      hitless switch status
      hitless switch status --json

    The JSON document is described in docs/reference/live-control.md.
    """
    from hitless.cli import live_control

    live_control.show("switch", name, json=json)


@switch_app.command("protect")
def switch_protect(
    where: Where, name: SwitchName = None, copies: Copies = None, mode: Mode = None, json: Json = False
) -> None:
    """Switch LinkGuardian on at this switch's ends of a link; the scenario must configure it there.

    Examples:

      hitless switch protect sw1-sw2
      hitless switch protect "sw1<->sw2" --copies 2 --mode non-blocking
    """
    from hitless.cli import live_control

    live_control.protect("switch", name, where, copies, mode, json=json)


@switch_app.command("unprotect")
def switch_unprotect(where: Where, name: SwitchName = None, json: Json = False) -> None:
    """Switch LinkGuardian off at this switch's ends of a link."""
    from hitless.cli import live_control

    live_control.unprotect("switch", name, where, json=json)
