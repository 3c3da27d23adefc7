"""`hitless corruptd`: the daemon, and its configuration."""

from pathlib import Path
from typing import Annotated

import typer

from hitless.cli.options import Verbose

corruptd_app = typer.Typer(no_args_is_help=True, help="Run a daemon that finds corrupting links and protects them.")

ConfigFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The daemon's configuration: docs/reference/corruptd.md.")
]


@corruptd_app.command("run")
def run_corruptd(
    file: ConfigFile,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing, and say what would be done.")] = False,
    verbose: Verbose = False,
) -> None:
    """Run the daemon until SIGTERM or Ctrl-C; protection then stays as it is. SIGHUP reads FILE again.

    Examples:

      hitless corruptd example > corruptd.toml
      hitless corruptd run corruptd.toml --dry-run
    """
    from hitless.cli import corruptd

    corruptd.run(file, dry_run=dry_run, verbose=verbose)


@corruptd_app.command("check")
def check_corruptd(file: ConfigFile) -> None:
    """Check a configuration, and print it with every default spelled out."""
    from hitless.cli import corruptd

    corruptd.check(file)


@corruptd_app.command("example")
def corruptd_example() -> None:
    """Print a configuration to begin with."""
    from hitless.cli import corruptd

    corruptd.example()
