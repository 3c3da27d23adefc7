"""Description of the machine that made a result, for the manifest."""

import functools
import os
import platform
import subprocess
from pathlib import Path

from hitless import _native

_PACKAGE = Path(__file__).resolve().parent


def describe_machine() -> dict[str, str | int | None]:
    """Return processor, cores, memory that a run can take, kernel and Python."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "memory_limit_bytes": _native.memory_limit(),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


@functools.cache  # the code that runs is the code at the start
def source_commit() -> str | None:
    """Return the commit of this program's checkout, with "+" if it was modified; None outside a checkout."""
    try:
        top = Path(_git("rev-parse", "--show-toplevel"))
        if top / "python" / "hitless" != _PACKAGE:  # another project's checkout, into which hitless was installed
            return None
        return _git("rev-parse", "--short=9", "HEAD") + ("+" if _git("status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*words: str) -> str:
    git = ["git", "-C", str(_PACKAGE), *words]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())
