"""Access to a lab from other processes: start it, query it, run programs in it, stop it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from hitless.errors import BadInput, HitlessError
from hitless.lab import control, kernel, registry
from hitless.lab.plan import HostPlan
from hitless.lab.process import Launch
from hitless.live import Status
from hitless.service import control as service_control
from hitless.suggest import did_you_mean

_GRACE_S = 20.0
"""Time for a lab to end before it is killed."""
_LOG_LINES = 15


class CommandMissing(BadInput):
    """The program does not exist; worded as in a shell."""

    exit_code = 127


def start(launch: Launch, note: Callable[[str], None]) -> dict[str, Any]:
    """Start a lab in a separate process and wait until it is up.

    Raises `HitlessError` after removing everything again.
    """
    place = registry.Place(launch.name)
    registry.make_run_folder()
    process = None
    try:
        process = _spawn(place)
        return _wait_until_ready(process, launch, note)
    except KeyboardInterrupt:
        note(f"interrupted: removing the lab {launch.name}; with many hosts this takes a while")
        if process is not None:
            _end(process, place)
        # A process that does not handle signals yet ends by them, and leaves its log.
        if has_leftovers(launch.name):
            with suppress(registry.Held):
                clear_leftovers(launch.name)
        raise
    except BaseException:
        if process is not None:
            _end(process, place)
        raise


def _spawn(place: registry.Place) -> subprocess.Popen[bytes]:
    with place.log.open("ab") as log_file:
        return subprocess.Popen(
            [sys.executable, "-m", "hitless.lab.process", place.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log_file,
            start_new_session=True,
            cwd="/",
        )


def _wait_until_ready(process: subprocess.Popen[bytes], launch: Launch, note: Callable[[str], None]) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError), process.stdin:
        process.stdin.write(launch.model_dump_json().encode())
    for line in process.stdout:
        report = json.loads(line)
        if "ready" in report:
            ready: dict[str, Any] = report["ready"]
            return ready
        if "error" in report:
            raise service_control.decoded(report["error"])
        note(report["note"])
    code = process.wait()
    ending = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    raise HitlessError(f"the process of the lab ended with {ending} before it was up", hint=_tail_of_log(launch.name))


def _tail_of_log(name: str) -> str:
    path = registry.Place(name).log
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return f"the end of {path}:\n" + "\n".join(f"    {line}" for line in lines[-_LOG_LINES:])


def _end(process: subprocess.Popen[bytes], place: registry.Place) -> None:
    process.terminate()
    try:
        process.wait(timeout=_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        with registry.lock(place):
            registry.sweep(place)


@dataclass(frozen=True, slots=True)
class Listed:
    record: registry.Record
    is_up: bool


def listed() -> list[Listed]:
    """Return every lab with a record."""
    records = [registry.read(registry.Place(name)) for name in registry.names()]
    return [Listed(record, registry.is_alive(record)) for record in records if record is not None]


def ask(name: str | None, request: control.Request) -> dict[str, Any]:
    record = living(name)
    return control.ask(registry.Place(record.plan.name).socket, request)


def living(name: str | None) -> registry.Record:
    """Return the record of a lab that is up. Raises `BadInput`."""
    chosen = registry.choose(name)
    record = registry.require(registry.Place(chosen))
    if not registry.is_alive(record):
        hint = f"hitless lab down --name {chosen} removes its remains; so does hitless lab up with its name"
        raise BadInput(f"the process of the lab {chosen} is gone", hint=hint)
    return record


def host_of(record: registry.Record, name: str) -> HostPlan:
    for host in record.plan.hosts:
        if host.name == name:
            return host
    what = f"the lab {record.plan.name} has no host {name}"
    if name in record.plan.switches:
        hint = f"{name} is a switch, but programs run in hosts: {', '.join(h.name for h in record.plan.hosts[:8])}"
        raise BadInput(what, hint=hint)
    raise BadInput(what, hint=did_you_mean(name, [host.name for host in record.plan.hosts], "its hosts"))


_IN_HOST = 'mount --bind "$0" /etc/hosts 2>/dev/null; exec "$@"'
"""Names of hosts for this program only: `ip netns exec` has given it a private view of files."""


def execute(name: str | None, host: str, command: Sequence[str]) -> NoReturn:
    """Replace this process by ``command`` in a host. Raises `BadInput`."""
    record = living(name)
    namespace = host_of(record, host).namespace
    kernel.require_privileges("running a program in a host", needed=["CAP_SYS_ADMIN"])
    if shutil.which(command[0]) is None:
        raise CommandMissing(f"there is no program {command[0]}")
    hosts_file = str(registry.Place(record.plan.name).hosts_file)
    words = ["ip", "netns", "exec", namespace, "sh", "-c", _IN_HOST, hosts_file, *command]
    os.execvp("ip", words)  # noqa: S606, S607 - it is to become that program, the one that the user has


def has_leftovers(name: str) -> bool:
    """Is there a file of a lab without a record: was it killed before writing one, or did it fail?"""
    place = registry.Place(name)
    return registry.read(place) is None and any(path.exists() for path in (place.folder, place.lock, place.log))


def clear_leftovers(name: str) -> str:
    """Remove these files; return the end of the log. Raises `Held` while another process is about to start the lab."""
    place = registry.Place(name)
    with registry.lock(place):
        place.clear()
        last_words = _tail_of_log(name)
        place.log.unlink(missing_ok=True)
    return last_words


@dataclass(frozen=True, slots=True)
class Ended:
    """Final report of a lab."""

    result: Status | None
    """None if its process was gone, or did not return a result."""
    last_words: str
    """End of its log in this case."""


def end(name: str) -> Ended:
    """Stop a lab and make sure that everything is removed. Raises `HitlessError`."""
    place = registry.Place(name)
    record = registry.require(place)
    result = _stopped(place, record) if registry.is_alive(record) else None
    _wait_for_end(record)
    with registry.lock(place):
        registry.sweep(place)
    last_words = _tail_of_log(name) if result is None else ""
    place.log.unlink(missing_ok=True)
    return Ended(result, last_words)


def _stopped(place: registry.Place, record: registry.Record) -> Status | None:
    try:
        return Status(control.ask(place.socket, control.Stop()))
    except HitlessError:
        with suppress(ProcessLookupError):
            os.kill(record.pid, signal.SIGTERM)
        return None


def _wait_for_end(record: registry.Record) -> None:
    until = time.monotonic() + _GRACE_S
    while registry.is_alive(record):
        if time.monotonic() > until:
            with suppress(ProcessLookupError):
                os.kill(record.pid, signal.SIGKILL)
            until = float("inf")
        time.sleep(0.02)


def absolute(path: Path | None) -> str | None:
    """Return a path that is valid in any process."""
    return None if path is None else str(path.absolute())
