"""Finished points that have no tables, a line each: a thousand short runs are one file, and not a thousand folders.

::

    00017328...-host-4711.jsonl
        3f9c... {"summary": ..., "wall_s": ..., "effective": ...}
        3f9c... forgotten

Each process appends to a file of its own, each line with one call of the system: one that is killed leaves all but
perhaps the last, and one that cannot be read is not there. Files are read in the order in which they were begun, so of
several lines about a point the last counts.
"""

import errno
import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_FORGOTTEN = b"forgotten\n"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a line is."""

    file: Path
    start_bytes: int
    size_bytes: int


@dataclass(slots=True)
class KeptLines:
    """The lines in a folder: those that were there at first use, and those of this process since."""

    folder: Path
    _places: dict[str, _Place] | None = field(default=None, init=False, repr=False)
    _file: Path | None = field(default=None, init=False, repr=False)
    """Which this process appends to."""
    _size_bytes: int = field(default=0, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __contains__(self, digest: str) -> bool:
        with self._lock:
            return digest in self._known()

    def load(self, digest: str) -> dict[str, Any] | None:
        """What was kept of a point, or None where that is not there or cannot be read."""
        with self._lock:
            place = self._known().get(digest)
        if place is None:
            return None
        try:
            with place.file.open("rb") as file:
                file.seek(place.start_bytes)
                name, _, told = file.read(place.size_bytes).partition(b" ")
                found: dict[str, Any] | None = json.loads(told) if name.decode() == digest else None
                return found
        except (OSError, ValueError):
            return None

    def keep(self, digest: str, told: Mapping[str, Any]) -> None:
        """Append a point. Raises `OSError`."""
        line = f"{digest} {json.dumps(told)}\n".encode()
        with self._lock:
            known = self._known()
            known[digest] = self._append(line)

    def forget(self, digest: str) -> None:
        """Append that a point is not to be used again, where there is one. Raises `OSError`."""
        with self._lock:
            if self._known().pop(digest, None) is not None:
                self._append(digest.encode() + b" " + _FORGOTTEN)

    def _known(self) -> dict[str, _Place]:
        if self._places is None:
            self._places = {}
            for file in sorted(self.folder.glob("*.jsonl")):
                _read_places(file, self._places)
        return self._places

    def _append(self, line: bytes) -> _Place:
        if self._file is None or not self._file.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = self.folder / f"{time.time_ns():020}-{os.uname().nodename}-{os.getpid()}.jsonl"
            self._size_bytes = 0
        descriptor = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            written = os.write(descriptor, line)
        finally:
            os.close(descriptor)
        place = _Place(self._file, self._size_bytes, written)
        self._size_bytes += written
        if written < len(line):
            self._file = None  # what comes next is not to stand behind half a line
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return place


def _read_places(file: Path, places: dict[str, _Place]) -> None:
    try:
        with file.open("rb") as lines:
            start_bytes = 0
            for line in lines:
                digest, _, told = line.partition(b" ")
                name = digest.decode("ascii", errors="replace")
                if told == _FORGOTTEN:
                    places.pop(name, None)
                elif told.endswith(b"}\n"):
                    places[name] = _Place(file, start_bytes, len(line))
                start_bytes += len(line)
    except OSError:
        pass  # another process may have taken it away
