"""Exhibits from points to rows: `hitless reproduce` without its output."""

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

from hitless.analysis import REPLICAS_MIN
from hitless.drawing.plot import Plot
from hitless.errors import BadInput
from hitless.runs.batch import Batch
from hitless.runs.keeping import KeptPoints
from hitless.runs.point import MissingRun, Point, Runs
from hitless.runs.pool import Task
from hitless.runs.result import Result, could_not_be_worked_out
from hitless_papers.durations import known
from hitless_papers.model import Context, Effort, Exhibit, Row, Tail
from hitless_papers.registry import Entry
from hitless_papers.seeds import over_seeds, usual
from hitless_papers.statements import counted_once, resting_on
from hitless_papers.tails import tail_plot, tail_rows, with_autopsies, with_quick_runs

_KEYS_SHOWN = 8
"""Maximum number of points that an error message lists."""


ExhibitResult: TypeAlias = Result[Row]
"""The outcome of an exhibit."""


class _OfSeed:
    def __init__(self, entry: Entry, context: Context, patterns: Sequence[str]) -> None:
        self.exhibit: Exhibit = entry.make()
        self.context = context
        points = list(self.exhibit.points(context))
        self.tail = self.exhibit.tail
        if self.tail is not None:
            points = list(self._with_tail(self.tail, entry, points))
        self.keys = [point.key for point in points]
        if len(set(self.keys)) != len(self.keys):
            raise ValueError(f"{entry.id} has two points with the same key")
        self.chosen = [point for point in points if _is_chosen(point, patterns)]
        if len(self.chosen) < len(points):
            context.shortened.append(f"{len(self.chosen)} of {len(points)} points")
        self.tasks: list[Task] = []

    def _with_tail(self, tail: Tail, entry: Entry, points: list[Point]) -> Iterator[Point]:
        if self.context.effort == "quick":
            return with_autopsies(tail, points)
        return with_quick_runs(tail, points, entry.make().points(Context(self.context.seed, "quick")))

    def rows(self) -> Iterator[Row]:
        """Yield the rows of the finished runs."""
        yield from resting_on(self.exhibit.rows(self._runs, self.context), self.exhibit.rests_on)
        if self.tail is not None:
            yield from tail_rows(self.tail, self._runs)

    def show(self, result: ExhibitResult) -> None:
        """Add the plots and tables of the runs to a result."""
        result.plots = [*self.exhibit.plots(self._runs, self.context), *result.plots]
        result.tables = self.exhibit.tables(self._runs, self.context)

    def explain(self, result: ExhibitResult) -> None:
        """Add the picture of the tail to a result, if the two runs that it needs finished."""
        with suppress(MissingRun):
            plot = None if self.tail is None else tail_plot(self.tail, self._runs)
            result.plots = [] if plot is None else [plot]

    @property
    def _runs(self) -> Runs:
        return Runs({task.point.key: task.run for task in self.tasks if task.run is not None})


class _Work:
    def __init__(self, entry: Entry, asked: "Asked", patterns: Sequence[str]) -> None:
        first = _OfSeed(entry, Context(asked.seed, asked.effort), patterns)
        count = asked.count(entry.id, first.exhibit, has_points=bool(first.keys))
        self._parts = [first]
        for number in range(1, count):
            self._parts.append(_OfSeed(entry, Context((asked.seed or 0) + number, asked.effort), patterns))
        self.keys = first.keys
        self.takes_one = not first.keys or first.exhibit.own_seeds >= REPLICAS_MIN
        """Is one seed enough for a verdict? True for arithmetic, and for an exhibit that runs several seeds itself."""
        for part in self._parts:
            seed = part.context.seed
            told = f"{entry.id} seed {seed}" if count > 1 else entry.id
            part.tasks = [Task(told, point, point.seed(seed)) for point in part.chosen]
        tasks = [task for part in self._parts for task in part.tasks]
        if (measured := known().get((entry.id, asked.effort))) is not None:
            for task in tasks:
                task.weight = max(measured.cpu_s, 0.1) * count / len(tasks)
        self.result: ExhibitResult = Result(entry.id, entry.title, asked.seed, first.context.shortened, tasks=tasks)
        self.result.seeds = [part.context.seed for part in self._parts]

    def collect(self) -> ExhibitResult:
        """Collect rows, plots and tables of the finished runs."""
        result = self.result
        result.take_tasks()
        found: list[tuple[int | None, list[Row]]] = []
        for part in self._parts:
            rows: list[Row] = []
            found.append((part.context.seed, rows))
            result.complete &= self._fill(rows, part)
            for task in part.tasks:
                task.release_tables()
        if len(self._parts) > 1:
            result.plots = [_of_first(plot, self._parts[0].context.seed, len(self._parts)) for plot in result.plots]
        result.rows = list(counted_once(over_seeds(found, takes_one=self.takes_one)))
        return result

    def _fill(self, rows: list[Row], part: _OfSeed) -> bool:
        """Add the rows of a seed, and plots and tables of the first seed; return whether all were computed."""
        try:
            if part is self._parts[0]:
                part.explain(self.result)
            rows.extend(part.rows())  # keeps the rows before a missing run
            if part is self._parts[0]:
                part.show(self.result)
        except MissingRun as missing:
            if not part.tasks:
                self.result.failures.append(could_not_be_worked_out("the exhibit", self.result.id, missing))
            return False
        except Exception as fault:  # noqa: BLE001 - a bug in one exhibit must not discard the others' results
            self.result.failures.append(could_not_be_worked_out("the exhibit", self.result.id, fault))
            return False
        return True


