"""The folder that a live run leaves: tables, summary and manifest as those of a simulated one, and its last status.

::

    manifest.json     version, machine, times, drops by reason, warnings, and whether it could keep up
    status.json       as `hitless lab status --json`, at the end
    summary.json      of the run, as a simulated one has it
    live/             tables in Parquet, and the effective scenario
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hitless import _native
from hitless.errors import BadInput, HitlessError
from hitless.live import LiveRun, Status
from hitless.machine import describe_machine, source_commit
from hitless.outcome.tables import write_frame

NAME = "live"
"""Of its one run, where a simulated one has that of its point."""


def require_new(folder: Path) -> None:
    """Is there nothing yet, so that it may be written at the end of a run? Raises `BadInput`."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput("there is something already", where=str(folder), hint="choose another folder for results")
    if not folder.absolute().parent.is_dir():
        raise BadInput(f"there is no folder {folder.parent}", where=str(folder))


def write(out: Path, live: LiveRun, status: Status, command: Sequence[str]) -> None:
    """Write what a run that has ended leaves. Raises `HitlessError` where it cannot be written."""
    run = live.run()
    try:
        tables = out / NAME
        tables.mkdir(parents=True, exist_ok=True)
        (tables / f"{NAME}.toml").write_text(run.effective, encoding="utf-8")
        for name, table in run.tables.items():
            write_frame(table, tables / f"{name}.parquet")
        _write_json(out / "status.json", status.values)
        _write_json(out / "summary.json", {"runs": {NAME: run.summary.values}})
        _write_json(out / "manifest.json", _manifest(run.summary.values, status, command))
    except OSError as refused:
        raise HitlessError(f"the results cannot be written: {refused.strerror}", where=str(out)) from refused


def _write_json(path: Path, document: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _manifest(summary: Mapping[str, Any], status: Status, command: Sequence[str]) -> dict[str, Any]:
    wall_s = float(status.values["elapsed_s"])
    described = {
        "name": NAME,
        "seed": summary.get("seed"),
        "scenario": f"{NAME}/{NAME}.toml",
        "wall_s": round(wall_s, 3),
        "is_overloaded": status.is_overloaded,
        "misses": status.misses,
        "drops": status.values["drops"],
        "warnings": status.warnings,
    }
    return {
        "hitless": _native.version(),
        "commit": source_commit(),
        "command": list(command),
        "started": (datetime.now(UTC) - timedelta(seconds=wall_s)).isoformat(timespec="seconds"),
        "wall_s": round(wall_s, 3),
        "machine": describe_machine(),
        "clock": "wall",
        "drops": status.values["drops"],
        "warnings": status.warnings,
        "runs": [described],
    }
