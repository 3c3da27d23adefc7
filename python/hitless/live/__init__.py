"""A live run: the fabric of a scenario in real time, with real interfaces for some of its nodes.

Only this module uses the native module's `Live`.
"""

import json
import os
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from hitless import _native
from hitless.checking import faults_explained, mechanism_failed, refusals_explained
from hitless.errors import BadInput, HitlessError, RefusedScenario

if TYPE_CHECKING:
    from hitless.outcome.run import Run

NetworkInterface = _native.NetworkInterface
linkguardian_copies = _native.linkguardian_copies
link_inner_mtu = _native.link_inner_mtu
link_outer_mtu = _native.link_outer_mtu

Mode: TypeAlias = Literal["auto", "packet", "xdp", "xdp-zero-copy", "xdp-copy", "xdp-generic"]
"""Path of frames to the kernel: AF_PACKET, AF_XDP in its best mode or a stated one, or whichever works best."""

_NICE = -15
"""Nice value of the forwarding thread if permitted, so that frames do not wait for programs."""
_REAL_TIME_PRIORITY = 1
"""Lowest real-time priority: below the kernel's own real-time threads."""


@dataclass(frozen=True, slots=True)
class Status:
    """Status of a run at one moment. ``values`` is the complete object, described in crates/live/src/status.rs."""

    values: Mapping[str, Any]

    @property
    def misses(self) -> int:
        """Departures and timers that were later than the slack."""
        departures = sum(port["departures"]["misses"] for port in self.values["ports"])
        return int(departures + self.values["timers"]["misses"])

    @property
    def is_overloaded(self) -> bool:
        """Was anything missed, overrun or refused, so that the switch does not behave like the scenario?"""
        return bool(self.values["is_overloaded"])

    @property
    def warnings(self) -> list[str]:
        """Warnings for the reader."""
        return list(self.values["warnings"])

    @property
    def not_written(self) -> str | None:
        """Folder and reason if the results could not be written; otherwise None."""
        return self.values.get("not_written")


@dataclass(frozen=True, slots=True)
class LiveScenario:
    """A scenario that passed the check for live runs."""

    text: str
    """Text as the user wrote it."""
    file_name: str
    effective: Mapping[str, Any]
    """Scenario with every default spelled out."""
    hosts: Sequence[str]
    switches: Sequence[str]
    links: Sequence[Mapping[str, Any]]
    """As `hitless.checking.fabric_of` describes them."""


def check_live(text: str, file_name: str) -> LiveScenario:
    """Check a scenario for a live run: flows and a duration are optional. Raises `RefusedScenario`."""
    with refusals_explained(file_name):
        effective, fabric_json = _native.scenario_check_live(text, file_name)
    fabric = json.loads(fabric_json)
    return LiveScenario(text, file_name, tomllib.loads(effective), fabric["hosts"], fabric["switches"], fabric["links"])


@dataclass(frozen=True, slots=True)
class LiveOptions:
    mode: Mode = "packet"
    slack_us: float = 1_000.0
    """Lateness above which a deadline is missed."""
    busy_poll: bool = False
    """Never sleep: occupies a processor for minimum jitter."""
    frames: int = 8_192
    """Maximum number of frames in the fabric at once."""
    frame_bytes: int = 2_048
    """Maximum frame size, without check sequence."""
    ring_frames: int = 1_024
    """Capacity of each ring of an interface, in frames."""
    record: Path | None = None
    """File for frames, commands and decisions, for `replay`."""
    captures: Path | None = None
    """Folder for the files of ``[[measure.capture]]``; without it nothing is captured."""
    real_time: bool = False
    """Forward before all ordinary programs, within the kernel's limits (SCHED_RR; by default it leaves them 5 %)."""


DEFAULT_OPTIONS = LiveOptions()


@dataclass(frozen=True, slots=True)
class PortNotice:
    node: str
    interface: str
    change: Literal["gone", "back", "lost", "merged"]
    """It disappeared, is used again, cannot be used again, or dropped its first frame that an offload had merged."""
    detail: str
    """Reason for not using it, or the counter."""


def _hasten(thread: int, *, is_real_time: bool) -> None:
    """Raise the priority of a forwarding thread. Raises `PermissionError`."""
    if is_real_time:
        os.sched_setscheduler(thread, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(_REAL_TIME_PRIORITY))
    else:
        os.setpriority(os.PRIO_PROCESS, thread, _NICE)


@dataclass(frozen=True, slots=True)
class Replay:
    """A recorded run, repeated in simulation."""

    arrivals: int
    commands: int
    equal_decisions: int
    divergence: str | None
    """The first decision that differs, in both versions; None if all are equal."""
    is_complete: bool
    """Is the recording complete? False if its process was killed."""
    summary: Mapping[str, Any]
    """Summary of the simulation."""


