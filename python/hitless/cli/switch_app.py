"""`hitless switch` and `hitless link`: arguments and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Order, Verbose, takes
from hitless.errors import BadInput


def switch(
    config: Annotated[
        Path | None,
        typer.Argument(metavar="[CONFIG]", help="A scenario, and the interfaces of its nodes."),
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
