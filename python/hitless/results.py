"""The folder with the results of a run.

::

    results/20261121-081500-reproduce/
        manifest.json    version, seeds, machine, wall time, user mechanisms with digests, drops by reason, warnings
        summary.json     the rows, as --json prints them
        report.html      opens offline
        pictures/        its plots, one SVG each
        plots.json       the same plots as numbers, for ``hitless report --figure``
        lg-fig8/         tables in Parquet, and the effective scenario of each point
    results/points/      cached points of longer campaigns, which do not run again (`runs.keeping`)
"""

import errno
import fcntl
import itertools
import json
import os
import sys
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import polars as pl

from hitless import _native
from hitless.drawing.palette import Palette
from hitless.drawing.picture import Picture
from hitless.drawing.plot import Plot, plot_of
from hitless.errors import BadInput, HitlessError, reason
from hitless.extend import record as crates
from hitless.machine import describe_machine, source_commit
from hitless.outcome.schema import schema_version
from hitless.outcome.tables import Tables, write_frame
from hitless.prototype import kinds
from hitless.runs.pool import Task
from hitless.runs.result import Result, RowType
from hitless.simulation import Run
from hitless.visible import visible
from hitless.whole_file import file_name, text_of, whole


class FolderLock:
    """A lock held until `release`. With a ``part``, others can lock other parts at the same time."""

    def __init__(self, folder: Path, part: str = "") -> None:
        """Take the lock without waiting. Raises `BadInput` if another process has it, and `OSError`."""
        self._descriptors: list[int] = []
        # Only close them, because forked processes have copies of them.
        weakref.finalize(self, _close, self._descriptors)
        try:
            self._take(folder, folder, fcntl.LOCK_SH if part else fcntl.LOCK_EX)
            if part:
                self._take(folder / f".{part}.lock", folder, fcntl.LOCK_EX)
        except BaseException:
            self.release()
            raise

    def _take(self, path: Path, folder: Path, how: int) -> None:
        flags = os.O_RDONLY if path == folder else os.O_RDWR | os.O_CREAT
        descriptor = os.open(path, flags | os.O_CLOEXEC, 0o666)
        self._descriptors.append(descriptor)
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError as taken:
            raise BadInput(
                f"another run writes to this folder: {_holder(os.fstat(descriptor).st_ino)}",
                where=str(folder),
                hint="wait until it ends, or choose another --out",
            ) from taken
        except OSError as refused:
            # Some network file systems cannot lock folders.
            if refused.errno not in {errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EINVAL}:
                raise

    def release(self) -> None:
        """Let others write to the folder. Safe to call more than once."""
        for descriptor in self._descriptors:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        _close(self._descriptors)


def _close(descriptors: list[int]) -> None:
    while descriptors:
        os.close(descriptors.pop())


def _holder(inode: int) -> str:
    """Look up the process that holds a lock in proc_locks(5), if it is listed."""
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        lines = []
    for line in lines:
        words = line.split()
        if words[1] == "FLOCK" and words[5].rpartition(":")[2] == str(inode) and words[4].isdecimal():
            return f"process {words[4]}"
    return "the system does not say which process"


RESULTS = Path("results")
"""Default parent of result folders."""
PLOTS = "plots.json"
_TABLES_AND_MORE = ("*.parquet", "*/*.parquet", "*/*/*.pcapng", "pictures/*.svg")
_LEFT_SHOWN = 3


