"""Text of a scenario, from a file or from standard input, and its check.

An invalid scenario is refused before the modules that run it are loaded, which takes longer than the check.
"""

import errno
import io
import sys
from pathlib import Path

from hitless._native import CheckedScenario
from hitless.checking import checked
from hitless.errors import BadInput
from hitless.whole_file import READ_MAX_BYTES, UTF_8, name_of, text_of

STANDARD_INPUT = Path("-")


def read_scenario(path: Path) -> str:
    """Return the text of a scenario file; ``-`` is standard input."""
    try:
        return _read_standard_input() if path == STANDARD_INPUT else text_of(path)
    except OSError as refused:
        raise BadInput(
            f"cannot read the scenario: {refused.strerror}",
            where=shown_name(path),
            hint="hitless scenario example lists some",
        ) from refused
    except UnicodeDecodeError as refused:
        raise BadInput("the scenario is not UTF-8 text", where=f"{shown_name(path)}, byte {refused.start}") from refused


def _read_standard_input() -> str:
    """Limit standard input to the maximum size of a file, because it may never end."""
    found = sys.stdin.buffer.read(READ_MAX_BYTES + 1)
    if len(found) > READ_MAX_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {READ_MAX_BYTES >> 30} GiB")
    return io.TextIOWrapper(io.BytesIO(found), encoding=UTF_8).read()


def read_sound(path: Path, *, keeps_rows: bool, threads: int) -> CheckedScenario:
    """Return a scenario that can run on ``threads``, with its rows kept in memory or not. Raises `BadInput`."""
    return checked(read_scenario(path), shown_name(path), keeps_rows=keeps_rows, threads=threads)


def shown_name(path: Path) -> str:
    return "standard input" if path == STANDARD_INPUT else name_of(path)
