"""Exhibits from points to rows: what `hitless reproduce` does, without any output of its own."""

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from hitless.analysis import REPLICAS_MIN
from hitless.errors import BadInput, HitlessError
from hitless.exhibits.keeping import KeptPoints, KeptWork
from hitless.exhibits.model import Context, Effort, Exhibit, MissingRun, Point, Row, Runs
from hitless.exhibits.pool import Pool, Task
from hitless.exhibits.registry import Entry, Heading
from hitless.exhibits.seeds import over_seeds, usual
from hitless.exhibits.statements import counted_once, resting_on
from hitless.plot import Plot

_KEYS_SHOWN = 8
"""Of an error message about points."""


@dataclass(slots=True)
class Result:
    """An exhibit's outcome, complete or as far as it came."""

    entry: Heading
    seed: int | None
    """The first of them."""
    shortened: Sequence[str] = ()
    """What was made shorter than the paper's, in words."""
    rows: list[Row] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    failures: list[HitlessError] = field(default_factory=list)
    seeds: Sequence[int | None] = ()
    """All that it was run with."""
    complete: bool = False
    """Did every point run, and did every row come out?"""

    @property
    def wall_s(self) -> float:
        """Wall time from the beginning of its first point to the end of its last, other exhibits' points between."""
        spans = [(t.began_s, t.ended_s) for t in self.tasks if t.began_s is not None and t.ended_s is not None]
        return max((end for _, end in spans), default=0.0) - min((begin for begin, _ in spans), default=0.0)

    @property
    def warnings(self) -> list[str]:
        """What to check before trusting the rows, each with the run that says so, whatever its seed."""
        runs = [(task.point.key, task.run) for task in self.tasks if task.run is not None]
        told = (f"{self.entry.id}, {key}: {warning}" for key, run in runs for warning in run.summary.warnings)
        return list(dict.fromkeys(told))

    def as_json(self) -> dict[str, Any]:
        """The exhibit as the JSON document has it."""
        return {
            "id": self.entry.id,
            "seed": self.seed,
            "wall_s": round(self.wall_s, 3),
            "seeds": list(self.seeds),
            "rows": [self._row(row) for row in self.rows],
        }

    def _row(self, row: Row) -> dict[str, Any]:
        return {**row.as_json(self.shortened), "seeds": [seen.as_json() for seen in row.seen]}


class _OfSeed:
    """An exhibit under way, with one seed."""

    def __init__(self, entry: Entry, context: Context, patterns: Sequence[str]) -> None:
        self.exhibit: Exhibit = entry.make()
        self.context = context
        points = list(self.exhibit.points(context))
        self.keys = [point.key for point in points]
        if len(set(self.keys)) != len(self.keys):
            raise ValueError(f"{entry.id} has two points of one key")
        self.chosen = [point for point in points if _is_chosen(point, patterns)]
        if len(self.chosen) < len(points):
            context.shortened.append(f"{len(self.chosen)} of {len(points)} points")
        self.tasks: list[Task] = []

    def rows(self) -> Iterator[Row]:
        """The rows of the runs, as far as the runs came."""
        return resting_on(self.exhibit.rows(self._runs, self.context), self.exhibit.rests_on)

    def show(self, result: Result) -> None:
        """Give a result the plots and tables of the runs."""
        result.plots = list(self.exhibit.plots(self._runs, self.context))
        result.tables = self.exhibit.tables(self._runs, self.context)

    @property
    def _runs(self) -> Runs:
        return Runs({task.point.key: task.run for task in self.tasks if task.run is not None})


