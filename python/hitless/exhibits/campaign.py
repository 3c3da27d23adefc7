"""Exhibits from points to rows: what `hitless reproduce` does, without any output of its own."""

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from hitless.errors import BadInput, HitlessError
from hitless.exhibits.keeping import KeptPoints, KeptWork
from hitless.exhibits.model import Context, Effort, Exhibit, MissingRun, Point, Row, Runs
from hitless.exhibits.pool import Pool, Task
from hitless.exhibits.registry import Entry, Heading
from hitless.exhibits.statements import counted_once, resting_on
from hitless.plot import Plot

_KEYS_SHOWN = 8
"""Of an error message about points."""


@dataclass(slots=True)
class Result:
    """An exhibit's outcome, complete or as far as it came."""

    entry: Heading
    seed: int | None
    shortened: Sequence[str] = ()
    """What was made shorter than the paper's, in words."""
    rows: list[Row] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    failures: list[HitlessError] = field(default_factory=list)
    complete: bool = False
    """Did every point run, and did every row come out?"""

    @property
    def wall_s(self) -> float:
        """Wall time from the beginning of its first point to the end of its last, other exhibits' points between."""
        spans = [(t.began_s, t.ended_s) for t in self.tasks if t.began_s is not None and t.ended_s is not None]
        return max((end for _, end in spans), default=0.0) - min((begin for begin, _ in spans), default=0.0)

    @property
    def warnings(self) -> list[str]:
        """What to check before trusting the rows, each with the run that says so."""
        runs = [(task.point.key, task.run) for task in self.tasks if task.run is not None]
        return [f"{self.entry.id}, {key}: {warning}" for key, run in runs for warning in run.summary.warnings]

    def as_json(self) -> dict[str, Any]:
        """The exhibit as the JSON document has it."""
        return {
            "id": self.entry.id,
            "seed": self.seed,
            "wall_s": round(self.wall_s, 3),
            "rows": [row.as_json(self.shortened) for row in self.rows],
        }


class _Work:
    """An exhibit under way."""

    def __init__(self, entry: Entry, context: Context, patterns: Sequence[str]) -> None:
        self._exhibit: Exhibit = entry.make()
        self._context = context
        points = list(self._exhibit.points(context))
        keys = [point.key for point in points]
        if len(set(keys)) != len(keys):
            raise ValueError(f"{entry.id} has two points of one key")
        chosen = [point for point in points if _is_chosen(point, patterns)]
        if len(chosen) < len(points):
            context.shortened.append(f"{len(chosen)} of {len(points)} points")
        self.keys: Sequence[str] = keys
        tasks = [Task(entry.id, point, point.seed(context.seed)) for point in chosen]
        self.result = Result(entry, context.seed, context.shortened, tasks=tasks)

    def collect(self) -> Result:
        """Rows, plots and tables of the runs, as far as the runs came."""
        result = self.result
        runs = {task.point.key: task.run for task in result.tasks if task.run is not None}
        result.failures = [task.failure for task in result.tasks if task.failure is not None]
        try:
            self._work_out(Runs(runs))
            result.complete = len(runs) == len(result.tasks) and not any(
                run.summary.incomplete for run in runs.values()
            )
        except MissingRun as missing:
            if not result.tasks:
                result.failures.append(_fault(result.entry, missing))
        except Exception as fault:  # noqa: BLE001 - one exhibit's fault must not cost the results of the others
            result.failures.append(_fault(result.entry, fault))
        for task in result.tasks:
            task.release_tables()
        if result.seed is None:  # the scenario's own, which its run tells
            result.seed = next((run.summary.values.get("seed") for run in runs.values()), None)
        return result

    def _work_out(self, runs: Runs) -> None:
        for row in rows_of(self._exhibit, runs, self._context):
            self.result.rows.append(row)
        self.result.plots = list(self._exhibit.plots(runs, self._context))
        self.result.tables = self._exhibit.tables(runs, self._context)


