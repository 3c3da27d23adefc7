"""`hitless lab status`: live counters, once or again and again."""

import time
from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table

from hitless.cli.console import print_json, stdout
from hitless.lab import client
from hitless.lab.control import Status

_PERIOD_S = 0.5


def show(name: str | None, *, watch: bool, json: bool) -> None:
    """Print the status, or keep printing it until Ctrl-C or the end of the lab."""
    status = client.ask(name, Status())
    if json:
        print_json(status)
        return
    if not watch:
        stdout.print(view(status, None))
        return
    with Live(view(status, None), console=stdout, auto_refresh=False, screen=stdout.is_terminal) as display:
        while True:
            time.sleep(_PERIOD_S)
            before, status = status, client.ask(name, Status())
            display.update(view(status, before), refresh=True)


def view(status: Mapping[str, Any], before: Mapping[str, Any] | None) -> RenderableType:
    """Tables for a terminal; rates are since ``before``, or since the start."""
    return Group(_links(status, before))


def _links(status: Mapping[str, Any], before: Mapping[str, Any] | None) -> Table:
    return Table()
