"""`hitless bench sweep`."""

from hitless.bench_sweep import bench_sweep
from hitless.terminal.console import print_json, stderr, stdout


def bench(*, points: int, messages: int, rounds: int, json: bool) -> None:
    """Measure, and print a line or the JSON document."""
    with stderr.status(f"a sweep of {points:,} runs, {rounds} times"):
        found = bench_sweep(points, messages, rounds)
    if json:
        print_json(found)
        return
    ends = found["overhead_interval"]
    interval = f" [{ends[0]:.1%}, {ends[1]:.1%}]" if ends else ""
    stdout.print(
        f"a sweep of {found['points']:,} runs of {found['run_ms']:.3g} ms each costs {found['overhead']:.1%}{interval} "
        "more CPU time than its runs"
    )
