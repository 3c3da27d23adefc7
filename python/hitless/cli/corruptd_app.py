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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report the actions.")] = False,
    verbose: Verbose = False,
) -> None:
    """Run the daemon until SIGTERM or Ctrl-C; protection then stays as it is. SIGHUP reads FILE again.

    Examples:

      hitless corruptd example > corruptd.toml
      hitless corruptd run corruptd.toml --dry-run
    """
    from hitless.corruptd.service import Service
    from hitless.service.process import log_to_stderr, signals

    log_to_stderr(verbose=verbose)
    service = Service(file, dry_run=dry_run)
    with signals(service):
        service.run()


@corruptd_app.command("check")
def check_corruptd(file: ConfigFile) -> None:
    """Check a configuration, and print it with every default spelled out."""
    from hitless.corruptd.config import read_config
    from hitless.terminal.console import print_note, print_text

    config = read_config(file)
    config.check_surroundings(str(file))
    config.make_bus().close()
    print_text(config.model_dump_json(indent=2))
    for warning in (*config.warnings(), *config.unreachable()):
        print_note(f"warning: {file}: {warning}")
    links = f"{len(config.watch)} links watched, {len(config.guard)} guarded"
    print_note(f"{file}: valid; {links}; effective configuration above")


@corruptd_app.command("example")
def corruptd_example() -> None:
    """Print an example configuration."""
    from hitless.corruptd.config import EXAMPLE
    from hitless.terminal.console import print_text

    print_text(EXAMPLE)
