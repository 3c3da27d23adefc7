"""`status`, `protect` and `unprotect` of a running `hitless link` or `hitless switch`."""

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from hitless.cli.grid import status_table
from hitless.service import running
from hitless.service.control import made
from hitless.terminal.console import print_json, print_note, stdout

_SETTLE_S = 2.0
"""Maximum wait for the answer of the other end."""
_LOOK_S = 0.05
_WAY = {"outgoing": "to the peer", "incoming": "from the peer"}

Values = Mapping[str, Any]
_table = partial(status_table, collapse_padding=True)


def show(program: running.Program, name: str | None, *, json: bool) -> None:
    status = running.choose(name, program).ask(running.Status())
    if json:
        print_json(status)
    else:
        stdout.print(view(status))


def protect(
    program: running.Program, name: str | None, link: str | None, copies: int | None, mode: str | None, *, json: bool
) -> None:
    """Switch protection on, and print the result once the other end has answered."""
    request = made(running.Protect, {"link": link, "copies": copies, "mode": mode})
    _command(running.choose(name, program), request, json=json)


def unprotect(program: running.Program, name: str | None, link: str | None, *, json: bool) -> None:
    """Switch protection off, and print the result once the other end has answered."""
    _command(running.choose(name, program), made(running.Unprotect, {"link": link}), json=json)


def _command(target: running.Running, request: running.Protect | running.Unprotect, *, json: bool) -> None:
    status = target.ask(request)
    until_s = time.monotonic() + _SETTLE_S
    while _waits(status) and time.monotonic() < until_s:
        time.sleep(_LOOK_S)
        status = target.ask(running.Status())
    if json:
        print_json(status)
        return
    for link in status["protected_links"]:
        print_note(f"{_named(status, link)}: {_sentence(link)}")
    if _waits(status):
        trouble = (status["peer"] or {}).get("trouble") or "does hitless run there?"
        print_note(f"warning: the other end has not answered yet: {trouble}")


def _named(status: Values, link: Values) -> str:
    """Return the direction in words for `hitless link`, otherwise the name of the link."""
    return _WAY[link["direction"]] if status["program"] == "link" else link["link"]


def _waits(status: Values) -> bool:
    return any(link["state"] in {"starting", "ending", "waiting"} for link in status["protected_links"])


def _sentence(link: Values) -> str:
    copies = link["copies"]
    told = f", {copies} {'copy' if copies == 1 else 'copies'} of each lost frame" if copies else ""
    return f"{link['state']}, {link['mode']}{told if link['state'] != 'dormant' else ''}"


def view(status: Values) -> RenderableType:
    tables = (_links(status), _interfaces(status), _drops(status))
    warnings = (f"warning: {warning}" for warning in status["warnings"])
    return Group(_headline(status), *_peer(status), *(table for table in tables if table.row_count), *warnings)


def _headline(status: Values) -> str:
    overload = "[bold red]overloaded[/]" if status["is_overloaded"] else "keeps up"
    return (
        f"{status['program']} {status['name']}: up for {status['elapsed_s']:.0f} s   {overload}   "
        f"deadlines missed: {status['deadline_misses']}   process {status['pid']}   {status['file'] or ''}"
    ).rstrip()


def _peer(status: Values) -> Iterator[str]:
    peer = status["peer"]
    if peer is not None:
        answers = "agrees" if peer["answers"] else "[bold red]does not agree[/]"
        by = {"hitless": "hitless forwards", "kernel": "the kernel forwards, unprotected", "nobody": "frames are lost"}
        yield f"the peer {answers} since {_local(peer['since'])}: {by[peer['forwarded_by']]}"
        if peer["trouble"] is not None:
            yield f"[bold red]warning:[/] {escape(peer['trouble'])}"


def _links(status: Values) -> Table:
    table = _table("link", "state", "mode", "since", "copies", "packets", "link lost", "repaired", "lost", left=4)
    for link in status["protected_links"]:
        table.add_row(
            _named(status, link),
            link["state"],
            link["mode"],
            _local(link["since"]),
            *(_number(link[name]) for name in ("copies", "packets", "lost_on_link", "recovered", "lost_end_to_end")),
        )
    return table


def _interfaces(status: Values) -> Table:
    table = _table("node", "interface", "state", "last frame", "large TCP buffers", "in", "out", left=5)
    for port in status["interfaces"]:
        state = "gone" if not port["is_usable"] else "up" if port["has_carrier"] else "no carrier"
        buffers = port["large_buffers"].partition(":")[0].partition(";")[0]
        counts = (_number(port["frames_received"]), _number(port["frames_sent"]))
        table.add_row(port["node"], port["interface"], state, _local(port["last_frame_at"]), buffers, *counts)
    return table


def _drops(status: Values) -> Table:
    table = _table("dropped", "frames")
    for reason, count in _reasons(status):
        table.add_row(reason, f"{count:,}")
    return table


def _reasons(status: Values) -> Iterator[tuple[str, int]]:
    yield from status["drops"].items()
    for row in status["kernel_drops"]:
        for way in ("received", "sent"):
            if row[way]:
                yield f"by the kernel, {way} at {row['interface']}", row[way]


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _local(moment: str | None) -> str:
    """Return a time of today without its date."""
    if moment is None:
        return "-"
    at = datetime.fromisoformat(moment).astimezone()
    is_today = at.date() == datetime.now(UTC).astimezone().date()
    return f"{at:%H:%M:%S}" if is_today else f"{at:%Y-%m-%d %H:%M:%S}"
