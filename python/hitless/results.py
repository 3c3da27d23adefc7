"""The folder that a run leaves behind.

::

    results/20261121-081500-reproduce/
        manifest.json    version, seeds, machine, wall time, own mechanisms with digests, drops by reason, warnings
        summary.json     the rows, as --json prints them
        report.html      opens offline
        pictures/        its plots, an SVG each
        lg-fig8/         tables in Parquet, and the effective scenario of each point
    results/points/      finished points of longer campaigns, which need not be run again (`exhibits.keeping`)
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import polars as pl

from hitless import _native
from hitless.errors import BadInput
from hitless.exhibits.campaign import Result
from hitless.exhibits.pool import Task
from hitless.extend import record as crates
from hitless.machine import describe_machine, source_commit
from hitless.outcome.tables import Tables
from hitless.prototype import kinds
from hitless.simulation import Run

RESULTS = Path("results")
"""Where folders are made when the user names none."""


class ResultsFolder:
    """A new folder, filled as results arrive: what was written stays, whatever comes after.

    As a context it takes the folder away again when nothing was written: a run that failed leaves none.
    """

    def __init__(self, what: str, out: Path | None = None, *, may_replace: bool = False) -> None:
        """``may_replace``: what is there already is of this kind, which its caller makes sure of."""
        self._began = datetime.now(UTC)
        self.path = out or _unused(RESULTS / f"{self._began:%Y%m%d-%H%M%S}-{file_name(what)}")
        self._is_new = not self.path.exists()
        self.replaces: str | None = None
        """When the results were made that are in the folder already; an interrupted run is gone on with."""
        if not may_replace:
            self._look_for_earlier()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as refused:
            raise BadInput(
                f"cannot make the results folder: {refused.strerror}",
                where=str(self.path),
                hint="choose another --out",
            ) from refused

    def _look_for_earlier(self) -> None:
        try:
            earlier = json.loads((self.path / "manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return
        if earlier.get("interrupted"):
            return
        if earlier["command"] != ["hitless", *sys.argv[1:]]:
            raise BadInput(
                f"there are results of another command already: {' '.join(earlier['command'])}",
                where=str(self.path),
                hint="choose another --out, or remove the folder",
            )
        self.replaces = earlier["started"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_new and not any(self.path.iterdir()):
            self.path.rmdir()

    def write_json(self, name: str, document: Mapping[str, Any]) -> None:
        """Write a JSON document for people and programs."""
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        (self.path / name).write_text(text, encoding="utf-8")

    def write_text(self, name: str, text: str) -> None:
        """Write a text file, in a folder of its own where the name has one."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def write_tables(self, tables: Mapping[str, pl.DataFrame], folder: str = "") -> None:
        """Write each table as Parquet."""
        target = self.path / folder
        target.mkdir(parents=True, exist_ok=True)
        for name in tables:
            path = target / f"{file_name(name)}.parquet"
            if not (isinstance(tables, Tables) and tables.path(name) == path):  # else it is there already
                tables[name].write_parquet(path)

    def manifest(self, command: Sequence[str], runs: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, Any]:
        """What was run, on what, and what to check before trusting it."""
        drops: Counter[str] = Counter()
        for run in runs:
            drops.update(run["drops"])
        return {
            "hitless": _native.version(),
            "commit": source_commit(),
            "command": list(command),
            "started": self._began.isoformat(timespec="seconds"),
            "wall_s": round((datetime.now(UTC) - self._began).total_seconds(), 3),
            "machine": describe_machine(),
            **more,
            "own_mechanisms": [*crates.loaded(), *kinds.loaded()],
            "drops": dict(drops),
            "warnings": [f"{run['name']}: {text}" for run in runs for text in run["warnings"]],
            "runs": list(runs),
        }


def describe(task: Task, run: Run, scenario: str) -> dict[str, Any]:
    """A run's part of the manifest; ``scenario`` is the file of its effective configuration."""
    return {
        "name": task.name,
        "seed": task.seed,
        "scenario": scenario,
        "wall_s": round(run.wall_s, 3),
        "cpu_s": round(task.cpu_s, 3),
        "was_kept": task.was_there,
        "trace_hash": run.summary.values.get("trace_hash"),
        **({"incomplete": run.summary.incomplete} if run.summary.incomplete else {}),
        "drops": run.summary.drops,
        "warnings": run.summary.warnings,
    }


def write_exhibit(folder: ResultsFolder, result: Result) -> list[dict[str, Any]]:
    """Write an exhibit's tables and effective scenarios; return its runs' part of the manifest."""
    name = file_name(result.entry.id)
    folder.write_tables(result.tables, name)
    described = []
    for task in result.tasks:
        if task.run is not None:
            scenario = f"{name}/{file_name(task.name.removeprefix(result.entry.id))}.toml"
            folder.write_text(scenario, task.run.effective)
            described.append(describe(task, task.run, scenario))
    return described


def file_name(text: str) -> str:
    """The text as a file's name that no system minds."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-.") or "unnamed"


def _unused(path: Path) -> Path:
    """The path, or with a number behind it: two runs in one second keep apart."""
    candidate, number = path, 2
    while candidate.exists():
        candidate = path.with_name(f"{path.name}-{number}")
        number += 1
    return candidate
