"""The machine a result was made on, for the manifest."""

import os
import platform
from pathlib import Path


def describe_machine() -> dict[str, str | int]:
    """Processor, cores, kernel and Python."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())
