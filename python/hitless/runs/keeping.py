"""Finished points on disk, so that interrupted work goes on where it was.

::

    results/points/
        3f9c.../         one point, by the digest of all that its results depend on
            run.json     the summary, the time it took, the names of its tables
            effective.toml
            messages.parquet
        0001...jsonl     points without tables, a line each (`runs.kept_lines`)

A point's folder appears whole or not at all: it is written under another name, ``.digest.process.thread``, and renamed.
What cannot be read is not there. All of it may be deleted at any time. Several threads, and several processes, may use
it.
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
"""Of what is written; another number is another point."""


@runtime_checkable
class Identified(Protocol):
    """Work whose results can be kept: it can say what they depend on."""

    def identity(self, file_name: str) -> str:
        """Everything that its results depend on but the seed and the native module; ``file_name`` is for messages."""


@dataclass(slots=True)
class KeptPoints:
    """The finished points in a folder."""

    folder: Path
    trouble: OSError | None = field(default=None, init=False)
    """Why the last point that could not be kept was not."""
    _lines: KeptLines = field(init=False, repr=False)
    _locks: dict[str, threading.RLock] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Reads nothing yet."""
        self._lines = KeptLines(self.folder)

    def lock(self, digest: str) -> threading.RLock:
        """Held by the thread that works a point out or writes it, so that another one of this process reads it then."""
        return self._locks.setdefault(digest, threading.RLock())

    def tidy(self) -> None:
        """Remove what processes left that ended while they wrote."""
        for path in self.folder.glob(".*.*.*"):
            process = path.name.split(".")[2]
            if process.isdecimal() and not _is_alive(int(process)):
                shutil.rmtree(path, ignore_errors=True)

    def digest(self, point: Point, seed: int | None, file_name: str) -> str | None:
        """What the results of a point depend on, as a short name; None for work that cannot say.

        The key of a point is no part of it: results that need the same run share it.
        """
        work = point.work
        if not isinstance(work, Identified):
            return None
        tables = "all" if point.keep is None else sorted(point.keep)
        parts = [_FORMAT, program_identity(), type(work).__name__, work.identity(file_name), seed, tables]
        if point.reduce is not None:
            parts.append(_source(point.reduce))
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    def __contains__(self, digest: object) -> bool:
        return str(digest) in self._lines or (self.folder / str(digest) / "run.json").is_file()

    def load(self, digest: str) -> Run | None:
        """The run, or None where it is not there or cannot be read."""
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
        """Write a run; where that is refused, `trouble` has the reason, and the run is only not kept."""
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
            if digest not in self:  # another process may have written the same
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
    """Work that is done once: its results are those on disk, or are put there."""

    work: Work
    points: KeptPoints
    digest: str
    reduce: Reduction | None = None
    """What is done to a run before it is written."""
    is_missing: Callable[[], None] = lambda: None
    """Called where nothing that can be read is there."""

    def job(self, *, file_name: str, seed: int | None) -> Job:
        """The reading of what is there, or else the work."""
        run = self.points.load(self.digest)
        if run is not None:
            return _Reading(run)
        self.is_missing()
        return _Keeping(self.work.job(file_name=file_name, seed=seed), self)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A job that was done before."""

    kept: Run

    @property
    def progress(self) -> float:
        return 1.0

    def cancel(self) -> None:
        """There is nothing to end."""

    def run(self, keep: Collection[str] | None = None) -> Run:
        """The run with the tables that were asked for then, which the digest says are those asked for now."""
        return self.kept


@dataclass(frozen=True, slots=True)
class _Keeping:
    """A job whose results are written when it is done, unless another thread has done the same meanwhile."""

    job: Job
    to: KeptWork

    @property
    def progress(self) -> float:
        return self.job.progress

    def cancel(self) -> None:
        self.job.cancel()

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
        pass  # somebody else's
    return True


def _source(reduction: Reduction) -> str:
    """What a reduction does: what it says itself by ``source()``, or its name and the text of its module."""
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
