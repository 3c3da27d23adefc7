"""Files as a whole: read as text, and written so that they are there whole or not at all."""

import os
from pathlib import Path

from hitless.errors import BadInput, reason

UTF_8 = "utf-8-sig"
"""The encoding of files that users write: UTF-8, whose byte order mark says nothing."""


def read_text(path: Path) -> str:
    """What a file holds. Raises `BadInput`."""
    try:
        return path.read_text(encoding=UTF_8)
    except (OSError, UnicodeDecodeError) as failed:
        raise BadInput(f"{path} cannot be read: {reason(failed)}") from failed


def write_whole(path: Path, text: str) -> None:
    """Write ``path`` so that after a crash there is the old file or the new one. Raises `OSError`."""
    beside = path.with_name(f".{path.name}.new")
    with beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
