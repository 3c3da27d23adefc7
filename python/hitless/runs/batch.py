"""A set of runs: run in parallel, loaded from disk if finished earlier, stopped early by Ctrl-C."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace

from hitless.errors import HitlessError
from hitless.runs.keeping import KeptPoints, KeptWork
from hitless.runs.pool import Pool, Task
from hitless.simulation import PacketSimulation
from hitless.terminal.interrupt import on_quit


class Batch:
    """Tasks that run on ``jobs`` threads, or on the caller's ``executor``.

    Points found in ``kept`` do not run again, unless ``fresh`` is set; other points are stored there.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        *,
        jobs: int | None = None,
        kept: KeptPoints | None = None,
        fresh: bool = False,
        executor: Executor | None = None,
    ) -> None:
        self.tasks = tasks
        self.interrupted = False
        self._pool = Pool(jobs, executor)
        if kept is not None:
            kept.tidy()
            for task in tasks:
                _keep(task, kept, fresh=fresh)

    def run(self, look: Callable[[Sequence[Task]], None]) -> Iterator[Task]:
        """Run all tasks; yield each when it is done. ``look`` is called often meanwhile.

        Tasks with the same scenario, seed and tables share a run.
        """
        sharing: dict[Hashable, list[Task]] = {}
        for task in self.tasks:
            sharing.setdefault(_identity(task), []).append(task)
        others = {first: rest for first, *rest in sharing.values()}
        with on_quit(self.tell):
            for task in self._pool.run(list(others), lambda _: look(self.tasks)):
                run = task.run  # the caller may free its tables
                yield task
                for other in others[task]:
                    other.run, other.failure, other.cpu_s = run, task.failure, task.cpu_s
                    other.began_s, other.ended_s = task.began_s, task.ended_s
                    yield other

    def stop(self) -> None:
        """Stop early: `run` then yields every task as far as it came. Safe to call from a signal handler."""
        self.interrupted = True
        self._pool.stop()

    def tell(self) -> None:
        """Print the state of each run in progress on stderr."""
        self._pool.tell()


def _identity(task: Task) -> Hashable:
    """Return a value that is equal for tasks with the same run."""
    point = task.point
    what = PacketSimulation(point.what) if isinstance(point.what, str | dict) else point.what
    if not isinstance(what, PacketSimulation) or what.rows or what.checkpoints:
        return task  # other work, or a run with files of its own
    keep = None if point.keep is None else frozenset(point.keep)
    return repr(what.scenario), what.place, task.seed, keep, point.reduce, point.has_use_for_part


def _keep(task: Task, kept: KeptPoints, *, fresh: bool) -> None:
    """Let a task load the stored run of its point, or store its own run."""
    try:
        digest = kept.digest(task.point, task.seed, task.name)
    except HitlessError:
        return  # a refused scenario is refused again when the task begins, and fails only this task
    if digest is None:
        return
    if fresh:
        kept.forget(digest)
    task.was_there = digest in kept

    def is_missing() -> None:
        task.was_there = False

    work = KeptWork(task.point.work, kept, digest, task.point.reduce, is_missing)
    task.point = replace(task.point, what=work, reduce=None)
