"""Where output goes: data to stdout, everything else to stderr."""

import json
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import IO, Any

from rich.console import Console

from hitless.errors import HitlessError


def leave(file: IO[str]) -> None:
    """Nobody reads it, or it cannot be written: what is written then goes nowhere, without a complaint at the exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, file.fileno())
    os.close(nowhere)


class _Terminal(Console):
    """A console whose reader may leave early, as ``| head`` does: what else is written then goes nowhere."""

    def on_broken_pipe(self) -> None:
        """Go on without the reader: results are still to be written, and told on stderr."""
        leave(self.file)


# Text of users and addresses of interfaces is no markup for emoji: ":cd:" stays.
stdout = _Terminal(highlight=False, emoji=False)
stderr = _Terminal(stderr=True, highlight=False, emoji=False)

VERDICT_STYLES = {"match": "green", "beyond": "blue", "differs": "red", "unjudged": "dim"}


def print_json(document: Mapping[str, Any] | Sequence[Any]) -> None:
    """The one JSON document of a command."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def print_text(text: str) -> None:
    """Text as it is, for people and pipes."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    sys.stdout.flush()


def print_note(text: str) -> None:
    """A line about what is going on."""
    stderr.print(text, markup=False, soft_wrap=True)


def print_error(error: HitlessError, *, debug: bool) -> None:
    """An error for people; its cause as a traceback only where asked for."""
    first, _, rest = str(error).partition("\n")
    stderr.print(first, style="bold red", markup=False, soft_wrap=True)
    if rest:
        stderr.print(rest, markup=False, soft_wrap=True)
    if debug:
        sys.stderr.write("".join(traceback.format_exception(error)))
