"""The kernel through iproute2 and a few system calls: namespaces, links, settings, capabilities."""

import ctypes
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hitless.errors import BadInput, HitlessError
from hitless.lab.tuning import Offered
from hitless.service.privileges import CAPABILITIES

NAMESPACES = Path("/run/netns")
CLONE_NEWNET = 0x40000000
NEEDED = ("CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_SYS_ADMIN")
"""Capabilities that a lab needs."""
_COMMAND_S = 60.0


class CommandFailed(HitlessError):
    """A system program failed."""


def run(*command: str, text: str | None = None) -> str:
    """Run a program to its end, shielded from Ctrl-C, and return its output. Raises `CommandFailed`."""
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, timeout=_COMMAND_S, process_group=0
    )
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return done.stdout


def ip_batch(lines: Sequence[str], *, namespace: str | None = None) -> None:
    """Let iproute2 execute all ``lines``; the first failure raises `CommandFailed`."""
    if not lines:
        return
    where = ["-n", namespace] if namespace else []
    try:
        run("ip", *where, "-batch", "-", text="\n".join(lines) + "\n")
    except CommandFailed as failed:
        number = _failed_line(str(failed))
        which = lines[number - 1] if number is not None and number <= len(lines) else lines[0]
        raise CommandFailed(f"{failed.what.removeprefix('ip ')}", where=f"ip {which}") from failed


def _failed_line(message: str) -> int | None:
    """Find the number in ``Command failed -:3``."""
    _, found, rest = message.partition("Command failed -:")
    digits = rest.split()[0] if found and rest.split() else ""
    return int(digits) if digits.isdecimal() else None


def ip_json(*words: str, namespace: str | None = None) -> list[dict[str, Any]]:
    where = ["-n", namespace] if namespace else []
    found: list[dict[str, Any]] = json.loads(run("ip", *where, "-json", *words) or "[]")
    return found


def namespaces() -> set[str]:
    return {path.name for path in NAMESPACES.iterdir()} if NAMESPACES.is_dir() else set()


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Move this thread into a network namespace while the block runs."""
    with Path("/proc/thread-self/ns/net").open("rb") as before:
        enter(namespace)
        try:
            yield
        finally:
            _set_namespace(before.fileno(), "where it came from")


def enter(namespace: str) -> None:
    """Move this thread, and its future children, into a network namespace permanently."""
    with (NAMESPACES / namespace).open("rb") as file:
        _set_namespace(file.fileno(), namespace)


def _set_namespace(descriptor: int, name: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET) != 0:
        raise HitlessError(f"the network namespace {name} cannot be entered: {os.strerror(ctypes.get_errno())}")


def processes_in(namespaces: Iterable[str]) -> list[int]:
    """Return the processes in some network namespaces, except this one; one pass over all processes."""
    paths = [NAMESPACES / name for name in namespaces]
    wanted = {path.stat().st_ino for path in paths if path.exists()}
    every = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    return [pid for pid in every if pid != os.getpid() and _namespace_of(pid) in wanted] if wanted else []


def _namespace_of(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}/ns/net").stat().st_ino
    except OSError:
        return None


def process_start_ticks(pid: int) -> int | None:
    """Return the start time of a process, in ticks since boot; None if it has ended or does not exist."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The program's name, in parentheses, can contain anything; field 22 is the 20th after it (proc(5)).
    after = stat.rpartition(")")[2].split()
    return None if after[0] in "ZX" else int(after[19])


def write_sysctls(settings: dict[str, str]) -> None:
    """Set ``net/ipv4/...`` in this thread's namespace. Raises `HitlessError` naming the refused settings."""
    for name, value in settings.items():
        try:
            Path("/proc/sys", name).write_text(value, encoding="ascii")
        except FileNotFoundError:
            if not name.startswith("net/ipv6/"):
                raise HitlessError(f"this kernel has no setting {name}") from None
        except OSError as refused:
            raise HitlessError(f"this kernel refuses {name} = {value}: {refused.strerror}") from refused


def receive_on_one_processor(namespace: str, interfaces: Sequence[str]) -> None:
    """Let one processor handle all frames from an interface, if the kernel can (receive packet steering).

    A veth passes a frame on the sender's processor, so a sender that moves between processors would reorder its own
    frames.
    """
    first = next(iter(sorted(os.sched_getaffinity(0)))) % 32
    files = " ".join(f"/sys/class/net/{interface}/queues/rx-0/rps_cpus" for interface in interfaces)
    script = f"for file in {files}; do [ ! -w $file ] || echo {1 << first:x} > $file || true; done"
    run("ip", "netns", "exec", namespace, "sh", "-c", script)


def congestion_controls() -> Offered:
    sysctls = Path("/proc/sys/net/ipv4")
    names = (sysctls / "tcp_available_congestion_control").read_text(encoding="ascii").split()
    return Offered(names, (sysctls / "tcp_congestion_control").read_text(encoding="ascii").strip())


def require_tools() -> None:
    if shutil.which("ip") is None:
        raise BadInput("the program ip is missing", hint="Debian: apt-get install iproute2")


def require_privileges(what: str, *, needed: Sequence[str] = NEEDED) -> None:
    """Require the privileges. Raises `BadInput` naming the missing ones."""
    lacking = [name for name in needed if not _effective_capabilities() >> CAPABILITIES[name] & 1]
    if lacking:
        raise BadInput(
            f"{what} needs {', '.join(lacking)}, which this process does not have",
            rule="it makes network interfaces and opens packet sockets on them",
            hint="run it as root: sudo hitless ..., or, in a container, with --privileged",
        )


def _effective_capabilities() -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0
