"""Places for runs: threads of this process, other processes, or a Ray cluster."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from hitless.errors import BadInput

PLACES = '"threads", "processes", "ray", or the address of a Ray cluster such as "ray://head:10001"'
_RETRIES = 5
"""Maximum restarts of a run after losing its worker, before it counts as failed."""


@contextmanager
def executor_at(place: str | None, jobs: int | None = None) -> Iterator[Executor | None]:
    """Return the executor for a place, as named by ``--on``; None for threads. Raises `BadInput`."""
    if place in {None, "threads"}:
        yield None
    elif place == "processes":
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as executor:
            yield executor
    elif place is not None and (place == "ray" or "://" in place or ":" in place):
        with RayExecutor(None if place == "ray" else place) as executor:
            yield executor
    else:
        raise BadInput(f"there is no executor {place!r}", rule=PLACES)


class RayExecutor(Executor):
    """A Ray cluster as an executor: one processor for each task. A task that loses its worker is restarted.

    ``address`` names a cluster, such as "ray://head:10001" or "head:6379". The default is the cluster of this machine,
    or else a new one on this machine. Needs ``hitless[ray]`` here and hitless on every node. Raises `BadInput` without
    Ray or without a cluster.
    """

    def __init__(self, address: str | None = None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray  # noqa: PLC0415 - an extra, and slow to import
        except ImportError as missing:
            raise BadInput("Ray is not installed", hint="pip install 'hitless[ray]'") from missing
        self._ray = ray
        self._is_own = not ray.is_initialized()
        if self._is_own:
            _join(ray, address)
        self._call = ray.remote(num_cpus=1, max_retries=_RETRIES)(_call)
        self._references: dict[Future[Any], Any] = {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function on a worker."""
        reference = self._call.remote(fn, args, kwargs)
        future: Future[Any] = reference.future()
        self._references[future] = reference
        future.add_done_callback(self._forget)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster; a cluster started here ends. Pending work is abandoned."""
        for reference in list(self._references.values()):
            self._ray.cancel(reference, force=False)
        if self._is_own:
            self._ray.shutdown()

    def _forget(self, future: Future[Any]) -> None:
        self._references.pop(future, None)


def _join(ray: Any, address: str | None) -> None:
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address is not None:
            ray.init(address, **quiet)
        elif "RAY_ADDRESS" in os.environ:
            ray.init(**quiet)
        else:
            ray.init("local", include_dashboard=False, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as refused:
        hint = 'is it running? check with "ray status" on its head; "ray" starts one on this machine'
        raise BadInput(f"cannot join the Ray cluster: {refused}", where=address or "ray", hint=hint) from refused


def _call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)
