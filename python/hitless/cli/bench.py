"""`hitless bench`: the speed of the engine."""

from typing import Any

from rich.table import Table

from hitless.bench import BASE, LARGE, WORKS, bench_engine, require_valgrind
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
    works: list[str],
    *,
    rounds: int,
    threads: int,
    seed: int,
    instructions: bool,
    beside: str | None,
    json: bool,
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
