"""Independent runs on all cores, or on the caller's executor.

The threads spend their time in the simulator, which releases the GIL: this avoids processes and pickling, and results
arrive without a copy.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from hitless.errors import HitlessError, out_of_memory
from hitless.outcome.run import RunStopped
from hitless.runs.arrivals import Arrivals
from hitless.runs.point import Point
from hitless.simulation import Job, Run, RunCancelled
from hitless.terminal.console import print_note
from hitless.threads import core_count


@dataclass(eq=False, slots=True)
class Task:
    """A point in progress: waiting, running, or done with a run, a failure, or neither if it was stopped."""

    of: str
    """The id of its result, with the seed if there are several."""
    point: Point
    seed: int | None
    job: Job | None = field(default=None, repr=False)
    run: Run | None = field(default=None, repr=False)
    failure: HitlessError | None = None
    was_there: bool = False
    """Was it done earlier, by another run of the program, so that it only needs loading?"""
    began_s: float | None = None
    """Start by the monotonic clock, like ``ended_s``; None for a task that was stopped before its start."""
    ended_s: float | None = None
    cpu_s: float = 0.0
    """CPU time of its thread, which hardly depends on other programs on the machine."""
    weight: float = 1.0
    """Expected CPU time, relative to the other tasks, for the estimate of the remaining time."""

    @property
    def done(self) -> bool:
        """Has it ended?"""
        return self.ended_s is not None

    @property
    def name(self) -> str:
        """The result and the point, for people."""
        return f"{self.of} {self.point.key}"

    @property
    def progress(self) -> float:
        """Share of the work that is done, 0 to 1."""
        if self.done:
            return 1.0
        job = self.job  # its thread can remove it at any moment
        return job.progress if job is not None else 0.0

    def release_tables(self) -> None:
        """Free the tables; the summary stays."""
        if self.run is not None:
            self.run = replace(self.run, tables={})

    def release_captures(self) -> None:
        """Free the captures of packets."""
        if self.run is not None:
            self.run = replace(self.run, captures={})


class Pool:
    """Runs tasks on ``jobs`` threads, or on the caller's executor, and can be stopped."""

    def __init__(self, jobs: int | None = None, executor: Executor | None = None) -> None:
        """Use the ``executor`` as it is, with any number of workers, and leave it running."""
        self._executor = executor
        self._here = Pool(jobs) if executor is not None else None
        """Pool for work that needs this machine."""
        self._jobs = jobs or core_count()
        self._stopped = threading.Event()
        self._tasks: Sequence[Task] = ()

    def run(self, tasks: Sequence[Task], look: Callable[[Sequence[Task]], None]) -> Iterator[Task]:
        """Run all tasks, in the order of their start; yield each when it is done.

        ``look`` is called with all tasks about ten times a second, on the caller's thread. After `stop`, running tasks
        are cancelled, waiting tasks never start, and all are still yielded.
        """
        self._tasks = tasks
        if self._executor is not None:
            yield from self._run_elsewhere(tasks, look, self._executor)
            return
        with ThreadPoolExecutor(self._jobs, thread_name_prefix="run") as executor:
            try:
                arrivals: Arrivals[Task, None] = Arrivals(lambda: look(tasks))
                for task in tasks:
                    arrivals.add(executor.submit(self._work, task), task)
                for task, future in arrivals.each():
                    future.result()  # an error that `_work` did not expect is a bug, and is raised here
                    yield task
            finally:
                self.stop()

    def _run_elsewhere(
        self, tasks: Sequence[Task], look: Callable[[Sequence[Task]], None], executor: Executor
    ) -> Iterator[Task]:
        """Run on the executor, except for work that needs this machine. Abandon tasks that cannot be cancelled."""
        from hitless.runs import elsewhere  # noqa: PLC0415 - not needed on this machine

        elsewhere.refuse_what_cannot_travel(tasks)
        arrivals: Arrivals[Task, elsewhere.Answer] = Arrivals(lambda: look(tasks))
        bound = [task for task in tasks if elsewhere.is_bound(task)]
        for task in tasks:
            if task in bound:
                continue
            task.began_s = time.monotonic()
            future = elsewhere.submit(task, executor)
            if future is None:
                task.ended_s = time.monotonic()
                yield task
            else:
                arrivals.add(future, task)
        if self._here is not None and bound:
            yield from self._here.run(bound, look)
        for task, future in arrivals.each(self._stopped):
            if future.done() and not future.cancelled():
                elsewhere.receive(task, future)
            task.ended_s = time.monotonic()
            yield task

    def stop(self) -> None:
        """End everything soon. Call it from any thread, any number of times."""
        self._stopped.set()
        if self._here is not None:
            self._here.stop()
        for task in self._tasks:
            job = task.job  # its thread can remove it at any moment
            if job is not None:
                _end(job, has_use_for_part=task.point.has_use_for_part)

    def tell(self) -> None:
        """Print the state of each run in progress on stderr. Call it from any thread."""
        is_told = False
        for task in self._tasks:
            describe: Callable[[], str | None] | None = getattr(task.job, "describe", None)
            text = describe() if describe is not None else None
            if text is not None:
                print_note(f"{task.name}: {text}")
                is_told = True
        if self._executor is not None:
            print_note("runs on the executor have no report")
        elif not is_told:
            print_note("no run in progress has a report")

    def _work(self, task: Task) -> None:
        cpu_began_s = time.thread_time()
        try:
            if not self._stopped.is_set():
                task.began_s = time.monotonic()
                task.run = self._run(task)
        except RunCancelled:
            pass
        except RunStopped as stopped:
            if task.point.has_use_for_part:
                task.run = stopped.run
            if not stopped.was_interrupted:
                task.failure = stopped
        except HitlessError as failure:
            task.failure = failure
        except MemoryError:
            task.failure = out_of_memory(task.name)
        finally:
            task.job = None
            task.cpu_s = time.thread_time() - cpu_began_s
            task.ended_s = time.monotonic()

    def _run(self, task: Task) -> Run:
        task.job = task.point.work.job(file_name=task.name, seed=task.seed)
        # A stop between the check above and here did not see a job to cancel.
        if self._stopped.is_set():
            raise RunCancelled
        run = task.job.run(keep=task.point.keep)
        return task.point.reduce(run) if task.point.reduce else run


def _end(job: Job, *, has_use_for_part: bool) -> None:
    stop: Callable[[], None] | None = getattr(job, "stop", None)
    if has_use_for_part and stop is not None:
        stop()
    else:
        job.cancel()
