"""A live run: the fabric of a scenario under the wall clock, with real interfaces where some of its nodes are.

The native module's `Live` is reached through this module alone.
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
"""How frames cross to the kernel: by AF_PACKET, by AF_XDP in its best mode or a stated one, or by what works best."""

_NICE = -15
"""The priority of the thread that forwards, where the process may have it: frames are not to wait for programs."""
_REAL_TIME_PRIORITY = 1
"""The lowest: nothing that the kernel itself does in real time has to wait for it."""


@dataclass(frozen=True, slots=True)
class Status:
    """A moment of a run. ``values`` is the complete object, as crates/live/src/status.rs describes it."""

    values: Mapping[str, Any]

    @property
    def misses(self) -> int:
        """Departures and timers that came later than the slack."""
        departures = sum(port["departures"]["misses"] for port in self.values["ports"])
        return int(departures + self.values["timers"]["misses"])

    @property
    def is_overloaded(self) -> bool:
        """Was anything missed, overrun or refused, so that this is not the switch of the scenario?"""
        return bool(self.values["is_overloaded"])

    @property
    def warnings(self) -> list[str]:
        """What the reader should know."""
        return list(self.values["warnings"])

    @property
    def not_written(self) -> str | None:
        """Folder and reason if the results could not be written; otherwise None."""
        return self.values.get("not_written")


@dataclass(frozen=True, slots=True)
class LiveScenario:
    """A scenario that was found fit for a live run."""

    text: str
    """As somebody wrote it."""
    file_name: str
    effective: Mapping[str, Any]
    """With every default spelled out."""
    hosts: Sequence[str]
    switches: Sequence[str]
    links: Sequence[Mapping[str, Any]]
    """``name`` and ``reverse`` in the two directions, ``ends``, ``rate_bps``."""


def check_live(text: str, file_name: str) -> LiveScenario:
    """Check a scenario for a live run: it needs neither flows nor an end. Raises `RefusedScenario`."""
    with refusals_explained(file_name):
        effective, fabric_json = _native.scenario_check_live(text, file_name)
    fabric = json.loads(fabric_json)
    return LiveScenario(text, file_name, tomllib.loads(effective), fabric["hosts"], fabric["switches"], fabric["links"])


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """How a run works, beside its scenario."""

    mode: Mode = "packet"
    slack_us: float = 1_000.0
    """Later than this is a missed deadline."""
    busy_poll: bool = False
    """Never sleep: a processor of its own, and the least jitter."""
    frames: int = 8_192
    """How many frames may be in the fabric at once."""
    frame_bytes: int = 2_048
    """The longest frame, without check sequence."""
    ring_frames: int = 1_024
    """What each ring of an interface holds."""
    record: Path | None = None
    """Where frames, commands and decisions are kept, for `replay`."""
    real_time: bool = False
    """Forward before all ordinary programs, as far as the kernel allows (SCHED_RR; it leaves them 5 % by default)."""


DEFAULT_OPTIONS = LiveOptions()


@dataclass(frozen=True, slots=True)
class PortNotice:
    """News of an interface: it is gone, or it was gone and is used again."""

    node: str
    interface: str
    is_back: bool
    detail: str
    """Why it is not used."""


def _hasten(thread: int, *, is_real_time: bool) -> None:
    """Give a thread the priority of one that forwards. Raises `PermissionError`."""
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
    """The first decision that differs, and both that were made; None when all are equal."""
    is_complete: bool
    """The recording has its end: the process that made it was not killed."""
    summary: Mapping[str, Any]
    """Of the simulation."""


def replay(path: Path, other: LiveScenario | None = None) -> Replay:
    """Repeat a recorded run in simulation, and compare decision by decision. Raises `HitlessError`.

    With another scenario its switches get the frames of the run, and what becomes of packets is compared.
    """
    try:
        with faults_explained(str(path), "hitless"):
            found = json.loads(_native.live_replay(path, other.text if other else None))
    except (OSError, ValueError) as refused:
        raise BadInput(str(refused)) from refused
    return Replay(**{name: found[name] for name in Replay.__dataclass_fields__})


class LiveRun:
    """One live run. It runs in a thread of its own while `running` is in force; all else is for any thread.

    Interfaces are those of the network namespace of the thread that makes it. Raises `RefusedScenario` for a scenario
    that cannot be run live, `HitlessError` for interfaces that cannot be opened.
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
        """Does it still forward?"""
        return self._thread is not None and self._thread.is_alive()

    @contextmanager
    def running(self, *, at_end: Callable[[], None]) -> Iterator[None]:
        """Run while the block does; ``at_end`` is called, in another thread, when the run has ended."""
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
            self._failure = HitlessError(str(failed), hint="this is a fault of hitless; please report it")
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
        """End the run; returns when it has ended."""
        self._native.stop()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def status(self) -> Status:
        """How things are, or were at the end. Raises `HitlessError` when the run does not tell."""
        try:
            return Status(json.loads(self._native.status()))
        except RuntimeError as silent:
            raise self._failure or HitlessError(str(silent)) from silent

    def command(self, text: str) -> None:
        """Have it do something to a link. Raises `HitlessError` with the reason when it is refused."""
        try:
            self._native.command(text)
        except (ValueError, RuntimeError) as refused:
            raise HitlessError(str(refused)) from refused

    def notices(self) -> list[PortNotice]:
        """What has become of interfaces since the last call."""
        return [PortNotice(*notice) for notice in self._native.notices()]

    def run(self) -> "Run":
        """What the run has left, as a simulated one does. Raises `HitlessError` when it has not ended well."""
        # Frames of polars are for the end of a run: whoever asks a lab for its state does not wait for them.
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
        """How things were at the end. Raises the `HitlessError` that ended the run."""
        if self._failure is not None:
            raise self._failure
        return self.status()
