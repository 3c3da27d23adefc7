"""The labs of this machine: one folder for each, with a lock that its process holds until it ends.

A lab writes its record before it makes anything. The record of a dead process therefore says what to remove, and that
no other process needs it.
"""

import fcntl
import os
import pwd
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from hitless.errors import BadInput, HitlessError
from hitless.lab import kernel, network
from hitless.lab.plan import LabPlan
from hitless.service.configuration import Checked
from hitless.suggest import did_you_mean
from hitless.whole_file import write_whole

FORMAT = 1
UNKNOWN = "unknown"


class Record(Checked):
    format: int = FORMAT
    plan: LabPlan
    pid: int
    process_start_ticks: int
    """Start time of the process, from /proc; together with the process id it is unique."""
    started_at: str
    scenario: str
    """File of the scenario."""
    is_strict: bool = False
    owner: str = UNKNOWN
    """User who started it."""


def current_user() -> str:
    """Return the name of the user: with sudo, the one who called it."""
    called_by = os.environ.get("SUDO_USER")
    if os.geteuid() == 0 and called_by:
        return called_by
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"user {os.getuid()}"


def run_folder() -> Path:
    """Return the folder for runtime data, which is valid until the next boot."""
    wanted = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(wanted) if os.geteuid() != 0 and wanted else Path("/run")
    return base / "hitless" / "lab"


def make_run_folder() -> None:
    """Make the folder. Raises `BadInput` if this is not permitted."""
    try:
        run_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as refused:
        hint = "run it as root: sudo hitless ..."
        raise BadInput(f"no folder for labs: {refused.strerror}", where=str(run_folder()), hint=hint) from refused


@dataclass(frozen=True, slots=True)
class Place:
    name: str

    @property
    def folder(self) -> Path:
        """Created first, removed last."""
        return run_folder() / self.name

    @property
    def record(self) -> Path:
        return self.folder / "lab.json"

    @property
    def socket(self) -> Path:
        return self.folder / "control"

    @property
    def log(self) -> Path:
        """Output of its process, outside the folder, so that it survives a failed start."""
        return run_folder() / f"{self.name}.log"

    @property
    def hosts_file(self) -> Path:
        """Names of its hosts, for programs in it."""
        return self.folder / "hosts"

    @property
    def lock(self) -> Path:
        """File locked by the process of the lab."""
        return run_folder() / f"{self.name}.lock"

    def make(self) -> None:
        """Make the folder, private to its owner."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def clear(self) -> None:
        """Remove the files of a lab that has ended."""
        shutil.rmtree(self.folder, ignore_errors=True)


def names() -> list[str]:
    """Return every lab with a record."""
    folder = run_folder()
    return sorted(path.parent.name for path in folder.glob("*/lab.json")) if folder.is_dir() else []


def own_names() -> list[str]:
    """Return every lab that the current user started."""
    return [name for name, owner in _owners().items() if owner == current_user()]


def _owners() -> dict[str, str]:
    """Return every lab with the user who started it; the owner of an invalid record is unknown."""
    found = {}
    for name in names():
        try:
            record = read(Place(name))
        except HitlessError:
            found[name] = UNKNOWN
        else:
            if record is not None:
                found[name] = record.owner
    return found


def choose(name: str | None) -> str:
    """Return the lab ``name``, or the current user's only lab. Raises `BadInput`."""
    return _given(name) if name is not None else _only_own()


def _given(name: str) -> str:
    """Return the name of a lab, of any user. Raises `BadInput` if it is not up."""
    known = names()
    if name in known:
        return name
    hint = did_you_mean(name, known, "up") if known else "hitless lab up SCENARIO starts one"
    raise BadInput(f"no lab {name} is up", hint=hint)


def _only_own() -> str:
    owners, user = _owners(), current_user()
    own = [name for name, owner in owners.items() if owner == user]
    if len(own) == 1:
        return own[0]
    if own:
        raise BadInput(f"several labs are up: {', '.join(own)}", hint=f"choose one: --name {own[0]}")
    if not owners:
        raise BadInput("no lab is up", hint="hitless lab up SCENARIO starts one")
    others = ", ".join(f"{name} (of {owner})" for name, owner in owners.items())
    rule = "without --name, a command only uses labs that you started"
    hint = f"--name {next(iter(owners))} uses it"
    raise BadInput(f"no lab of {user} is up, but labs of other users: {others}", rule=rule, hint=hint)


def write(place: Place, record: Record) -> None:
    """Write a record, whole or not at all."""
    place.make()
    write_whole(place.record, record.model_dump_json(indent=1))


def read(place: Place) -> Record | None:
    """Read the record of a lab; None if it is missing. Raises `HitlessError` if it is invalid."""
    try:
        return Record.model_validate_json(place.record.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as failed:
        hint = "ip netns list shows the remains of a lab of another version; remove them and this file by hand"
        raise HitlessError(
            f"the record of the lab {place.name} is invalid", where=str(place.record), hint=hint
        ) from failed


def require(place: Place) -> Record:
    """Return the record of a lab that must exist."""
    record = read(place)
    if record is None:
        raise BadInput(f"no lab {place.name} is up", hint="hitless lab up SCENARIO starts one")
    return record


def is_alive(record: Record) -> bool:
    return kernel.process_start_ticks(record.pid) == record.process_start_ticks


class Held(HitlessError):
    """Another process has this lab's name."""


_PATIENCE_S = 2.0
"""Time for a killed process to release its lock.

The lock goes with its last thread, but the process counts as dead with its first.
"""


@contextmanager
def lock(place: Place) -> Iterator[None]:
    """Hold the lock on a lab's name. Raises `Held`."""
    make_run_folder()
    descriptor = _locked(place)
    try:
        yield
    finally:
        # Unlink it while it is locked, so that a deleted file cannot be held for long.
        place.lock.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(place: Place) -> int:
    until = time.monotonic() + _PATIENCE_S
    while True:
        descriptor = _opened(place.lock)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            if _is_up(place) or time.monotonic() > until:
                hint = f"hitless lab down --name {place.name} ends it; --name gives this one another name"
                raise Held(f"the lab {place.name} is up, or about to be", hint=hint) from None
            time.sleep(0.02)
            continue
        if _is_at(descriptor, place.lock):
            return descriptor
        os.close(descriptor)


def _is_up(place: Place) -> bool:
    record = read(place)
    return record is not None and is_alive(record)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as refused:
        what = f"the lock of the lab cannot be taken: {refused.strerror}"
        hint = "another user may be running the lab: run this as that user, or as root, or take another --name"
        raise BadInput(what, where=str(path), hint=hint) from refused


def _is_at(descriptor: int, path: Path) -> bool:
    """Is the open file still at ``path``? The previous holder may have unlinked it."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def sweep(place: Place) -> bool:
    """Remove the remains of a lab with a dead process; was there anything? Call it with the lock held.

    Raises `Held` if the process is alive because its lock file was deleted.
    """
    record = read(place)
    if record is not None and is_alive(record):
        raise Held(f"the lab {place.name} is up, as process {record.pid}", hint=f"hitless lab down --name {place.name}")
    if record is not None:
        network.remove(record.plan)
    place.clear()
    return record is not None
