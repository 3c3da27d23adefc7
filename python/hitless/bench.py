"""The speed of the engine and of switch disciplines, in packets per CPU second and instructions per packet.

For the engine, a packet is a transmission: one packet, data or ACK, crossing one link. Callgrind counts the
instructions, unaffected by other load on the machine; the difference between two run lengths removes fixed costs.
"""

import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hitless.analysis import paired_ratio
from hitless.errors import HitlessError

WORKS = {
    "A": "128 hosts, a permutation, 1400 packets a flow",
    "B": "320 hosts, 640 random flows of 700 packets",
    "C": "64 senders to one host, 350 packets each",
    "fat-tree-128": "as D, 128 hosts",
    "fat-tree-1024": "as D, 1,024 hosts",
    "D": "a fat tree of 8,192 hosts, a permutation, 172 packets a flow",
    "E": "as D, 65,536 hosts",
    "F": "B with LinkGuardian, AFQ and Preemptive Deflection",
    "W": "wide TCP: a fat tree of 8,192 hosts at 100 Gb/s, 1 MiB a flow, all at once",
    "strict": "B with two queues of strict priority at each port",
    "linkguardian": "A with two protected links that corrupt packets",
    "afq": "A with AFQ at all ports",
    "deflection": "C with Preemptive Deflection at all ports",
    "linkguardian-64": "B with LinkGuardian on 64 directions that corrupt nothing",
    "sqr-64": "B with SQR on 64 directions that never fail",
    "autopsy": "B with autopsies of all messages",
}

LARGE = ("D", "E", "W")
"""Workloads that take minutes; they only run when named."""

BASE = "B"
"""The workload that others are compared with, run by run."""

LOADS = {"high": "90 %", "over": "150 %"}
"""Offered load, relative to the rate of the port that all flows cross."""

_FRACTIONS = (0.25, 0.5)
_SWITCH_FRACTIONS = (0.02, 0.06)
_REPEATS = 3


def bench_engine(
    works: Sequence[str],
    seed: int,
    *,
    rounds: int = _REPEATS,
    threads: int = 1,
    instructions: bool = False,
    beside: str | None = None,
) -> list[dict[str, Any]]:
    """Measure workloads; ``instructions`` adds a slow count by callgrind.

    Each run has its own process that contains only the simulator, to measure its own peak of memory. A round runs every
    workload, ``BASE`` and the program ``beside`` once, one after the other, so that other load on the machine affects
    all of them. The run with the minimum CPU time represents a workload; a ratio compares the two runs of a round, over
    all rounds.

    With several ``threads``, a round also runs every workload on this many threads. Their minimum time counts, and is
    compared with the single-threaded run of the same round. Both must produce the same trace.
    """
    order = list(dict.fromkeys([*works, BASE]))
    runs: dict[str, list[dict[str, Any]]] = {work: [] for work in order}
    together: dict[str, list[dict[str, Any]]] = {work: [] for work in works}
    peer: list[float] = []
    for _ in range(rounds):
        for work in order:
            runs[work].append(_run_alone(work, 1.0, seed))
            if threads > 1 and work in together:
                together[work].append(_run_alone(work, 1.0, seed, threads))
        if beside is not None:
            peer.append(_peer_cpu_s(beside))
    measured = []
    for work in works:
        best = min(runs[work], key=lambda run: float(run["cpu_s"]))
        below, above = (_each(runs[name], "ns_per_transmission") for name in (BASE, work))
        best.update(_ratio("ratio_to_base", below, above))
        if together[work]:
            best.update(_of_threads(runs[work], together[work], threads))
        if peer:
            best.update({"peer_cpu_s": min(peer)}, **_ratio("peer_ratio", _each(runs[work], "cpu_s"), peer))
        best["instructions_per_transmission"] = instructions_per_transmission(work, seed) if instructions else None
        measured.append(best)
    return measured


def _of_threads(runs: list[dict[str, Any]], together: list[dict[str, Any]], threads: int) -> dict[str, Any]:
    """Return the time of the runs on several threads, and their speedup over one thread, run by run."""
    if len({run["trace_hash"] for run in [*runs, *together]}) > 1:
        raise HitlessError(f"workload {runs[0]['work']} produced another trace on {threads} threads")
    alone, beside = (_each(part, "run_wall_s") for part in (runs, together))
    return {
        "threads": threads,
        "threads_wall_s": min(beside),
        "threads_cpu_s": min(_each(together, "cpu_s")),
        "threads_speedup": min(alone) / min(beside),
        **_ratio("threads_ratio", beside, alone),
    }


def _each(runs: list[dict[str, Any]], key: str) -> list[float]:
    return [float(run[key]) for run in runs]


