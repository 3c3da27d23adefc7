"""The running `hitless link` and `hitless switch` of this machine: their requests, and a folder with a socket for each.

Folders are in /run/hitless/live for root and services of systemd, otherwise in the user's runtime folder. Only the
owner and root can open a socket, but everybody can list them.
"""

import fcntl
import os
import pwd
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from hitless.errors import BadInput, HitlessError, reason
from hitless.service import control
from hitless.suggest import did_you_mean

Program: TypeAlias = Literal["link", "switch"]
End: TypeAlias = Literal["sender", "receiver"]
LinkName = Annotated[str, Field(min_length=1, max_length=256)]
_OF_SYSTEM = Path("/run/hitless/live")
_SOCKET = "control"
_PROBE_S = 1.0


class Status(control.Request):
    """Everything about the run: docs/reference/live-control.md."""

    command: Literal["status"] = "status"


class Protect(control.Request):
    """Switch LinkGuardian on at the local ends of a link."""

    command: Literal["protect"] = "protect"
    link: LinkName | None = None
    """None for all links with LinkGuardian."""
    end: End | None = None
    """None for both."""
    copies: Annotated[int, Field(ge=1, le=255)] | None = None
    """None keeps the number."""
    mode: Literal["blocking", "non-blocking"] | None = None


class Unprotect(control.Request):
    """Switch LinkGuardian off at the local ends of a link."""

    command: Literal["unprotect"] = "unprotect"
    link: LinkName | None = None
    end: End | None = None


Request: TypeAlias = Annotated[Status | Protect | Unprotect, Field(discriminator="command")]


@dataclass(frozen=True, slots=True)
class Running:
    """A process with a control socket."""

    full_name: str
    """ "link-eth2"."""
    socket: Path
    owner: str
    is_accessible: bool

    @property
    def name(self) -> str:
        """Name without the program: "eth2"."""
        return self.full_name.partition("-")[2]

    @property
    def instance(self) -> str:
        """A string that differs after a restart. Raises `OSError` if the process has ended."""
        found = self.socket.stat()
        return f"{found.st_ino} {found.st_ctime_ns}"

    def ask(self, request: Status | Protect | Unprotect, *, timeout_s: float | None = None) -> dict[str, Any]:
        return control.ask(self.socket, request, f"hitless {self.full_name.replace('-', ' ', 1)}", timeout_s=timeout_s)


def _folders() -> list[Path]:
    """Return the folders of all users that this one can look into."""
    wanted = os.environ.get("XDG_RUNTIME_DIR")
    own = [Path(wanted) / "hitless/live"] if wanted else []
    return list(dict.fromkeys([_OF_SYSTEM, *own, *sorted(Path("/run/user").glob("*/hitless/live"))]))


def running(program: Program | None = None) -> list[Running]:
    """Return the processes with a socket that answers, or that belongs to another user."""
    prefix = f"{program}-" if program else ""
    sockets = [path for folder in _folders() for path in sorted(folder.glob(f"{prefix}*/{_SOCKET}"))]
    return [found for path in sockets if (found := _looked_at(path)) is not None]


def _looked_at(path: Path) -> Running | None:
    """Return the process behind a socket; None if it has ended."""
    try:
        owner = _user(path.stat().st_uid)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) as probe:
            probe.settimeout(_PROBE_S)
            probe.connect(str(path))
    except PermissionError:
        return Running(path.parent.name, path, owner, is_accessible=False)
    except OSError:
        return None
    return Running(path.parent.name, path, owner, is_accessible=True)


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def choose(name: str | None, program: Program | None = None) -> Running:
    """Return the process with this name, full or without the program, or the only one. Raises `BadInput`."""
    found = running(program)
    chosen = [one for one in found if name in {None, one.full_name}] or _named(str(name), found)
    what = f"hitless {program}" if program else "hitless link or switch"
    if not found:
        hint = f"hitless {program or 'link'} --help shows how to start one"
        raise BadInput(f"no {what} runs on this machine", where=str(_OF_SYSTEM), hint=hint)
    if not chosen:
        known = [one.name if program else one.full_name for one in found]
        raise BadInput(f"no {what} {name} runs on this machine", hint=did_you_mean(str(name), known, "running"))
    if len(chosen) > 1:
        raise BadInput(f"{len(chosen)} of {what} run on this machine: {_listed(chosen)}")
    if not chosen[0].is_accessible:
        rule = "only its user and root can control it"
        hint = f"sudo -u {chosen[0].owner} hitless ..., or as root: sudo hitless ..."
        raise BadInput(
            f"{chosen[0].full_name} belongs to {chosen[0].owner}", where=str(chosen[0].socket), rule=rule, hint=hint
        )
    return chosen[0]


def _named(name: str, found: Sequence[Running]) -> list[Running]:
    """Return the processes with a name without the program; in two namespaces an interface can have the same name."""
    return [one for one in found if name == one.name or (len(found) > 1 and name == _about(one).get("name"))]


def _about(one: Running) -> dict[str, Any]:
    """Return the status of a process; an empty one if it cannot be asked."""
    try:
        return one.ask(Status(), timeout_s=_PROBE_S) if one.is_accessible else {}
    except HitlessError:
        return {}


def _listed(found: Sequence[Running]) -> str:
    return ", ".join(f"--name {one.full_name} ({_described(one)})" for one in found)


def _described(one: Running) -> str:
    """Tell a process from others: its number, interfaces and namespace, or its user."""
    about = _about(one)
    if "pid" not in about:
        return f"user {one.owner}"
    interfaces = " - ".join(each["interface"] for each in about["interfaces"])
    return f"process {about['pid']}, {interfaces}{_namespace(about['pid'])}"


def _namespace(pid: int) -> str:
    """Return the name of a process's network namespace; "" without a name."""
    with suppress(OSError):
        own = Path(f"/proc/{pid}/ns/net").stat()
        for named in Path("/run/netns").glob("*"):
            with suppress(OSError):
                if named.stat().st_ino == own.st_ino:
                    return f", namespace {named.name}"
    return ""


@contextmanager
def placed(program: Program, name: str) -> Iterator[Path]:
    """Reserve a folder for a socket while the block runs. Raises `HitlessError` if no folder can be made.

    A name that another process has, such as one in another network namespace, gets "-2" at its end.
    """
    given = os.environ.get("RUNTIME_DIRECTORY", "").partition(":")[0]
    try:
        folder, lock = _locked(Path(given)) if given else _reserved(program, name)
    except OSError as refused:
        hint = "without a control socket it only obeys signals"
        raise HitlessError(
            f"no folder for a control socket: {reason(refused)}", where=str(refused.filename), hint=hint
        ) from refused
    try:
        yield folder / _SOCKET
    finally:
        for file in (_SOCKET, "lock"):
            (folder / file).unlink(missing_ok=True)
        with suppress(OSError):  # systemd's folder belongs to systemd
            folder.rmdir()
        os.close(lock)


def _reserved(program: Program, name: str) -> tuple[Path, int]:
    wanted = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(wanted) / "hitless/live" if os.geteuid() != 0 and wanted else _OF_SYSTEM
    for number in count(1):
        with suppress(BlockingIOError):
            return _locked(base / f"{program}-{name}{f'-{number}' if number > 1 else ''}")
    raise AssertionError


def _locked(folder: Path) -> tuple[Path, int]:
    """Make a folder and lock it. Raises `BlockingIOError` if another process has it, or another `OSError`."""
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return folder, lock
