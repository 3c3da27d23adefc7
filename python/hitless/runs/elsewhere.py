"""Runs on a foreign executor: other processes, other machines.

The job carries a point's work as text, its seed and the tables to keep; the answer is the reduced run. Only this
process reads and writes cached points, so workers do not need a shared disk.
"""

import time
from collections.abc import Collection, Iterable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from hitless import _native
from hitless.errors import BadInput, HitlessError
from hitless.runs.keeping import KeptWork
from hitless.runs.point import Reduction
from hitless.simulation import PacketSimulation, Run, Work, program_identity

if TYPE_CHECKING:
    from hitless.runs.pool import Task


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a run elsewhere."""

    run: Run | None
    failure: HitlessError | None
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Order:
    """A run to do elsewhere."""

    work: Work
    name: str
    seed: int | None
    keep: Collection[str] | None
    reduce: Reduction | None
    program: str
    """Version of the program that sends the order: another version would give other results."""


@runtime_checkable
class StaysHere(Protocol):
    """Work that needs this machine itself, such as a lab."""

    stays_here: bool


def work_out(order: Order) -> Answer:
    """Do the work; called wherever the executor runs it."""
    began_s = time.thread_time()
    if program_identity() != order.program:
        what = f"the worker has another hitless: {_native.version()}, or another build of it"
        return Answer(None, HitlessError(what, where=order.name, hint="install the same wheel on every machine"), 0.0)
    try:
        run = order.work.job(file_name=order.name, seed=order.seed).run(order.keep)
        run = order.reduce(run) if order.reduce else run
    except HitlessError as failure:
        return Answer(None, failure, time.thread_time() - began_s)
    return Answer(run, None, time.thread_time() - began_s)


def is_bound(task: "Task") -> bool:
    """Must the task run on this machine?"""
    return isinstance(task.point.work, StaysHere)


def refuse_what_cannot_travel(tasks: Iterable["Task"]) -> None:
    """Refuse mechanisms that are Python classes: only this process knows them. Raises `BadInput`."""
    for task in tasks:
        work = task.point.work
        work = work.work if isinstance(work, KeptWork) else work
        if isinstance(work, PacketSimulation) and (kinds := work.python_kinds()):
            what = f"mechanisms that are Python classes only run in this process: {', '.join(kinds)}"
            hint = "omit --on or executor=, or make the mechanism a crate: docs/how-to/mechanism-in-rust.md"
            raise BadInput(what, where=task.name, hint=hint)


def submit(task: "Task", executor: Executor) -> Future[Answer] | None:
    """Submit a task; return None for a task with cached results, which is done at once."""
    point = task.point
    given = point.work
    work, reduce = given, point.reduce
    if isinstance(given, KeptWork):
        kept = given.points.load(given.digest)
        if kept is not None:
            task.run = kept
            return None
        given.is_missing()
        work, reduce = given.work, given.reduce
    return executor.submit(work_out, Order(work, task.name, task.seed, point.keep, reduce, program_identity()))


def receive(task: "Task", future: Future[Answer]) -> None:
    """Receive a task's results from the executor, and store them."""
    try:
        answer = future.result()
    except Exception as lost:  # noqa: BLE001 - whatever an executor raises, it has no result for us
        what = f"the executor has lost the run: {type(lost).__name__}: {lost}".rstrip(": ")
        task.failure = HitlessError(what, where=task.name, hint="finished runs are kept: start the same again")
        return
    task.run, task.failure, task.cpu_s = answer.run, answer.failure, answer.cpu_s
    if answer.run is not None and isinstance(task.point.what, KeptWork):
        task.point.what.points.keep(task.point.what.digest, answer.run)
