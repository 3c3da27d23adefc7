"""Cached points without tables, one per line: a thousand short runs share one file instead of a thousand folders.

::

    00017328...-host-4711.jsonl
        3f9c... {"summary": ..., "wall_s": ..., "effective": ...}
        3f9c... forgotten

Each process appends to its own file, one system call per line. A killed process loses at most its last line, and
unreadable lines count as missing. Files are read in order of creation, and the last line about a point wins.
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
    """Position of a line."""

    file: Path
    start_bytes: int
    size_bytes: int


@dataclass(slots=True)
class KeptLines:
    """The lines in a folder: those found at first use, and those added by this process since."""

    folder: Path
    _places: dict[str, _Place] | None = field(default=None, init=False, repr=False)
    _file: Path | None = field(default=None, init=False, repr=False)
    """File that this process appends to."""
    _size_bytes: int = field(default=0, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __contains__(self, digest: str) -> bool:
        with self._lock:
            return digest in self._known()

    def load(self, digest: str) -> dict[str, Any] | None:
        """Return the stored data of a point, or None if it is missing or unreadable."""
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
        """Append a marker that invalidates a point, if the point exists. Raises `OSError`."""
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
            self._file = None  # do not append to half a line
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
        pass  # another process may have removed it
