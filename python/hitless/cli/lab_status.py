"""`hitless lab status`: live counters, once or repeatedly."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hitless.cli.grid import status_table
from hitless.errors import HitlessError
from hitless.lab import client
from hitless.lab.control import Status
from hitless.terminal.console import print_json, print_note, stdout

_PERIOD_S = 0.5
_OVERHEAD_BYTES = 24
"""Overhead of a frame on the wire that is not counted: check sequence, preamble and gap."""

Values = Mapping[str, Any]


def show(name: str | None, *, watch: bool, every: bool, json: bool) -> None:
    """Print the status, with rates over half a second, once or until Ctrl-C or the end of the lab."""
    record = client.living(name)
    name = record.plan.name
    rates = {
        link: rate_bps
        for plan in record.plan.links
        for link, rate_bps in zip((plan.name, plan.reverse), plan.rates_bps, strict=True)
    }
    status: Values = client.ask(name, Status())
    if json:
        print_json(status)
        return
    before, status = status, _later(name)
    if not watch:
        stdout.print(view(status, before, rates, every=every))
        return
    first = view(status, before, rates, every=every)
    with Live(first, console=stdout, auto_refresh=False, screen=stdout.is_terminal) as display:
        while True:
            try:
                before, status = status, _later(name)
            except HitlessError:
                print_note(f"the lab {name} has ended")
                return
            display.update(view(status, before, rates, every=every), refresh=True)


def _later(name: str | None) -> Values:
    time.sleep(_PERIOD_S)
    return client.ask(name, Status())


def view(status: Values, before: Values, rates_bps: Mapping[str, int], *, every: bool) -> RenderableType:
    """Return tables for a terminal; rates are relative to ``before``. Rows of zeros need ``every``."""
    shown = status if every else _without_zeros(status)
    parts: list[RenderableType] = [_headline(status)]
    tables = (
        _links(shown, before, rates_bps),
        _states(status),
        _ports(shown),
        _mechanisms(shown, every=every),
        _drops(status),
    )
    parts += [table for table in tables if table.row_count]
    left = [len(status[name]) - len(shown[name]) for name in ("links", "ports")]
    if any(left):
        parts.append(f"without a frame, and not shown: {left[0]} links and {left[1]} hosts (--all)")
    return Group(*parts, *(f"warning: {warning}" for warning in status["warnings"]))


def _without_zeros(status: Values) -> Values:
    """Return only links and hosts with traffic or a special state."""
    states = status.get("states", {})
    links = [link for link in status["links"] if link["frames_sent"] or link["link"] in states]
    ports = [port for port in status["ports"] if port["frames_received"] + port["frames_sent"] or port.get("failed")]
    return {**status, "links": links, "ports": ports}


def _headline(status: Values) -> str:
    timers = status["timers"]
    misses = timers["misses"] + sum(port["departures"]["misses"] for port in status["ports"])
    overload = "[bold red]overloaded[/]" if status["is_overloaded"] else "keeps up"
    return (
        f"up for {status['elapsed_s']:.0f} s   {overload}   deadlines missed: {misses}   "
        f"frames in flight: {status['frames_inside']}"
    )


def _links(status: Values, before: Values, rates_bps: Mapping[str, int]) -> Table:
    earlier = {link["link"]: link for link in before["links"]}
    elapsed_s = max(status["elapsed_s"] - before["elapsed_s"], 1e-9)
    table = status_table("link", "of rate", "frames/s", "Mb/s", "queue, KB", "frames", "corrupted", "lost down")
    for link in status["links"]:
        since = earlier[link["link"]]
        frames = (link["frames_arrived"] - since["frames_arrived"]) / elapsed_s
        byte_rate = (link["arrived_bytes"] - since["arrived_bytes"]) / elapsed_s
        wire_bps = 8 * (byte_rate + frames * _OVERHEAD_BYTES)
        queue = "" if link["queue_bytes"] is None else f"{link['queue_bytes'] / 1e3:.1f}"
        table.add_row(
            link["link"],
            f"{wire_bps / rates_bps[link['link']]:.1%}",
            f"{frames:,.0f}",
            f"{8 * byte_rate / 1e6:,.1f}",
            queue,
            f"{link['frames_arrived']:,}",
            _if_any(link["frames_corrupted"]),
            _if_any(link["frames_lost_down"]),
        )
    return table


def _states(status: Values) -> Table:
    table = status_table("link", "state", left=2)
    for link, state in status.get("states", {}).items():
        table.add_row(link, Text(state))
    return table


def _ports(status: Values) -> Table:
    table = status_table("host", "mode", "in", "out", "overrun", "refused", "late p99.9, us", "latest, us", "missed")
    for port in status["ports"]:
        late = port["departures"]
        table.add_row(
            port["node"],
            port.get("failed") or port["mode"].partition(",")[0],
            f"{port['frames_received']:,}",
            f"{port['frames_sent']:,}",
            _if_any(port["frames_overrun"]),
            _if_any(port["frames_refused"] + port["frames_discarded"] + port["frames_merged"]),
            f"{late['p999_ns'] / 1e3:.0f}",
            f"{late['worst_ns'] / 1e3:.0f}",
            _if_any(late["misses"]),
        )
    return table


def _mechanisms(status: Values, *, every: bool) -> Table:
    table = status_table("switch", "mechanism", "at", "counter", "value", left=4)
    for switch, mechanism, scope, counter, label, value in status["mechanisms"]:
        if every or (value and not counter.startswith("resources_")):
            table.add_row(switch, mechanism, scope, label, f"{value:,}")
    return table


def _drops(status: Values) -> Table:
    table = status_table("lost in the fabric", "packets")
    for reason, count in _counted(status["drops"]):
        table.add_row(reason, f"{count:,}")
    return table


def _counted(counts: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    return ((reason, count) for reason, count in counts.items() if count)


def _if_any(count: int) -> str:
    return f"[red]{count:,}[/]" if count else ""