def rows_of(exhibit: Exhibit, runs: Runs, context: Context) -> Iterator[Row]:
    """The rows of an exhibit as they are shown."""
    return counted_once(resting_on(exhibit.rows(runs, context), exhibit.rests_on))


def _fault(entry: Heading, fault: Exception) -> HitlessError:
    error = HitlessError(
        f"the exhibit could not be worked out: {type(fault).__name__}: {fault}",
        where=entry.id,
        hint="this is a fault of hitless; --debug shows where it happened",
    )
    error.__cause__ = fault
    return error


class Campaign:
    """Runs exhibits, their points side by side."""

    def __init__(
        self,
        entries: Sequence[Entry],
        *,
        seed: int | None = 1,
        effort: Effort = "normal",
        jobs: int | None = None,
        kept: KeptPoints | None = None,
        fresh: bool = False,
        patterns: Sequence[str] = (),
        executor: Executor | None = None,
    ) -> None:
        """Points run on ``jobs`` threads, or on an ``executor`` of the caller's.

        Those that are in ``kept`` are not run again, unless all is to be ``fresh``; others are put there. Where there
        are ``patterns``, only the points run whose keys match one of them, as the names of files do.

        Raises `BadInput` where no point matches.
        """
        self._pool = Pool(jobs, executor)
        works = [_Work(entry, Context(seed, effort), patterns) for entry in entries]
        self._works = [work for work in works if work.result.tasks] if patterns else works
        if patterns and not self._works:
            raise _nothing_matches(patterns, [key for work in works for key in work.keys])
        self.order = {entry.id: number for number, entry in enumerate(entries)}
        self.interrupted = False
        if kept is not None:
            kept.tidy()
            for task in self.tasks:
                _keep(task, kept, fresh=fresh)

    @property
    def tasks(self) -> list[Task]:
        """The points of all exhibits, in the order in which they begin."""
        return [task for work in self._works for task in work.result.tasks]

    def results(
        self,
        look: Callable[[Sequence[Task]], None] = lambda _: None,
        each: Callable[[Task], None] = lambda _: None,
    ) -> Iterator[Result]:
        """The exhibits, each as soon as its points are done.

        ``look`` is called often meanwhile, and ``each`` with every task that is done.
        """
        yield from (work.collect() for work in self._works if not work.result.tasks)
        of_task = {task: work for work in self._works for task in work.result.tasks}
        left = {work: len(work.result.tasks) for work in self._works}
        for task in self._pool.run(self.tasks, look):
            # A task may be done, in its thread, before it is handed over here: only then does it count.
            each(task)
            work = of_task[task]
            left[work] -= 1
            if not left[work]:
                yield work.collect()

    def stop(self) -> None:
        """End early: `results` then yields every exhibit as far as it came. For a signal handler, too."""
        self.interrupted = True
        self._pool.stop()


def _is_chosen(point: Point, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(point.key, pattern) for pattern in patterns)


def _nothing_matches(patterns: Sequence[str], keys: Sequence[str]) -> BadInput:
    shown = ", ".join(f"{key!r}" for key in keys[:_KEYS_SHOWN])
    more = f", and {len(keys) - _KEYS_SHOWN} more" if len(keys) > _KEYS_SHOWN else ""
    hint = f"points are {shown}{more}" if keys else "what was named is arithmetic, and has no points"
    return BadInput(f"no point matches {' or '.join(map(repr, patterns))}", hint=hint)


def _keep(task: Task, kept: KeptPoints, *, fresh: bool) -> None:
    """Have a task use what is kept of its point, and keep it otherwise."""
    try:
        digest = kept.digest(task.point, task.seed, task.name)
    except HitlessError:
        return  # what is refused here is refused again when the task begins, and fails it alone
    if digest is None:
        return
    if fresh:
        kept.forget(digest)
    task.was_there = digest in kept

    def is_missing() -> None:
        task.was_there = False

    work = KeptWork(task.point.work, kept, digest, task.point.reduce, is_missing)
    task.point = replace(task.point, what=work, reduce=None)
