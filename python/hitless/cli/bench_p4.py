"""`hitless bench p4`: the speed of P4 programs."""

import json as encoding
import statistics
from pathlib import Path
from typing import Any

from rich.table import Table

from hitless import _native
from hitless.cli.p4_files import Entries, packet_bytes, read_program, refusals
from hitless.numbers import format_number
from hitless.terminal.console import print_json, stdout

_PACKET = "020000000101 020000000001 0800 4500001c00010000401165cb0a0000010a000105 0001000200080000"


def bench(program: Path, entries: Entries, packet: str | None, *, packets: int, json: bool) -> None:
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
