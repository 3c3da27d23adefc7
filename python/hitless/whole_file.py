"""Files read as text, and written atomically."""

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hitless.errors import BadInput, reason

UTF_8 = "utf-8-sig"
"""Encoding of files that users write: UTF-8, with an optional byte order mark."""

READ_MAX_BYTES = 1 << 30
"""Maximum size of input files."""


def read_bytes(path: Path) -> bytes:
    """Read a regular file; other files can block a reader for ever, or never end. Raises `OSError`."""
    try:
        found = path.stat()
    except ValueError as odd:
        raise OSError(errno.EINVAL, "its name has an invalid character", str(path)) from odd
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise OSError(errno.EINVAL, "it is a pipe or a device instead of a regular file", str(path))
    if found.st_size > READ_MAX_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {READ_MAX_BYTES >> 30} GiB", str(path))
    return path.read_bytes()


def name_of(path: Path) -> str:
    """Return the name of a file as text; the simulator refuses names that are not UTF-8."""
    return str(path).encode(errors="backslashreplace").decode()


def text_of(path: Path) -> str:
    """Read a regular file as text. Raises `OSError`, or `UnicodeDecodeError`."""
    return read_bytes(path).decode(UTF_8).replace("\r\n", "\n").replace("\r", "\n")


def read_text(path: Path) -> str:
    """Read a regular file as text. Raises `BadInput`."""
    try:
        return text_of(path)
    except (OSError, UnicodeDecodeError) as failed:
        raise BadInput(f"{path} cannot be read: {reason(failed)}") from failed


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces ``path`` at the end, and is removed after an error."""
    beside = path.with_name(f".{path.name}.new")
    try:
        yield beside
        beside.replace(path)
    except BaseException as failed:
        beside.unlink(missing_ok=True)
        if isinstance(failed, OSError) and failed.filename is None:
            failed.filename = str(path)
        raise


def write_whole(path: Path, text: str) -> None:
    """Write ``path`` atomically: a crash leaves the old file or the new one. Raises `OSError`."""
    with whole(path) as beside, beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def file_name(text: str) -> str:
    """Convert a text into a portable file name."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-.") or "unnamed"