def _of_first(plot: Plot, seed: int | None, seeds: int) -> Plot:
    """Say in the caption that a plot shows the first of several seeds."""
    told = f"Runs with seed {seed}, the first of {seeds}; the table has means over all seeds."
    return replace(plot, caption=" ".join(filter(None, [plot.caption, told])))


@dataclass(frozen=True, slots=True)
class Asked:
    """Seeds and effort of a campaign."""

    seed: int | None = 1
    effort: Effort = "normal"
    seeds: int | None = 1
    """Number of seeds, starting with ``seed``; None for the default of each exhibit (`hitless_papers.seeds.usual`)."""

    def count(self, name: str, exhibit: Exhibit, *, has_points: bool) -> int:
        """Return the number of seeds for an exhibit; arithmetic needs one."""
        if not has_points:
            return 1
        if self.seeds is not None:
            return self.seeds
        return 1 if exhibit.own_seeds >= REPLICAS_MIN else usual(name, self.effort)


class Campaign:
    """Runs the points of several exhibits in parallel."""

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
        """Prepare the points; they run on ``jobs`` threads or on the caller's ``executor``.

        Each exhibit runs with ``seeds`` seeds, starting with ``seed``; None chooses the default of each exhibit.
        Points found in ``kept`` do not run again, unless ``fresh`` is set; new results are stored there. With
        ``patterns``, only points with a matching key run (shell patterns).

        Raises `BadInput` if no point matches.
        """
        works = [_Work(entry, Asked(seed, effort, seeds), patterns) for entry in entries]
        for number, work in enumerate(works):
            work.result.position = number
        self._works = [work for work in works if work.result.tasks] if patterns else works
        if patterns and not self._works:
            raise _nothing_matches(patterns, [key for work in works for key in work.keys])
        tasks = [task for work in self._works for task in work.result.tasks]
        self._batch = Batch(tasks, jobs=jobs, kept=kept, fresh=fresh, executor=executor)

    @property
    def seeds(self) -> Mapping[str, int]:
        """Number of seeds of each exhibit."""
        return {work.result.id: len(work.result.seeds) for work in self._works}

    @property
    def unjudged(self) -> list[str]:
        """Exhibits with too few seeds for a verdict."""
        few = (work.result for work in self._works if not work.takes_one)
        return [result.id for result in few if len(result.seeds) < REPLICAS_MIN]

    @property
    def tasks(self) -> Sequence[Task]:
        """Points of all exhibits, in the order of their start."""
        return self._batch.tasks

    @property
    def interrupted(self) -> bool:
        """Was the campaign stopped early?"""
        return self._batch.interrupted

    def results(
        self, look: Callable[[Sequence[Task]], None] = lambda _: None, each: Callable[[Task], None] = lambda _: None
    ) -> Iterator[ExhibitResult]:
        """Yield each exhibit as soon as its points are done.

        ``look`` is called often meanwhile, and ``each`` with every finished task.
        """
        yield from (work.collect() for work in self._works if not work.result.tasks)
        of_task = {task: work for work in self._works for task in work.result.tasks}
        left = {work: len(work.result.tasks) for work in self._works}
        for task in self._batch.run(look):
            # A thread can finish a task before the batch yields it; the task counts when it is yielded.
            each(task)
            work = of_task[task]
            left[work] -= 1
            if not left[work]:
                yield work.collect()

    def stop(self) -> None:
        """Stop early: `results` then yields partial exhibits. Safe in a signal handler."""
        self._batch.stop()

    def tell(self) -> None:
        """Print the state of each run in progress on stderr."""
        self._batch.tell()


def _is_chosen(point: Point, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(point.key, pattern) for pattern in patterns)


def _nothing_matches(patterns: Sequence[str], keys: Sequence[str]) -> BadInput:
    shown = ", ".join(f"{key!r}" for key in keys[:_KEYS_SHOWN])
    more = f", and {len(keys) - _KEYS_SHOWN} more" if len(keys) > _KEYS_SHOWN else ""
    hint = f"points are {shown}{more}" if keys else "the named exhibits are arithmetic, without points"
    return BadInput(f"no point matches {' or '.join(map(repr, patterns))}", hint=hint)
