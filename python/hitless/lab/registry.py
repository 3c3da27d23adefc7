"""Which labs there are: a folder with one folder for each, and a lock that its process holds as long as it lives.

What a lab makes is written down before it is made. So whoever finds a record whose process is gone knows what to
remove, and that nobody else needs it.
"""

import fcntl
import os
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

FORMAT = 1


class Record(Checked):
    """What is written down of a lab."""

    format: int = FORMAT
    plan: LabPlan
    pid: int
    process_start_ticks: int
    """When the process started, as /proc tells: with it a process number is never another's."""
    started_at: str
    scenario: str
    """The file."""
    is_strict: bool = False


def run_folder() -> Path:
    """Where processes of hitless keep what lives no longer than the machine is up."""
    wanted = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(wanted) if os.geteuid() != 0 and wanted else Path("/run")
    return base / "hitless" / "lab"


def make_run_folder() -> None:
    """Raises `BadInput` where it may not be made."""
    try:
        run_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as refused:
        hint = "run it as root: sudo hitless ..."
        raise BadInput(f"no folder for labs: {refused.strerror}", where=str(run_folder()), hint=hint) from refused


@dataclass(frozen=True, slots=True)
class Place:
    """The files of one lab."""

    name: str

    @property
    def folder(self) -> Path:
        """Made before anything else, removed after everything else."""
        return run_folder() / self.name

    @property
    def record(self) -> Path:
        """What it consists of."""
        return self.folder / "lab.json"

    @property
    def socket(self) -> Path:
        """Where it is asked."""
        return self.folder / "control"

    @property
    def log(self) -> Path:
        """What its process says. Beside the folder, so that it outlives a start that failed."""
        return run_folder() / f"{self.name}.log"

    @property
    def hosts_file(self) -> Path:
        """The names of its hosts, for programs in it."""
        return self.folder / "hosts"

    @property
    def lock(self) -> Path:
        """Locked by the process of the lab."""
        return run_folder() / f"{self.name}.lock"

    def make(self) -> None:
        """The folder, for its owner alone."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def clear(self) -> None:
        """Remove the files of a lab that is no more."""
        shutil.rmtree(self.folder, ignore_errors=True)


def names() -> list[str]:
    """Every lab of which there is a record."""
    folder = run_folder()
    return sorted(path.parent.name for path in folder.glob("*/lab.json")) if folder.is_dir() else []


def choose(name: str | None) -> str:
    """The lab ``name``, or the only one. Raises `BadInput`."""
    known = names()
    if name is None and len(known) == 1:
        return known[0]
    if name is not None and name in known:
        return name
    if not known:
        what = f"no lab {name} is up" if name else "no lab is up"
        raise BadInput(f"{what}", hint="hitless lab up SCENARIO starts one")
    if name is None:
        raise BadInput(f"several labs are up: {', '.join(known)}", hint=f"say which: --name {known[0]}")
    raise BadInput(f"no lab {name} is up", hint=did_you_mean(name, known, "up"))


def write(place: Place, record: Record) -> None:
    """Write a record down, as a whole or not at all."""
    place.make()
    beside = place.record.with_suffix(".new")
    beside.write_text(record.model_dump_json(indent=1), encoding="utf-8")
    beside.replace(place.record)


def read(place: Place) -> Record | None:
    """The record of a lab; None when there is none. Raises `HitlessError` when it makes no sense."""
    try:
        return Record.model_validate_json(place.record.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as failed:
        hint = "ip netns list shows what a lab of another version may have left; remove it and this file by hand"
        raise HitlessError(
            f"the record of the lab {place.name} makes no sense", where=str(place.record), hint=hint
        ) from failed


def require(place: Place) -> Record:
    """The record of a lab that must be there."""
    record = read(place)
    if record is None:
        raise BadInput(f"no lab {place.name} is up", hint="hitless lab up SCENARIO starts one")
    return record


def is_alive(record: Record) -> bool:
    """Is the process of this lab still there?"""
    return kernel.process_start_ticks(record.pid) == record.process_start_ticks


class Held(HitlessError):
    """Another process has this lab's name."""


_PATIENCE_S = 2.0
"""How long a process that was killed may take to let go of its lock, which it does when its last thread has ended; it
counts as gone when its first one has."""


@contextmanager
def lock(place: Place) -> Iterator[None]:
    """Have the name of a lab for oneself. Raises `Held`."""
    make_run_folder()
    descriptor = _locked(place)
    try:
        yield
    finally:
        # Unlinked while it is still locked, so that nobody can hold a file that is no longer there for long.
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
        hint = "another user may have the lab up: run this as that user, or as root, or take another --name"
        raise BadInput(what, where=str(path), hint=hint) from refused


def _is_at(descriptor: int, path: Path) -> bool:
    """Is the open file the one at ``path``? Whoever held it before may have unlinked it."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def sweep(place: Place) -> bool:
    """Remove what a lab left whose process is gone; was there anything? To be called with the lock held.

    Raises `Held` when the process lives all the same: somebody has removed its lock.
    """
    record = read(place)
    if record is not None and is_alive(record):
        raise Held(f"the lab {place.name} is up, as process {record.pid}", hint=f"hitless lab down --name {place.name}")
    if record is not None:
        network.remove(record.plan)
    place.clear()
    return record is not None
