"""The process of a lab: from its start to its clean end, whatever ends it.

    python -m hitless.lab.process NAME    reads a `Launch` from standard input, reports progress on standard output

The name is only there for process listings.

A signal only sets a flag, which is checked between steps, so it cannot leave anything half done. After SIGKILL,
`hitless.lab.registry.sweep` cleans up.
"""

import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import Field

from hitless.errors import HitlessError
from hitless.lab import control, kernel, kernel_drops, network, registry, results
from hitless.lab.links import LinkNames, LinkStates
from hitless.lab.plan import LabLinkPlan, LabPlan, make_plan
from hitless.lab.rates import require_rates
from hitless.lab.tuning import tunings
from hitless.live import LiveOptions, LiveRun, LiveScenario, Mode, Status, check_live, ports
from hitless.prototype.kinds import load
from hitless.service import control as service_control
from hitless.service.configuration import Checked
from hitless.service.privileges import OF_LABS, drop_all_but
from hitless.service.process import handling

log = logging.getLogger(__name__)

RING_FRAMES_MAX = 4_096
"""Capacity for 50 ms of full frames at 1 Gb/s: the maximum time that a program keeps the lab from its processor."""
RING_FRAMES_MIN = 256
RING_FRAMES_TOTAL = 65_536
"""Limit for the rings of all hosts together, to save memory: 256 MB."""


class Launch(Checked):
    name: str
    text: str
    """TOML of the scenario."""
    file_name: str
    mode: Mode = "packet"
    slack_us: float = 1_000.0
    is_strict: bool = False
    record: str | None = None
    """Absolute path."""
    congestion: str | None = None
    mechanisms: list[str] = Field(default_factory=list)
    """Absolute paths of Python files with mechanisms that the scenario names."""
    real_time: bool = False
    """Give the fabric priority over all other programs of this machine."""
    ipv6: bool = False
    """Give hosts IPv6 addresses, too."""
    out: str | None = None
    """Absolute path of a folder for results."""
    command: list[str] = Field(default_factory=list)
    """The user's command line."""


Tell = Callable[[str, Any], None]
"""Function that takes "note" with a sentence, then once "ready" with a document, or "error" with an error."""


class Interrupted(HitlessError):
    """The lab was stopped before it was up."""

    exit_code = 130


def plan_of(name: str, scenario: LiveScenario, *, ipv6: bool = False) -> LabPlan:
    """Plan the lab. Raises `BadInput`."""
    links = [
        LabLinkPlan(
            name=link["name"],
            reverse=link["reverse"],
            ends=tuple(link["ends"]),
            rates_bps=tuple(direction["rate_bps"] for direction in link["directions"]),
        )
        for link in scenario.links
    ]
    return make_plan(name, scenario.hosts, scenario.switches, links, ipv6=ipv6)


