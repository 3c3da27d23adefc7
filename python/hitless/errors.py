"""Errors for people: what is wrong, where, the rule, and a hint, never a traceback."""

import errno
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path


class HitlessError(Exception):
    """An error that ends a command; ``exit_code`` 1 means that a run failed."""

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", rule: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.rule = rule
        self.hint = hint

    def __str__(self) -> str:
        """Return the message as shown, one line for each part."""
        parts = [("error", self.what), ("  where", self.where), ("  rule", self.rule), ("  hint", self.hint)]
        return "\n".join(f"{name}: {text}" for name, text in parts if text)


class BadInput(HitlessError):
    """The command, or a file given to it, is wrong: exit code 2."""

    exit_code = 2


class MechanismFailed(HitlessError):
    """A mechanism written as a Python class raised an error in a run: the message ends with the traceback."""


class RunWarning(UserWarning):
    """A remark about the results of a run, such as a mechanism that never acted; `Run.summary` has the texts too."""


def warn(texts: Iterable[str]) -> None:
    """Show warnings of runs, each once, at the line that called this package."""
    package, frame, depth = f"{Path(__file__).parent}/", sys._getframe(1), 2  # noqa: SLF001
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame, depth = frame.f_back, depth + 1
    for text in dict.fromkeys(texts):
        warnings.warn(text, RunWarning, stacklevel=depth)


_FAULTS_SHOWN = 4


class RefusedScenario(BadInput):
    """A scenario that the simulator refused. Its message is complete, with as many faults as a user can fix at once."""

    def __str__(self) -> str:
        """Return the simulator's own message: the first faults, and the number of further ones."""
        faults = self.what.rstrip().split("\n\n")
        shown = "\n\n".join(faults[:_FAULTS_SHOWN])
        if len(faults) > _FAULTS_SHOWN:
            shown += f"\n\nand {len(faults) - _FAULTS_SHOWN} more errors"
        if len(faults) > _FAULTS_SHOWN and faults[0].count("not valid TOML"):
            shown += "\nhint: is this a scenario? hitless scenario example prints some"
        return shown if shown.startswith("error") else f"error: {shown}"


def out_of_memory(where: str = "") -> HitlessError:
    """Return the error for people for a `MemoryError`."""
    hint = "a shorter run, fewer flows, or fewer runs at a time (--jobs 1)"
    return HitlessError("there is not enough memory", where=where, hint=hint)


def explained(fault: Exception) -> HitlessError:
    """Return the error for people for an otherwise unexplained error: the system's, or a bug in hitless."""
    if isinstance(fault, MemoryError):
        return out_of_memory()
    if isinstance(fault, OSError) and fault.strerror:
        is_full = fault.errno in {errno.ENOSPC, errno.EDQUOT, errno.EIO}
        what = "there is no space for the data" if is_full else "the system refused something"
        where = str(fault.filename or ("standard output" if is_full else ""))
        return HitlessError(what, where=where, hint=f"the system says: {fault.strerror}")
    hint = "this is a bug in hitless; run again with --debug before the command to see where it happened"
    return HitlessError(f"internal error: {type(fault).__name__}: {fault}", hint=hint)


def was_interrupted(fault: BaseException | None) -> bool:
    """Was Ctrl-C the cause? Modules imported at the time can raise it as another error."""
    while fault is not None and not isinstance(fault, KeyboardInterrupt):
        fault = fault.__cause__ or fault.__context__
    return fault is not None


def reason(failed: Exception) -> str:
    """Return the system's or decoder's reason in words, without the number of the error."""
    words = getattr(failed, "strerror", None)
    return str(words) if words else str(failed)
