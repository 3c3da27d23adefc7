"""`hitless bench switch`: the cost per packet of disciplines and mechanisms."""

from typing import Any

from rich.table import Table

from hitless import _native
from hitless.bench import LOADS, bench_switch, compare, require_valgrind
from hitless.errors import BadInput
from hitless.numbers import format_number
from hitless.terminal.console import print_json, stderr, stdout


def bench(discipline: str | None, *, seed: int, instructions: bool, json: bool) -> None:
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
        _print_table(measured)


def _with_base(discipline: str, bases: dict[str, str]) -> list[str]:
    if discipline not in bases:
        raise BadInput(f"there is no discipline {discipline!r}", rule=f"one of {', '.join(bases)}")
    return list(dict.fromkeys((bases[discipline], discipline)))


def _measure(name: str, load: str, seed: int, *, instructions: bool) -> dict[str, Any]:
    slow = ", then twice under callgrind" if instructions else ""
    with stderr.status(f"running {name} at {LOADS[load]}{slow}"):
        return bench_switch(name, load, seed, instructions=instructions)


def _print_table(measured: list[dict[str, Any]]) -> None:
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