class Lab:
    """One run of a lab. `run` returns after the end and the removal of everything."""

    def __init__(self, launch: Launch, tell: Tell) -> None:
        self._launch = launch
        self._tell = tell
        self._place = registry.Place(launch.name)
        load([Path(file) for file in launch.mechanisms])
        self._scenario = check_live(launch.text, launch.file_name)
        self._plan = plan_of(launch.name, self._scenario, ipv6=launch.ipv6)
        self._names = LinkNames(self._plan.links)
        self._states = LinkStates(self._scenario.effective, self._plan.links)
        self._is_stopping = False
        self._server: service_control.Server | None = None
        self._result: Status | None = None

    def stop(self) -> None:
        """Stop soon. Safe to call from any thread, or a signal handler."""
        self._is_stopping = True
        if self._server is not None:
            self._server.wake()

    def run(self) -> Status:
        """Start the lab, run until stopped, remove everything; return the results. Raises `HitlessError`."""
        with registry.lock(self._place):
            if registry.sweep(self._place):
                self._tell("note", f"removed the remains of the lab {self._plan.name}, which had no process")
            network.require_free(self._plan)
            registry.write(self._place, self._record())
            try:
                return self._run()
            finally:
                network.remove(self._plan)
                self._place.clear()

    def _record(self) -> registry.Record:
        ticks = kernel.process_start_ticks(os.getpid())
        assert ticks is not None
        return registry.Record(
            plan=self._plan,
            pid=os.getpid(),
            process_start_ticks=ticks,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            scenario=self._launch.file_name,
            is_strict=self._launch.is_strict,
            owner=registry.current_user(),
        )

    def _run(self) -> Status:
        hosts = self._build()
        kernel.enter(self._plan.namespace)
        self._require_going_on()
        live = LiveRun(
            self._scenario,
            interfaces=self._plan.interfaces,
            stations={host.hardware_address: host.name for host in self._plan.hosts},
            options=self._options(),
        )
        drop_all_but(OF_LABS)
        drops = kernel_drops.of_lab(self._plan)
        self._server = service_control.Server(self._place.socket, control.AnyRequest)
        is_up = False
        try:
            with live.running(at_end=self._server.wake):
                self._require_going_on()
                require_rates(live.status().values)
                self._tell("ready", {"hosts": hosts, "status": live.status().values})
                is_up = True
                self._server.serve(lambda request: self._handle(live, drops, request), lambda: self._goes_on(live))
            return self._ended(live, drops)
        finally:
            self._server.close()
            if self._launch.out and not is_up:
                results.discard(Path(self._launch.out))

    def _options(self) -> LiveOptions:
        ring_frames = min(RING_FRAMES_MAX, max(RING_FRAMES_MIN, RING_FRAMES_TOTAL // len(self._plan.hosts)))
        return LiveOptions(
            mode=self._launch.mode,
            slack_us=self._launch.slack_us,
            ring_frames=ring_frames,
            record=Path(self._launch.record) if self._launch.record else None,
            captures=results.captures_of(Path(self._launch.out)) if self._launch.out else None,
            real_time=self._launch.real_time,
        )

    def _build(self) -> dict[str, str]:
        """Make namespaces and veths; return the settings of each host's kernel."""
        scenario, congestion = self._scenario, self._launch.congestion
        settings, notes = tunings(scenario.effective, scenario.hosts, kernel.congestion_controls(), congestion)
        for note in notes:
            self._tell("note", note)
        self._place.hosts_file.write_text(_hosts_text(self._plan), encoding="ascii")
        # Readable for programs in hosts, under any user; the folder around it is closed to everyone else.
        self._place.hosts_file.chmod(0o644)
        for note in network.build(self._plan, settings, self._require_going_on):
            self._tell("note", note)
        return {host: str(tuning) for host, tuning in settings.items()}

    def _require_going_on(self) -> None:
        if self._is_stopping:
            raise Interrupted(f"the lab {self._plan.name} was stopped before it was up")

    def _goes_on(self, live: LiveRun) -> bool:
        ports.tell_changes(live, ports.switch_off_again)
        return not self._is_stopping and live.is_running

    def _ended(self, live: LiveRun, drops: kernel_drops.KernelDrops) -> Status:
        """Return the results of a finished run, after writing them if requested."""
        if self._result is None:
            self._result = drops.added_to(live.result())
            if self._launch.out is not None:
                self._result = results.write(Path(self._launch.out), live, self._result, self._launch.command)
        return self._result

    def _handle(self, live: LiveRun, drops: kernel_drops.KernelDrops, request: control.Request) -> dict[str, Any]:
        if isinstance(request, control.Status):
            return {**drops.added_to(live.status()).values, "states": self._states.described()}
        if isinstance(request, control.Stop):
            live.stop()
            self._is_stopping = True
            return dict(self._ended(live, drops).values)
        link = self._names.find(request.link)
        live.command(_command(request, link))
        self._states.follow(request, link)
        return {}


def _command(request: control.LinkRequest, link: str) -> str:
    match request:
        case control.Corrupt(rate=rate, mean_burst_frames=None):
            return f"corrupt {link} {rate!r}"
        case control.Corrupt(rate=rate, mean_burst_frames=frames):
            return f"corrupt {link} {rate!r} {frames!r}"
        case control.Protect(copies=copies, mode=mode):
            return f"protect {link} {copies} {mode}"
        case _:
            return f"{request.command} {link}"


def _hosts_text(plan: LabPlan) -> str:
    own = ["127.0.0.1 localhost"]
    addresses = [f"{host.address} {host.name}" for host in plan.hosts]
    addresses += [f"{host.address_v6} {host.name}" for host in plan.hosts if host.address_v6 is not None]
    return "".join(f"{line}\n" for line in own + addresses)


def ended_by_signals(lab: Lab) -> AbstractContextManager[None]:
    """Let SIGINT, SIGTERM and SIGHUP stop the lab while the block runs; only SIGKILL can interrupt its cleanup."""
    return handling(dict.fromkeys((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), lab.stop))


class Parent:
    """The process that waits until the lab is up."""

    def __init__(self) -> None:
        self.is_waiting = True

    def tell(self, kind: str, what: Any) -> None:
        """Send it a message; after the lab is up it has gone, so this writes to the log."""
        sys.stdout.write(json.dumps({kind: what}) + "\n")
        sys.stdout.flush()
        if kind == "ready":
            self.is_waiting = False
            os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


def main() -> int:
    """Run the process that `hitless.lab.client.start` starts."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    launch = Launch.model_validate_json(sys.stdin.read())
    place, parent = registry.Place(launch.name), Parent()
    # A signal between the lab's end and the process's would leave the log behind.
    with ExitStack() as to_the_last_line:
        try:
            lab = Lab(launch, parent.tell)
            to_the_last_line.enter_context(ended_by_signals(lab))
            result = lab.run()
        except HitlessError as failed:
            log.error("%s", failed)  # noqa: TRY400 - the text says it all
            if parent.is_waiting and not isinstance(failed, registry.Held):
                # The parent receives everything, so the log is removed. Under a held name it belongs to another lab.
                place.log.unlink(missing_ok=True)
            parent.tell("error", service_control.encoded(failed))
            return failed.exit_code
        except Exception as fault:
            log.exception("internal error")
            what = f"internal error: {type(fault).__name__}: {fault}"
            hint = f"this is a bug in hitless; where it happened is in {place.log}"
            parent.tell("error", service_control.encoded(HitlessError(what, hint=hint)))
            return 1
        log.info("ended: %s", json.dumps(result.values))
        if not result.is_overloaded:
            place.log.unlink(missing_ok=True)
        return 0


if __name__ == "__main__":
    threading.current_thread().name = "control"
    sys.exit(main())