def replay(path: Path, other: LiveScenario | None = None) -> Replay:
    """Repeat a recorded run in simulation, and compare decision by decision. Raises `HitlessError`.

    With another scenario, its switches receive the same frames, and the fate of packets is compared.
    """
    try:
        with faults_explained(str(path), "hitless"):
            found = json.loads(_native.live_replay(path, other.text if other else None))
    except (OSError, ValueError) as refused:
        raise BadInput(str(refused)) from refused
    return Replay(**{name: found[name] for name in Replay.__dataclass_fields__})


class LiveRun:
    """One live run. It has a separate thread while `running` is active; all other methods are thread-safe.

    It uses the interfaces in the network namespace of the thread that creates it. Raises `RefusedScenario` for a
    scenario that cannot run live, `HitlessError` for interfaces that cannot be opened.
    """

    def __init__(
        self,
        scenario: LiveScenario,
        *,
        interfaces: Mapping[str, str],
        stations: Mapping[str, str] | None = None,
        options: LiveOptions = DEFAULT_OPTIONS,
    ) -> None:
        given = asdict(options)
        self._is_real_time = given.pop("real_time")
        given["stations"] = dict(stations or {})
        try:
            with refusals_explained(scenario.file_name):
                self._native = _native.Live(scenario.text, scenario.file_name, dict(interfaces), **given)
        except OSError as refused:
            raise HitlessError(str(refused)) from refused
        self._file_name = scenario.file_name
        self._failure: HitlessError | None = None
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @contextmanager
    def running(self, *, at_end: Callable[[], None]) -> Iterator[None]:
        """Run while the block does; another thread calls ``at_end`` when the run has ended."""
        self._thread = threading.Thread(target=self._run, args=(at_end,), name="live")
        self._thread.start()
        try:
            self._wait_until_under_way()
            yield
        finally:
            self.stop()
            self._thread.join()

    def _run(self, at_end: Callable[[], None]) -> None:
        with suppress(PermissionError):
            _hasten(threading.get_native_id(), is_real_time=self._is_real_time)
        try:
            self._native.run()
        except _native.MechanismError as failed:
            self._failure = mechanism_failed(failed, self._file_name)
        except _native.ScenarioError as refused:
            self._failure = RefusedScenario(str(refused))
        except _native.SimulationError as failed:
            self._failure = HitlessError(str(failed), hint="this is a bug in hitless; please report it")
        finally:
            at_end()

    def _wait_until_under_way(self) -> None:
        while self.is_running:
            try:
                self._native.status()
            except RuntimeError:
                time.sleep(1e-3)
            else:
                return

    def stop(self) -> None:
        """Stop the run, and wait for its end."""
        self._native.stop()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def status(self) -> Status:
        """Return the status now, or at the end. Raises `HitlessError` if the run does not answer."""
        try:
            return Status(json.loads(self._native.status()))
        except RuntimeError as silent:
            raise self._failure or HitlessError(str(silent)) from silent

    def command(self, text: str) -> None:
        """Give a command for a link. Raises `HitlessError` with the reason if it is refused."""
        try:
            self._native.command(text)
        except (ValueError, RuntimeError) as refused:
            raise HitlessError(str(refused)) from refused

    def take(
        self, node: str, frames: Literal["all", "link", "nothing"], *, between_s: tuple[float, float] | None = None
    ) -> None:
        """Set the frames that the port of a node takes: all, only frames between switches, or nothing.

        With ``between_s``, it takes only those that the kernel receives between these times of the monotonic clock.
        """
        between_ns = None if between_s is None else (round(between_s[0] * 1e9), round(between_s[1] * 1e9))
        try:
            self._native.take(node, frames, between_ns)
        except (ValueError, RuntimeError) as refused:
            raise HitlessError(str(refused)) from refused

    def notices(self) -> list[PortNotice]:
        """Return changes of interfaces since the last call."""
        return [PortNotice(*notice) for notice in self._native.notices()]

    def run(self) -> "Run":
        """Return the results, in the form of a simulated run. Raises `HitlessError` if it failed."""
        # Polars is only needed at the end of a run: importing it would delay queries of a lab's status.
        from hitless.outcome.run import Run, Summary  # noqa: PLC0415
        from hitless.outcome.tables import Tables  # noqa: PLC0415

        status = self.result()
        try:
            summary, tables = self._native.summary, self._native.tables
        except RuntimeError as lacking:
            raise HitlessError(str(lacking)) from lacking
        return Run(
            effective=self._native.effective,
            summary=Summary(json.loads(summary)),
            tables=Tables(tables),
            wall_s=float(status.values["elapsed_s"]),
        )

    def result(self) -> Status:
        """Return the final status. Raises the `HitlessError` that ended the run."""
        if self._failure is not None:
            raise self._failure
        return self.status()
