"""`hitless bench`: the speed of the engine."""

from typing import Any

from rich.table import Table

from hitless.bench import WORKS, bench_engine, require_valgrind
from hitless.cli.console import print_json, stderr, stdout
from hitless.errors import BadInput
from hitless.exhibits.numbers import format_number

_COLUMNS = {
    "work": "work",
    "transmissions": "transmissions",
    "transmissions_per_cpu_s": "per CPU second",
    "instructions_per_transmission": "instructions each",
    "events": "events",
    "cpu_s": "CPU s",
    "wall_s": "wall s",
    "peak_rss_bytes": "peak MB",
    "flows_done": "flows done",
    "drops": "drops",
    "simulated_s": "simulated s",
}


def bench(work: str | None, *, seed: int, instructions: bool, json: bool) -> None:
    """Measure one workload, or all when none is named."""
    works = list(WORKS) if work is None else [_known(work)]
    if instructions:
        require_valgrind()
    measured = [_measure(name, seed, instructions=instructions) for name in works]
    if json:
        print_json(measured if work is None else measured[0])
    else:
        _print_table(measured)


def _known(work: str) -> str:
    known = next((name for name in WORKS if name.upper() == work.upper()), None)
    if known is None:
        listing = "; ".join(f"{name}: {text}" for name, text in WORKS.items())
        raise BadInput(f"there is no workload {work!r}", rule=f"one of {', '.join(WORKS)}", hint=listing)
    return known


def _measure(work: str, seed: int, *, instructions: bool) -> dict[str, Any]:
    slow = ", then twice under callgrind, which takes a minute or so" if instructions else ""
    with stderr.status(f"running work {work}{slow}"):
        return bench_engine(work, seed, instructions=instructions)


def _print_table(measured: list[dict[str, Any]]) -> None:
    table = Table("", *(item["work"] for item in measured))
    for column in table.columns[1:]:
        column.justify = "right"
    for key, title in list(_COLUMNS.items())[1:]:
        table.add_row(title, *(_cell(key, item.get(key)) for item in measured))
    stdout.print(table)


def _cell(key: str, value: float | None) -> str:
    if key == "peak_rss_bytes" and value is not None:
        return format_number(value / 1e6)
    return f"{value:,}" if isinstance(value, int) else format_number(value)
