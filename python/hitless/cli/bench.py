"""`hitless bench`: the speed of the engine, of disciplines and mechanisms, and of P4 programs."""

import json as encoding
import statistics
from pathlib import Path
from typing import Any

from rich.table import Table

from hitless import _native
from hitless.bench import BASE, LARGE, LOADS, WORKS, bench_engine, bench_switch, compare, require_valgrind
from hitless.cli.p4_files import Entries, packet_bytes, read_program, refusals
from hitless.errors import BadInput
from hitless.numbers import format_number
from hitless.terminal.console import print_json, stderr, stdout

_COLUMNS = {
    "work": "work",
    "transmissions": "transmissions",
    "transmissions_per_cpu_s": "per CPU second",
    "ns_per_transmission": "ns each",
    "ratio_to_base": f"ns, over {BASE}'s",
    "threads_wall_s": "wall s on threads",
    "threads_cpu_s": "CPU s on threads",
    "threads_speedup": "times as fast, best of each",
    "threads_ratio": "times as fast, round by round",
    "peer_cpu_s": "CPU s of the peer",
    "peer_ratio": "CPU s of the peer, over ours",
    "instructions_per_transmission": "instructions each",
    "events": "events",
    "cpu_s": "CPU s",
    "wall_s": "wall s",
    "hosts": "hosts",
    "rest_bytes_per_host": "bytes a host at rest",
    "peak_rss_bytes": "peak MB",
    "flows_done": "flows done",
    "drops": "drops",
    "simulated_s": "simulated s",
}


def bench(
    works: list[str], *, rounds: int, threads: int, seed: int, instructions: bool, beside: str | None, json: bool
) -> None:
    """Measure the named workloads; the default is all but the large ones."""
    names = [_known(work) for work in works] or [work for work in WORKS if work not in LARGE]
    if instructions:
        require_valgrind()
    slow = ", then each twice under callgrind, which takes a minute or so" if instructions else ""
    with stderr.status(f"running {', '.join(names)} in {rounds} rounds{slow}"):
        measured = bench_engine(names, seed, rounds=rounds, threads=threads, instructions=instructions, beside=beside)
    if json:
        print_json(measured[0] if len(works) == 1 else measured)
    else:
        _print_table(measured)


def _known(work: str) -> str:
    known = next((name for name in WORKS if name.upper() == work.upper()), None)
    if known is None:
        listing = "; ".join(f"{name}: {text}" for name, text in WORKS.items())
        raise BadInput(f"there is no workload {work!r}", rule=f"one of {', '.join(WORKS)}", hint=listing)
    return known


def _print_table(measured: list[dict[str, Any]]) -> None:
    table = Table("", *(item["work"] for item in measured))
    for column in table.columns[1:]:
        column.justify = "right"
    for key, title in list(_COLUMNS.items())[1:]:
        if any(key in item for item in measured):
            table.add_row(title, *(_cell(key, item) for item in measured))
    stdout.print(table)


def _cell(key: str, item: dict[str, Any]) -> str:
    value, ends = item.get(key), item.get(f"{key}_interval")
    if key == "peak_rss_bytes" and value is not None:
        return format_number(value / 1e6)
    if isinstance(value, int):
        return f"{value:,}"
    return format_number(value) + (f" [{format_number(ends[0])}, {format_number(ends[1])}]" if ends else "")


def bench_disciplines(discipline: str | None, *, seed: int, instructions: bool, json: bool) -> None:
    """Measure a discipline and its base, or all if none is named."""
    bases = dict(_native.bench_switch_disciplines())
    names = list(bases) if discipline is None else _with_base(discipline, bases)
    if instructions:
        require_valgrind()
    measured = [_measure(name, load, seed, instructions=instructions) for name in names for load in LOADS]
    compare(measured, bases)
    if json:
        print_json(measured)
    else:
        _print_disciplines(measured)


def _with_base(discipline: str, bases: dict[str, str]) -> list[str]:
    if discipline not in bases:
        raise BadInput(f"there is no discipline {discipline!r}", rule=f"one of {', '.join(bases)}")
    return list(dict.fromkeys((bases[discipline], discipline)))


def _measure(name: str, load: str, seed: int, *, instructions: bool) -> dict[str, Any]:
    slow = ", then twice under callgrind" if instructions else ""
    with stderr.status(f"running {name} at {LOADS[load]}{slow}"):
        return bench_switch(name, load, seed, instructions=instructions)


def _print_disciplines(measured: list[dict[str, Any]]) -> None:
    table = Table("discipline", "load", "packets per\nCPU second", "instructions\neach", "cost", "of", "drops")
    for column in table.columns[2:]:
        column.justify = "right"
    for item in measured:
        ratio = item["ratio_to_base"]
        table.add_row(
            item["discipline"],
            LOADS[item["load"]],
            format_number(item["packets_per_cpu_s"]),
            format_number(item["instructions_per_packet"]),
            "" if ratio is None else f"{ratio:.2f} x",
            item["base"],
            f"{item['drops']:,}",
        )
    stdout.print(table)


_PACKET = "020000000101 020000000001 0800 4500001c00010000401165cb0a0000010a000105 0001000200080000"


def bench_program(program: Path, entries: Entries, packet: str | None, *, packets: int, json: bool) -> None:
    """Measure the program: the median of five rounds with ``packets`` packets each."""
    data, document = packet_bytes(_PACKET if packet is None else packet), read_program(program)
    commands, runtime = entries.files()
    with refusals(program):
        rounds = [encoding.loads(_native.p4_bench(document, commands, runtime, 1, data, packets)) for _ in range(5)]
    rates = [done["packets"] / done["cpu_s"] for done in rounds]
    measured: dict[str, Any] = {
        "program": str(program),
        "packets_per_cpu_s": statistics.median(rates),
        "lowest": min(rates),
        "highest": max(rates),
        "left": rounds[0]["left"],
    }
    if json:
        print_json([measured])
        return
    table = Table("program", "packets per\nCPU second", "lowest", "highest", "left")
    rate = [format_number(measured[name]) for name in ("packets_per_cpu_s", "lowest", "highest")]
    table.add_row(program.name, *rate, f"{measured['left']:,} of {packets:,}")
    stdout.print(table)
