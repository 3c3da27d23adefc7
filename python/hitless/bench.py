"""The speed of the engine: transmissions per CPU second, and instructions per transmission.

A transmission is one packet, data or ACK, crossing one link. Instructions are counted by callgrind, which a busy
machine does not disturb; the difference of two run lengths leaves out everything that a run costs once.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hitless import _native
from hitless.errors import HitlessError

WORKS = {
    "A": "128 hosts, a permutation, 1400 packets a flow",
    "B": "320 hosts, 640 random flows of 700 packets",
    "C": "64 senders to one host, 350 packets each",
}

_FRACTIONS = (0.25, 0.5)


def bench_engine(work: str, seed: int, *, instructions: bool) -> dict[str, Any]:
    """Measure a workload; ``instructions`` adds a slow count by callgrind."""
    try:
        measured: dict[str, Any] = json.loads(_native.bench_engine(work, 1.0, seed))
    except _native.SimulationError as failed:
        raise HitlessError(str(failed), where=f"bench engine {work}") from failed
    measured["instructions_per_transmission"] = instructions_per_transmission(work, seed) if instructions else None
    return measured


def instructions_per_transmission(work: str, seed: int) -> float:
    """Instructions that one more transmission costs."""
    require_valgrind()
    short, long = (_count(work, fraction, seed) for fraction in _FRACTIONS)
    return (long[0] - short[0]) / (long[1] - short[1])


def require_valgrind() -> None:
    """Say how to get valgrind where it is missing."""
    if shutil.which("valgrind") is None:
        raise HitlessError(
            "valgrind is missing, and --instructions counts with it",
            hint="Debian: apt-get install valgrind; or leave --instructions out",
        )


def _count(work: str, fraction: float, seed: int) -> tuple[int, int]:
    """Instructions and transmissions of a process that does nothing but run part of a workload."""
    program = f"from hitless import _native; print(_native.bench_engine({work!r}, {fraction!r}, {seed!r}))"
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "callgrind.out"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}"]
        command += [sys.executable, "-X", "frozen_modules=on", "-c", program]
        # A fixed hash seed: the two runs must spend the same on starting Python.
        environment = os.environ | {"PYTHONHASHSEED": "0"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if done.returncode != 0:
            raise HitlessError("the run under callgrind failed", where=_last_line(done.stderr))
        return parse_callgrind_total(counts.read_text(encoding="utf-8")), _transmissions(done.stdout)


def parse_callgrind_total(text: str) -> int:
    """The instructions of a whole process, from callgrind's output file."""
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name in {"totals", "summary"}:
            return int(value.split()[0])
    raise HitlessError("callgrind's output has no total")


def _transmissions(output: str) -> int:
    return int(json.loads(output)["transmissions"])


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["(no output)"])[-1]
