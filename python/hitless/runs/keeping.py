"""Cache of finished points on disk, so that interrupted work can continue.

::

    results/points/
        3f9c.../         one point; the name is a digest of everything that its results depend on
            run.json     the summary, the wall time, the names of its tables
            effective.toml
            messages.parquet
        0001...jsonl     points without tables, one per line (`runs.kept_lines`)

A point's folder appears whole or not at all: it is written as ``.digest.process.thread`` and then renamed. Unreadable
points count as missing. You can delete any of it at any time. Several threads and processes can use it concurrently.
"""

import hashlib
import inspect
import json
import os
import shutil
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

import polars as pl

from hitless.outcome.tables import write_frame
from hitless.runs.kept_lines import KeptLines
from hitless.runs.point import Point, Reduction
from hitless.simulation import Job, Run, Summary, Work, program_identity

_FORMAT = 1
"""Version of the format; it is part of each digest."""


@runtime_checkable
class Identified(Protocol):
    """Work that can be cached: it can name everything that its results depend on."""

    def identity(self, file_name: str) -> str:
        """Return everything that the results depend on but seed and native module; ``file_name`` is for messages."""


@dataclass(slots=True)
class KeptPoints:
    """The cached points in a folder."""

    folder: Path
    trouble: OSError | None = field(default=None, init=False)
    """Error that prevented the last failed write."""
    _lines: KeptLines = field(init=False, repr=False)
    _locks: dict[str, threading.RLock] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Set up without reading anything."""
        self._lines = KeptLines(self.folder)

    def lock(self, digest: str) -> threading.RLock:
        """Return the lock to hold while computing or writing a point, so that other threads then read it."""
        return self._locks.setdefault(digest, threading.RLock())

    def tidy(self) -> None:
        """Remove leftovers of processes that ended during a write."""
        for path in self.folder.glob(".*.*.*"):
            process = path.name.split(".")[2]
            if process.isdecimal() and not _is_alive(int(process)):
                shutil.rmtree(path, ignore_errors=True)

    def digest(self, point: Point, seed: int | None, file_name: str) -> str | None:
        """Return a digest of everything that a point's results depend on; None for work that cannot name it.

        The digest excludes the key of the point: results that need the same run share it.
        """
        work = point.work
        if not isinstance(work, Identified):
            return None
        tables = "all" if point.keep is None else sorted(point.keep)
        parts = [_FORMAT, program_identity(), type(work).__name__, work.identity(file_name), seed, tables]
        if point.reduce is not None:
            parts.append(source_of(point.reduce))
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    def __contains__(self, digest: object) -> bool:
        return str(digest) in self._lines or (self.folder / str(digest) / "run.json").is_file()

    def load(self, digest: str) -> Run | None:
        """Return the run, or None if it is missing or unreadable."""
        path = self.folder / digest
        try:
            line = self._lines.load(digest)
            if line is not None:
                return Run(line["effective"], Summary(line["summary"]), {}, line["wall_s"])
            told = json.loads((path / "run.json").read_text(encoding="utf-8"))
            tables = {name: pl.read_parquet(path / f"{name}.parquet") for name in told["tables"]}
            effective = (path / "effective.toml").read_text(encoding="utf-8")
            return Run(effective, Summary(told["summary"]), tables, told["wall_s"])
        except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
            return None

    def keep(self, digest: str, run: Run) -> None:
        """Write a run; if this fails, store the reason in `trouble` and skip the run."""
        if run.captures:  # a later run must write them again
            return
        with self.lock(digest):
            if run.tables:
                self._keep_folder(digest, run)
                return
            told = {"summary": run.summary.values, "wall_s": run.wall_s, "effective": run.effective}
            try:
                self._lines.keep(digest, told)
            except OSError as refused:
                self.trouble = refused

    def _keep_folder(self, digest: str, run: Run) -> None:
        path = self.folder / digest
        unfinished = self.folder / f".{digest}.{os.getpid()}.{threading.get_ident()}"
        try:
            unfinished.mkdir(parents=True, exist_ok=True)
            _write(unfinished, run)
            shutil.rmtree(path, ignore_errors=True)
            unfinished.rename(path)
        except OSError as refused:
            if digest not in self:  # another process may have written the same point
                self.trouble = refused
            shutil.rmtree(unfinished, ignore_errors=True)

    def forget(self, digest: str) -> None:
        """Remove a point."""
        try:
            self._lines.forget(digest)
        except OSError as refused:
            self.trouble = refused
        shutil.rmtree(self.folder / digest, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class KeptWork:
    """Work that is done once: it loads its results from disk, or stores them there."""

    work: Work
    points: KeptPoints
    digest: str
    reduce: Reduction | None = None
    """Reduces a run before it is written."""
    is_missing: Callable[[], None] = lambda: None
    """Called if the point is missing or unreadable on disk."""

    def job(self, *, file_name: str, seed: int | None) -> Job:
        """Return a job that loads the stored run, or else does the work."""
        run = self.points.load(self.digest)
        if run is not None:
            return _Reading(run)
        self.is_missing()
        return _Keeping(self.work.job(file_name=file_name, seed=seed), self)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A job that was done earlier."""

    kept: Run

    @property
    def progress(self) -> float:
        return 1.0

    def cancel(self) -> None:
        """Do nothing: loading cannot be cancelled."""

    def run(self, keep: Collection[str] | None = None) -> Run:
        """Return the run with the tables requested when it was stored; the digest guarantees the same request now."""
        return self.kept


@dataclass(frozen=True, slots=True)
class _Keeping:
    """A job that stores its results when it is done, unless another thread did so meanwhile."""

    job: Job
    to: KeptWork

    @property
    def progress(self) -> float:
        return self.job.progress

    def cancel(self) -> None:
        self.job.cancel()

    def describe(self) -> str | None:
        """Return a report of the work in progress, if it gives one."""
        describe: Callable[[], str | None] | None = getattr(self.job, "describe", None)
        return None if describe is None else describe()

    def run(self, keep: Collection[str] | None = None) -> Run:
        points, digest = self.to.points, self.to.digest
        with points.lock(digest):
            there = points.load(digest) if digest in points else None
            if there is not None:
                return there
            run = self.job.run(keep)
            run = self.to.reduce(run) if self.to.reduce else run
            points.keep(digest, run)
            return run


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # owned by someone else
    return True


def source_of(reduction: Reduction) -> str:
    """Return the code of a reduction: its own ``source()``, or its name and the text of its module."""
    told = getattr(reduction, "source", None)
    if told is not None:
        return str(told())
    module = inspect.getmodule(reduction)
    text = inspect.getsource(module) if module else ""
    return f"{reduction.__qualname__} {hashlib.sha256(text.encode()).hexdigest()}"


def _write(folder: Path, run: Run) -> None:
    for name, table in run.tables.items():
        write_frame(table, folder / f"{name}.parquet")
    (folder / "effective.toml").write_text(run.effective, encoding="utf-8")
    told = {"summary": run.summary.values, "wall_s": run.wall_s, "tables": list(run.tables)}
    (folder / "run.json").write_text(json.dumps(told), encoding="utf-8")