class _Work:
    """An exhibit under way, with all of its seeds."""

    def __init__(self, entry: Entry, asked: "Asked", patterns: Sequence[str]) -> None:
        first = _OfSeed(entry, Context(asked.seed, asked.effort), patterns)
        count = asked.count(entry.id, first.exhibit, has_points=bool(first.keys))
        self._parts = [first]
        for number in range(1, count):
            self._parts.append(_OfSeed(entry, Context((asked.seed or 0) + number, asked.effort), patterns))
        self.keys = first.keys
        self.takes_one = not first.keys or first.exhibit.own_seeds >= REPLICAS_MIN
        """Is one seed enough for a verdict? Arithmetic has no other, and an exhibit may have seeds of its own."""
        for part in self._parts:
            seed = part.context.seed
            told = f"{entry.id} seed {seed}" if count > 1 else entry.id
            part.tasks = [Task(told, point, point.seed(seed)) for point in part.chosen]
        tasks = [task for part in self._parts for task in part.tasks]
        self.result = Result(entry, asked.seed, first.context.shortened, tasks=tasks)
        self.result.seeds = [part.context.seed for part in self._parts]

    def collect(self) -> Result:
        """Rows, plots and tables of the runs, as far as the runs came."""
        result = self.result
        runs = [task.run for task in result.tasks if task.run is not None]
        result.failures = [task.failure for task in result.tasks if task.failure is not None]
        result.complete = len(runs) == len(result.tasks) and not any(run.summary.incomplete for run in runs)
        found: list[tuple[int | None, list[Row]]] = []
        for part in self._parts:
            rows: list[Row] = []
            found.append((part.context.seed, rows))
            result.complete &= self._fill(rows, part)
            for task in part.tasks:
                task.release_tables()
        result.rows = list(counted_once(over_seeds(found, takes_one=self.takes_one)))
        if result.seed is None:  # the scenario's own, which its run tells
            result.seed = next((run.summary.values.get("seed") for run in runs), None)
        return result

    def _fill(self, rows: list[Row], part: _OfSeed) -> bool:
        """Add the rows of a seed; did all come out? Plots and tables are those of the first."""
        try:
            rows.extend(part.rows())  # those before a run that is missing are in it then
            if part is self._parts[0]:
                part.show(self.result)
        except MissingRun as missing:
            if not part.tasks:
                self.result.failures.append(_fault(self.result.entry, missing))
            return False
        except Exception as fault:  # noqa: BLE001 - one exhibit's fault must not cost the results of the others
            self.result.failures.append(_fault(self.result.entry, fault))
            return False
        return True


@dataclass(frozen=True, slots=True)
class Asked:
    """What a campaign runs of each exhibit."""

    seed: int | None = 1
    effort: Effort = "normal"
    seeds: int | None = 1
    """How many, from ``seed`` on; None for as many as are worth their time (`hitless.exhibits.seeds.usual`)."""

    def count(self, name: str, exhibit: Exhibit, *, has_points: bool) -> int:
        """How many seeds an exhibit runs with: arithmetic has no use for a second."""
        if not has_points:
            return 1
        if self.seeds is not None:
            return self.seeds
        return 1 if exhibit.own_seeds >= REPLICAS_MIN else usual(name, self.effort)


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
        seeds: int | None = 1,
        effort: Effort = "normal",
        jobs: int | None = None,
        kept: KeptPoints | None = None,
        fresh: bool = False,
        patterns: Sequence[str] = (),
        executor: Executor | None = None,
    ) -> None:
        """Points run on ``jobs`` threads, or on an ``executor`` of the caller's.

        Each exhibit runs with ``seeds`` seeds from ``seed`` on; with None, with as many as are worth their time.
        Those that are in ``kept`` are not run again, unless all is to be ``fresh``; others are put there. Where there
        are ``patterns``, only the points run whose keys match one of them, as the names of files do.

        Raises `BadInput` where no point matches.
        """
        self._pool = Pool(jobs, executor)
        works = [_Work(entry, Asked(seed, effort, seeds), patterns) for entry in entries]
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
    def seeds(self) -> Mapping[str, int]:
        """How many seeds each exhibit runs with."""
        return {work.result.entry.id: len(work.result.seeds) for work in self._works}

    @property
    def unjudged(self) -> list[str]:
        """The exhibits that run with too few seeds for a verdict."""
        few = (work.result for work in self._works if not work.takes_one)
        return [result.entry.id for result in few if len(result.seeds) < REPLICAS_MIN]

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
