"""`hitless link` and its subcommand: arguments and help."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hitless.cli.options import Json
from hitless.cli.switch_app import link


class _RunsByDefault(TyperGroup):
    """Arguments that do not begin with a command are arguments of ``run``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command in front."""
        first = args[0] if args else ""
        if first not in self.commands and first not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


_LINK = """Protect one end of a real link with LinkGuardian, or check its interfaces.

Examples:

  hitless link check --inside eth1 --outside eth2 --rate "1 Gbps"
  hitless link --inside eth1 --outside eth2 --rate "1 Gbps"
  hitless link /etc/hitless/link-eth2.toml

`hitless link ...` means `hitless link run ...`: its options are in its --help.
"""

link_app = typer.Typer(cls=_RunsByDefault, help=_LINK)
link_app.command("run")(link)


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
    """Check MTU, carrier, rate and offloads of both interfaces, and the other end, before hitless link starts.

    Examples:

      hitless link check --inside eth1 --outside eth2 --rate "1 Gbps"
      hitless link check /etc/hitless/link-eth2.toml

    A line for each property: ok, note, warning or error, and the command that
    mends it. hitless link refuses to start with an error, and logs warnings.
    Changes nothing, and can run next to hitless link. Exit code 1: there is a
    warning or an error.
    """
    from hitless.cli import link_check as command

    given: dict[str, Any] = {
        "inside": inside,
        "outside": outside,
        "rate": rate,
        "set_mtu": set_mtu,
        "vlan_tags": vlan_tags,
    }
    raise typer.Exit(command.run(file, json=json, **given))
