"""The results folder of a live run: tables, summary and manifest as in a simulated run, and its last status.

::

    manifest.json     version, machine, times, drops by reason, warnings, and whether it could keep up
    status.json       as in `hitless lab status --json`, at the end
    summary.json      summary of the run, as in a simulated run
    live/             tables in Parquet, the effective scenario, and captures of packets, written during the run
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hitless import _native
from hitless.errors import BadInput, reason
from hitless.live import LiveRun, Status
from hitless.machine import describe_machine, source_commit
from hitless.outcome.run import Run
from hitless.outcome.schema import schema_version
from hitless.outcome.slowdowns import with_slowdowns
from hitless.outcome.tables import write_frame

NAME = "live"
"""Name of its only run; a simulated run is named after its point."""
_DOCUMENTS = ("status.json", "summary.json", "manifest.json")


def require_new(folder: Path) -> None:
    """Require an unused path that can be written at the end of a run. Raises `BadInput`."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput("this path already exists", where=str(folder), hint="choose another folder for results")
    if not folder.absolute().parent.is_dir():
        raise BadInput(f"there is no folder {folder.parent}", where=str(folder))


def captures_of(out: Path) -> Path:
    """Return the folder for captures of packets."""
    return out / NAME


def discard(out: Path) -> None:
    """Remove the files of captures of a lab that did not come up."""
    for file in captures_of(out).glob("*.pcapng"):
        file.unlink(missing_ok=True)
    _remove_empty(out)


def _remove_empty(out: Path) -> None:
    for folder in (out / NAME, out):
        with suppress(OSError):
            folder.rmdir()


def write(out: Path, live: LiveRun, status: Status, command: Sequence[str]) -> Status:
    """Write the results of a run that has ended, and return its status.

    If they cannot be written, the status says so, because its numbers must still be shown.
    """
    run = live.run()
    try:
        _write(out, run, status, command)
    except OSError as refused:
        # Captures stay: they were written during the run.
        tables = out / NAME
        with suppress(OSError):
            for file in (*tables.glob("*.parquet"), tables / f"{NAME}.toml", *(out / name for name in _DOCUMENTS)):
                file.unlink(missing_ok=True)
        _remove_empty(out)
        return Status({**status.values, "not_written": f"{out}: {reason(refused)}"})
    return status


def _write(out: Path, run: Run, status: Status, command: Sequence[str]) -> None:
    tables = out / NAME
    tables.mkdir(parents=True, exist_ok=True)
    (tables / f"{NAME}.toml").write_text(run.effective, encoding="utf-8")
    for name, table in with_slowdowns(run).items():
        write_frame(table, tables / f"{name}.parquet")
    summary = run.summary.values
    documents = (
        status.values,
        {"schema": schema_version(), "runs": {NAME: summary}},
        _manifest(summary, status, command),
    )
    for name, document in zip(_DOCUMENTS, documents, strict=True):
        text = json.dumps(document, indent=2, ensure_ascii=False)
        (out / name).write_text(f"{text}\n", encoding="utf-8")


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
        "schema": schema_version(),
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
