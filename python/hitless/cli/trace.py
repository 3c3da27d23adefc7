"""`hitless trace`: the way of one packet, and timelines."""

from pathlib import Path

from hitless.captures.way import listed, told, ways_of_flow
from hitless.cli.reading_app import TraceOptions
from hitless.errors import BadInput, reason
from hitless.quantities import seconds_of
from hitless.terminal.console import print_note, print_text
from hitless.timeline.write import Selection, tables_in, write_timeline

_NS_PER_S = 1e9


def trace(options: TraceOptions) -> int:
    if (options.packet is None) == (options.perfetto is None):
        raise BadInput("give either --packet or --perfetto", where="hitless trace", hint="hitless trace --help")
    if options.packet is not None:
        _follow(options.run, options.packet)
    elif options.perfetto is not None:
        _write(options, options.perfetto)
    return 0


def _follow(run: Path, packet: str) -> None:
    flow, number = _numbers(packet)
    ways = ways_of_flow(run, flow)
    if number is not None and number >= len(ways):
        hint = f"flow {flow} has {len(ways)} packets in the capture, counted from 0"
        raise BadInput(f"packet {number} does not exist", where="--packet", hint=hint)
    print_text("\n".join(listed(ways) if number is None else told(ways[number])))


def _numbers(text: str) -> tuple[int, int | None]:
    flow, _, number = text.partition(":")
    if flow.isdecimal() and (number.isdecimal() or ":" not in text):
        return int(flow), int(number) if number else None
    raise BadInput(
        f"'{text}' does not name a packet", where="--packet", hint="write FLOW:N, as 3:17, or FLOW for a list"
    )


def _write(options: TraceOptions, path: Path) -> None:
    until_ns = None if options.until is None else _nanoseconds(options.until, "--until")
    selection = Selection(_nanoseconds(options.start, "--from"), until_ns, options.group or (), options.events)
    if until_ns is not None and until_ns <= selection.from_ns:
        raise BadInput("the timeline ends before it starts", where="--until", hint="give a later --until")
    tables = tables_in(options.run)
    unknown = sorted({*selection.groups} - {*tables["flows"]["group"]})
    if unknown:
        known = ", ".join(sorted({*tables["flows"]["group"]}))
        raise BadInput(f"unknown group '{unknown[0]}'", where="--group", hint=f"the run has: {known}")
    try:
        written = write_timeline(tables, path, selection)
    except OSError as refused:
        raise BadInput(f"cannot write the timeline: {reason(refused)}", where=str(path)) from refused
    if written.events < written.found:
        shown_us = written.until_ns / 1_000
        print_note(
            f"cut at {shown_us:,.3f} us: the limit is {options.events:,} events, and there are {written.found:,}"
        )
    print_note(f"{path}: {written.events:,} events on {written.tracks:,} tracks; open it at ui.perfetto.dev")


def _nanoseconds(text: str, option: str) -> int:
    try:
        return round(seconds_of(text) * _NS_PER_S)
    except ValueError as refused:
        raise BadInput(str(refused), where=option, hint='write a number and a unit, as "1.5 ms"') from refused
