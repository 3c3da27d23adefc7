"""A scenario's text, from a file or from standard input."""

import sys
from pathlib import Path

from hitless.errors import BadInput

STANDARD_INPUT = Path("-")


def read_scenario(path: Path) -> str:
    """The text of a scenario file; ``-`` is standard input."""
    try:
        return sys.stdin.read() if path == STANDARD_INPUT else path.read_text(encoding="utf-8")
    except OSError as refused:
        raise BadInput(
            f"cannot read the scenario: {refused.strerror}",
            where=str(path),
            hint="hitless scenario example lists some to begin with",
        ) from refused
    except UnicodeDecodeError as refused:
        raise BadInput("the scenario is not text in UTF-8", where=f"{path}, byte {refused.start}") from refused


def shown_name(path: Path) -> str:
    """What messages call the scenario."""
    return "standard input" if path == STANDARD_INPUT else str(path)
