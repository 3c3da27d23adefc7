"""A live run: the fabric of a scenario under the wall clock, with real interfaces where some of its nodes are.

The native module's `Live` is reached through this module alone.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

from hitless import _native
from hitless.errors import HitlessError, RefusedScenario

Mode: TypeAlias = Literal["auto", "packet", "xdp"]
"""How frames cross to the kernel: by AF_PACKET, by AF_XDP, or by AF_XDP where it works."""


class LiveRun:
    """One live run. It runs in a thread of its own while `running` is in force; all else is for any thread.

    Interfaces are those of the network namespace of the thread that makes it. Raises `RefusedScenario` for a scenario
    that cannot be run live, `HitlessError` for interfaces that cannot be opened.
    """

    def __init__(
        self,
        text: str,
        *,
        file_name: str,
        interfaces: Mapping[str, str],
        stations: Mapping[str, str] | None = None,
        mode: Mode = "auto",
        record: Path | None = None,
    ) -> None:
        options = {"mode": mode, "stations": dict(stations or {}), "record": str(record) if record else None}
        try:
            self._native = _native.Live(text, file_name, dict(interfaces), **options)
        except _native.ScenarioError as refused:
            raise RefusedScenario(str(refused)) from refused
        except _native.LiveError as refused:
            raise HitlessError(str(refused)) from refused
        self._failure: HitlessError | None = None
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        """Does it still forward?"""
        return self._thread is not None and self._thread.is_alive()

    @contextmanager
    def running(self, *, at_end: Callable[[], None]) -> Iterator[None]:
        """Run while the block does; ``at_end`` is called, in another thread, when the run has ended."""
        self._thread = threading.Thread(target=self._run, args=(at_end,), name="live")
        self._thread.start()
        try:
            yield
        finally:
            self.stop()
            self._thread.join()

    def _run(self, at_end: Callable[[], None]) -> None:
        try:
            self._native.run()
        except _native.LiveError as failed:
            self._failure = HitlessError(str(failed))
        except _native.SimulationError as failed:
            self._failure = HitlessError(str(failed), hint="this is a fault of hitless; please report it")
        finally:
            at_end()

    def stop(self) -> None:
        """End the run; returns when it has ended."""
        self._native.stop()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def status(self) -> dict[str, Any]:
        """What has been counted so far."""
        status: dict[str, Any] = json.loads(self._native.status())
        return status

    def command(self, command: Mapping[str, Any]) -> None:
        """Have it do something to a link. Raises `HitlessError` with the reason when it is refused."""
        try:
            self._native.command(json.dumps(command))
        except ValueError as refused:
            raise HitlessError(str(refused)) from refused

    def result(self) -> dict[str, Any]:
        """What the whole run has counted. Raises the `HitlessError` that ended it."""
        if self._failure is not None:
            raise self._failure
        return self.status()
