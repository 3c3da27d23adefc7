"""`hitless corruptd`: running the daemon, checking its configuration, an example."""

from pathlib import Path

from hitless.corruptd.config import EXAMPLE, read_config
from hitless.corruptd.service import Service
from hitless.service.process import log_to_stderr, signals
from hitless.terminal.console import print_note, print_text


def run(path: Path, *, dry_run: bool, verbose: bool) -> None:
    """Run the daemon until it is told to stop. What it does goes to stderr."""
    log_to_stderr(verbose=verbose)
    service = Service(path, dry_run=dry_run)
    with signals(service):
        service.run()


def check(path: Path) -> None:
    """Print the configuration with every default spelled out, or refuse it."""
    config = read_config(path)
    config.check_surroundings(str(path))
    config.make_bus().close()
    print_text(config.model_dump_json(indent=2))
    for warning in config.warnings():
        print_note(f"warning: {path}: {warning}")
    links = f"{len(config.watch)} links watched, {len(config.guard)} guarded"
    print_note(f"{path}: sound; {links}; what is above is its effective configuration")


def example() -> None:
    """Print a configuration to begin with."""
    print_text(EXAMPLE)