def _ratio(name: str, below: Sequence[float], above: Sequence[float]) -> dict[str, Any]:
    """Return the ratio of pairs of runs, with its 95 % interval if there is more than one pair."""
    found = paired_ratio(below, above)
    ends = None if found.interval is None else [found.interval.low, found.interval.high]
    return {name: found.estimate, f"{name}_interval": ends}


def _peer_cpu_s(command: str) -> float:
    """Return the CPU seconds, user and system, of another program and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(shlex.split(command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    except (OSError, ValueError) as error:
        raise HitlessError(
            f"cannot run {command!r}: {error}", hint="--beside takes a command and its arguments"
        ) from error
    if done.returncode != 0:
        raise HitlessError(f"{command!r} failed", where=_last_line(done.stderr.decode(errors="replace")))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def instructions_per_transmission(work: str, seed: int) -> float:
    """Return the instructions that an additional transmission costs."""
    calls = (f"bench_engine({work!r}, {fraction!r}, {seed!r})" for fraction in _FRACTIONS)
    return _instructions_each("transmissions", calls, f"workload {work}")


def bench_switch(discipline: str, load: str, seed: int, *, instructions: bool) -> dict[str, Any]:
    """Measure a discipline or mechanism in one switch; ``instructions`` adds a slow count by callgrind."""
    runs = [_alone(_switch_call(discipline, load, 1.0, seed), discipline) for _ in range(_REPEATS)]
    measured = min(runs, key=lambda run: float(run["cpu_s"]))
    measured["instructions_per_packet"] = _instructions_per_packet(discipline, load, seed) if instructions else None
    return measured


def compare(measured: list[dict[str, Any]], bases: dict[str, str]) -> None:
    """Add the cost of each relative to its base: by instructions if counted, otherwise by CPU time."""
    cost = {(item["discipline"], item["load"]): _cost(item) for item in measured}
    for item in measured:
        base = cost.get((bases[item["discipline"]], item["load"]))
        item["base"] = bases[item["discipline"]]
        item["ratio_to_base"] = _cost(item) / base if base else None


def _cost(measured: dict[str, Any]) -> float:
    instructions = measured["instructions_per_packet"]
    return float(instructions if instructions is not None else 1.0 / measured["packets_per_cpu_s"])


def _switch_call(discipline: str, load: str, fraction: float, seed: int) -> str:
    return f"bench_switch({discipline!r}, {load!r}, {fraction!r}, {seed!r})"


def _instructions_per_packet(discipline: str, load: str, seed: int) -> float:
    calls = (_switch_call(discipline, load, fraction, seed) for fraction in _SWITCH_FRACTIONS)
    return _instructions_each("packets", calls, discipline)


def _instructions_each(counted: str, calls: Iterable[str], what: str) -> float:
    """Return the instructions for each additional unit, from a short and a long run."""
    require_valgrind()
    (short, before), (long, after) = (_counted(call, what) for call in calls)
    return (long - short) / (int(after[counted]) - int(before[counted]))


def require_valgrind() -> None:
    """Raise an error that says how to get valgrind if it is missing."""
    if shutil.which("valgrind") is None:
        raise HitlessError(
            "valgrind is missing, and --instructions needs it",
            hint="Debian: apt-get install valgrind; or omit --instructions",
        )


def _run_alone(work: str, fraction: float, seed: int, threads: int = 1) -> dict[str, Any]:
    """Run part of a workload in a process that does nothing else."""
    return _alone(f"bench_engine({work!r}, {fraction!r}, {seed!r}, {threads!r})", f"workload {work}")


def _alone(call: str, what: str, under: Sequence[str] = ()) -> dict[str, Any]:
    """Make a call in a process that does nothing else, under another program if one is given."""
    program = f"from hitless import _native; print(_native.{call})"
    command = [*under, sys.executable, "-X", "frozen_modules=on", "-c", program]
    # A fixed hash seed makes both runs spend the same on starting Python. Pages of 2 MB, as in `./hitless`.
    environment = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"} | os.environ | {"PYTHONHASHSEED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise HitlessError(f"the run of {what} failed", where=_last_line(done.stderr))
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def _counted(call: str, what: str) -> tuple[int, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "callgrind.out"
        measured = _alone(call, what, ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}"])
        return parse_callgrind_total(counts.read_text(encoding="utf-8")), measured


def parse_callgrind_total(text: str) -> int:
    """Read the instructions of a whole process from callgrind's output file."""
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name in {"totals", "summary"}:
            return int(value.split()[0])
    raise HitlessError("callgrind's output has no total")


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["(no output)"])[-1]