class ResultsFolder:
    """A new folder, filled as results arrive; written files stay, whatever happens later.

    It is locked against other runs. As a context manager it removes an empty folder, so a failed run does not leave one
    behind.
    """

    def __init__(
        self,
        what: str,
        out: Path | None = None,
        *,
        may_replace: bool = False,
        part: str = "",
        points: Path | None = None,
    ) -> None:
        """``may_replace``: the caller has checked that an existing folder is of this kind.

        ``part`` names a part of results that several processes write, ``points`` the folder of cached points.
        """
        self._points = points
        self._began = datetime.now(UTC)
        self._written: list[Path] = []
        self.trouble: OSError | None = None
        """Error of the last failed write."""
        self.replaces: str | None = None
        """Time of the results already in the folder; an interrupted run continues there."""
        try:
            self.path, self._is_new = (
                _made(out) if out else _made_unused(f"{self._began:%Y%m%d-%H%M%S}-{file_name(what)}")
            )
            self._lock = FolderLock(self.path, part)
        except OSError as refused:
            raise BadInput(
                f"cannot make the results folder: {reason(refused)}",
                where=str(out or RESULTS),
                hint="choose another --out",
            ) from refused
        self._may_hold_another = not (may_replace or self._is_new)
        if not may_replace:
            self._look_for_earlier()

    def _look_for_earlier(self) -> None:
        try:
            earlier = json.loads(text_of(self.path / "manifest.json"))
        except (OSError, ValueError):
            return
        if earlier.get("interrupted"):
            return
        if earlier["command"] != ["hitless", *sys.argv[1:]]:
            raise BadInput(
                f"there are already results of another command: {' '.join(earlier['command'])}",
                where=str(self.path),
                hint="choose another --out, or remove the folder",
            )
        self.replaces = earlier["started"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock. After a failed write, remove everything from this run."""
        if self.trouble is not None:
            for path in [self.path / "manifest.json", *self._written]:
                with suppress(OSError):
                    path.unlink(missing_ok=True)
            for folder in {path.parent for path in self._written} - {self.path}:
                _remove_if_empty(folder)
        if self._is_new:
            for folder in (*self.path.glob("*/"), self.path):
                _remove_if_empty(folder)
        self._lock.release()

    @property
    def warnings(self) -> list[str]:
        """Return the warning about results of earlier runs, which this run has not replaced."""
        if not self._may_hold_another:
            return []
        files = {path for pattern in _TABLES_AND_MORE for path in self.path.glob(pattern)}
        left = sorted(str(path.relative_to(self.path)) for path in files.difference(self._written))
        more = f" and {len(left) - _LEFT_SHOWN} more" if len(left) > _LEFT_SHOWN else ""
        told = f"{self.path} also has files that this run did not write: {', '.join(left[:_LEFT_SHOWN])}{more}"
        return [told] if left else []

    def begin(self, name: str = "manifest.json") -> None:
        """Write a manifest that marks the results as interrupted, until the last write replaces it."""
        with self.troubles_kept():
            self.write_json(name, self.manifest(["hitless", *sys.argv[1:]], [], interrupted=True, incomplete=[]))

    @contextmanager
    def troubles_kept(self) -> Iterator[None]:
        """Store errors of the system as `trouble`, and continue: there are still results to show."""
        try:
            yield
        except OSError as refused:
            self.trouble = self.trouble or refused

    def give_up(self, refused: OSError) -> HitlessError:
        """Remove the written files, and return the error for people."""
        self.trouble = refused
        self.close()
        return self._failure(refused)

    @property
    def failure(self) -> HitlessError | None:
        """The error for people for `trouble`."""
        return None if self.trouble is None else self._failure(self.trouble)

    def _failure(self, refused: OSError) -> HitlessError:
        what = f"the results cannot be written: {reason(refused)}"
        has_points = self._points is not None and any(self._points.glob("*"))
        kept = f"only finished runs are kept, in {self._points}" if has_points else "nothing of this run is kept"
        hint = f"{kept}; free some space, or choose another --out"
        return HitlessError(what, where=str(self.path), hint=hint)

    def write_json(self, name: str, document: Mapping[str, Any]) -> None:
        """Write a JSON document for people and programs."""
        self.write_text(name, visible(json.dumps(document, indent=2, ensure_ascii=False)) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Write a text file, in a subfolder if the name has one."""
        path = self.written(name)
        with whole(path) as beside:
            beside.write_text(text, encoding="utf-8")

    def write_tables(self, tables: Mapping[str, pl.DataFrame], folder: str = "", declared: str = "") -> None:
        """Write each table as Parquet; ``declared`` begins the names of their declarations (`outcome.schema`)."""
        (self.path / folder).mkdir(parents=True, exist_ok=True)
        for name in tables:
            path = self.written(f"{folder}/{file_name(name)}.parquet")
            if not (isinstance(tables, Tables) and tables.path(name) == path):  # otherwise it exists already
                write_frame(tables[name], path, f"{declared}{name}")

    def write_captures(self, captures: Mapping[str, bytes], folder: str) -> None:
        """Write each capture of packets."""
        for name, content in captures.items():
            with whole(self.written(f"{folder}/{file_name(name)}.pcapng")) as beside:
                beside.write_bytes(content)

    def write_pictures(self, plots: Mapping[str, Plot]) -> None:
        """Write each plot as SVG, and all as numbers, which `read_pictures` reads."""
        palette = Palette(plots.values())
        for name, plot in plots.items():
            self.write_text(f"pictures/{file_name(name)}.svg", Picture(plot, palette).svg)
        described = {file_name(name): plot for name, plot in plots.items()}
        self.write_text(PLOTS, visible(json.dumps(described, ensure_ascii=False, default=_plain)) + "\n")

    def written(self, name: str) -> Path:
        """Create the folder of a file that will be written, and return the file's path."""
        path = self.path / name.lstrip("/")
        self._written.append(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def manifest(self, command: Sequence[str], runs: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, Any]:
        """Return a description of the runs, the machine, and things to check before trusting the results."""
        drops: Counter[str] = Counter()
        for run in runs:
            drops.update(run["drops"])
        return {
            "hitless": _native.version(),
            "commit": source_commit(),
            "schema": schema_version(),
            "command": list(command),
            "started": self._began.isoformat(timespec="seconds"),
            "wall_s": round((datetime.now(UTC) - self._began).total_seconds(), 3),
            "machine": describe_machine(),
            **more,
            "own_mechanisms": [*crates.loaded(), *kinds.loaded()],
            "drops": dict(drops),
            "warnings": [*self.warnings, *(f"{run['name']}: {text}" for run in runs for text in run["warnings"])],
            "runs": list(runs),
        }


def read_pictures(folder: Path) -> dict[str, Picture]:
    """Return the plots in a folder of results by name. Raises `BadInput`."""
    try:
        described = json.loads(text_of(folder / PLOTS))
        plots = {name: plot_of(fields) for name, fields in described.items()}
    except (OSError, UnicodeDecodeError) as refused:
        hint = "name a folder that hitless reproduce, run, compare or sweep wrote with this version"
        raise BadInput(f"cannot read the plots: {reason(refused)}", where=str(folder / PLOTS), hint=hint) from refused
    except (ValueError, TypeError, KeyError, AttributeError) as broken:
        raise BadInput(f"the plots are damaged: {broken}", where=str(folder / PLOTS)) from broken
    palette = Palette(plots.values())
    return {name: Picture(plot, palette) for name, plot in plots.items()}


def describe(task: Task, run: Run, scenario: str) -> dict[str, Any]:
    """Return a run's part of the manifest; ``scenario`` is the file with its effective configuration."""
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


def write_result(folder: ResultsFolder, result: Result[RowType]) -> list[dict[str, Any]]:
    """Write a result's tables and effective scenarios; return its runs' part of the manifest."""
    name = file_name(result.id)
    folder.write_tables(result.tables, name)
    described = []
    for task in result.tasks:
        if task.run is not None:
            scenario = f"{name}/{file_name(task.name.removeprefix(result.id))}.toml"
            folder.write_text(scenario, task.run.effective)
            folder.write_captures(task.run.captures, scenario.removesuffix(".toml"))
            described.append(describe(task, task.run, scenario))
    return described


def _plain(value: Any) -> Any:
    """Return the fields of a plot or a part of it, or a number of numpy, for JSON."""
    if is_dataclass(value):  # `dataclasses.asdict` would also copy each number
        return {one.name: getattr(value, one.name) for one in fields(value)}
    return float(value)


def _made(path: Path) -> tuple[Path, bool]:
    """Return a folder, created if necessary, and whether it is new. Raises `OSError`."""
    if visible(str(path)) != str(path) or set("\t\n") & set(str(path)):
        raise OSError(errno.EINVAL, "its name has a control character, or is not UTF-8", str(path))
    is_new = not path.exists()
    if not is_new and not path.is_dir():
        raise OSError(errno.ENOTDIR, "it is not a folder", str(path))
    path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK | os.X_OK):
        raise OSError(errno.EACCES, "it is not writable", str(path))
    return path, is_new


def _made_unused(name: str) -> tuple[Path, bool]:
    """Make a new folder with this name, or with a number appended if two runs start in the same second."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        path = RESULTS / (name if number == 1 else f"{name}-{number}")
        with suppress(FileExistsError):
            path.mkdir()
            break
    return path, True


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
