"""A batch of runs that answers one question: a scenario, a comparison, a sweep."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from typing import TypeAlias

from hitless.runs.batch import Batch
from hitless.runs.keeping import KeptPoints
from hitless.runs.point import MissingRun, Point, Runs
from hitless.runs.pool import Task
from hitless.runs.result import Measurement, Result, could_not_be_worked_out

WorkOut: TypeAlias = Callable[[Runs, Result[Measurement]], None]
"""Fills rows, plots and tables of a result from the finished runs. `MissingRun` ends it early."""


class Study:
    """Runs its points in parallel with seeds derived from ``seed``, and computes one result."""

    def __init__(
        self,
        id: str,  # noqa: A002 - as in `Result`
        title: str,
        points: Iterable[Point],
        work_out: WorkOut,
        *,
        take: Callable[[Task], None] = lambda _: None,
        seed: int | None = None,
        jobs: int | None = None,
        kept: KeptPoints | None = None,
        fresh: bool = False,
        executor: Executor | None = None,
    ) -> None:
        """Pass ``jobs``, ``kept``, ``fresh`` and ``executor`` to `Batch`.

        ``take`` is called with every task that ended, before `results` passes it on; it may free the run's tables.
        """
        self.id = id
        self.tasks = [Task(id, point, point.seed(seed)) for point in points]
        self._batch = Batch(self.tasks, jobs=jobs, kept=kept, fresh=fresh, executor=executor)
        self._result: Result[Measurement] = Result(id, title, seed, tasks=self.tasks, seeds=[seed])
        self._take, self._work_out = take, work_out

    @property
    def interrupted(self) -> bool:
        """Was it stopped early?"""
        return self._batch.interrupted

    def stop(self) -> None:
        """Stop early, with a partial result. Safe to call from a signal handler."""
        self._batch.stop()

    def tell(self) -> None:
        """Print the state of each run in progress on stderr."""
        self._batch.tell()

    def results(
        self, look: Callable[[Sequence[Task]], None] = lambda _: None, each: Callable[[Task], None] = lambda _: None
    ) -> Iterator[Result[Measurement]]:
        """Yield the only result, after all runs have ended.

        ``look`` is called often meanwhile, and ``each`` with every task that is done.
        """
        for task in self._batch.run(look):
            self._take(task)
            each(task)
        yield self._worked_out()

    def _worked_out(self) -> Result[Measurement]:
        result = self._result
        result.take_tasks()
        try:
            self._work_out(Runs({task.point.key: task.run for task in self.tasks if task.run is not None}), result)
        except MissingRun:
            result.complete = False
        except Exception as fault:  # noqa: BLE001 - the runs are still worth keeping
            result.complete = False
            result.failures.append(could_not_be_worked_out("the result", result.id, fault))
        return result
