"""Destination of output: data to stdout, everything else to stderr."""

import io
import json
import os
import stat
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from hitless.errors import HitlessError
from hitless.visible import visible


def leave(file: IO[str]) -> None:
    """Discard further output to an unreadable or unwritable stream, without an error at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, file.fileno())
    os.close(nowhere)


def leave_terminal() -> None:
    """Discard further output to a terminal that was closed: writing to it fails."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # a stream of Python without a file
            if stat.S_ISCHR(os.fstat(stream.fileno()).st_mode):
                leave(stream)


class _Terminal(Console):
    """A console that tolerates a reader that leaves early, such as ``| head``: further output is discarded."""

    def on_broken_pipe(self) -> None:
        """Continue without the reader: results must still be written, and reported on stderr."""
        leave(self.file)

    def print(self, *objects: Any, **options: Any) -> None:
        """Show control characters of a text before breaking lines."""
        super().print(*(visible(each) if isinstance(each, str) else each for each in objects), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Show control characters in tables, too, instead of sending them."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def be_tolerant() -> None:
    """Show characters outside the encoding of stdout or stderr as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


# Users' texts and addresses of interfaces are not emoji markup: ":cd:" stays.
stdout = _Terminal(highlight=False, emoji=False)
stderr = _Terminal(stderr=True, highlight=False, emoji=False)


class _Causes:
    """Whether errors are printed with their traceback."""

    are_shown = False


_causes = _Causes()


def show_causes() -> None:
    """Print each further error with its traceback: --debug."""
    _causes.are_shown = True


def print_json(document: Mapping[str, Any] | Sequence[Any]) -> None:
    """Print the only JSON document of a command."""
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(visible(json.dumps(document, indent=2, ensure_ascii=not is_unicode)) + "\n")
    sys.stdout.flush()


def print_text(text: str) -> None:
    """Print text unchanged, for people and pipes."""
    sys.stdout.write(visible(text if text.endswith("\n") else f"{text}\n"))
    sys.stdout.flush()


def print_note(text: str) -> None:
    stderr.print(text, markup=False, soft_wrap=True)


def print_error(error: HitlessError) -> None:
    """Print an error for people; its cause as a traceback only with --debug."""
    first, _, rest = str(error).partition("\n")
    stderr.print(first, style="bold red", markup=False, soft_wrap=True)
    if rest:
        stderr.print(rest, markup=False, soft_wrap=True)
    if _causes.are_shown:
        sys.stderr.write(visible("".join(traceback.format_exception(error))))
