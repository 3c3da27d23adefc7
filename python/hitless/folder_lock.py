"""A lock on a folder: one process at a time writes results to it. The system releases it when the process ends."""

import errno
import fcntl
import os
import weakref
from pathlib import Path

from hitless.errors import BadInput


class FolderLock:
    """A lock held until `release`. With a ``part``, others can lock other parts at the same time."""

    def __init__(self, folder: Path, part: str = "") -> None:
        """Take the lock without waiting. Raises `BadInput` if another process has it, and `OSError`."""
        self._descriptors: list[int] = []
        # Only close them, because forked processes have copies of them.
        weakref.finalize(self, _close, self._descriptors)
        try:
            self._take(folder, folder, fcntl.LOCK_SH if part else fcntl.LOCK_EX)
            if part:
                self._take(folder / f".{part}.lock", folder, fcntl.LOCK_EX)
        except BaseException:
            self.release()
            raise

    def _take(self, path: Path, folder: Path, how: int) -> None:
        flags = os.O_RDONLY if path == folder else os.O_RDWR | os.O_CREAT
        descriptor = os.open(path, flags | os.O_CLOEXEC, 0o666)
        self._descriptors.append(descriptor)
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError as taken:
            raise BadInput(
                f"another run writes to this folder: {_holder(os.fstat(descriptor).st_ino)}",
                where=str(folder),
                hint="wait until it ends, or choose another --out",
            ) from taken
        except OSError as refused:
            # Some network file systems cannot lock folders.
            if refused.errno not in {errno.EBADF, errno.ENOLCK, errno.ENOTSUP, errno.EINVAL}:
                raise

    def release(self) -> None:
        """Let others write to the folder. Safe to call more than once."""
        for descriptor in self._descriptors:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        _close(self._descriptors)


def _close(descriptors: list[int]) -> None:
    while descriptors:
        os.close(descriptors.pop())


def _holder(inode: int) -> str:
    """Look up the process that holds a lock in proc_locks(5), if it is listed."""
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        lines = []
    for line in lines:
        words = line.split()
        if words[1] == "FLOCK" and words[5].rpartition(":")[2] == str(inode) and words[4].isdecimal():
            return f"process {words[4]}"
    return "the system does not say which process"
