"""The final report of every live run."""

from hitless.errors import HitlessError
from hitless.live import Status
from hitless.terminal.console import print_error, print_note

OVERLOAD_CODE = 1
"""Exit code of a strict run that could not keep up."""
NOT_WRITTEN_CODE = 1
"""Exit code if the results could not be written."""


OF_SCENARIO = "its results do not represent the scenario's switches"
OF_SERVICE = "frames left late, so delays were longer than configured"


def warn(result: Status, *, strict: bool, consequence: str = OF_SCENARIO) -> int:
    """Print to stderr the consequence of an overload, and return the exit code."""
    for warning in result.warnings:
        print_note(f"warning: {warning}")
    if result.not_written is not None:
        hint = "only the numbers on standard output remain of this run"
        print_error(HitlessError("the results cannot be written", where=result.not_written, hint=hint))
        return NOT_WRITTEN_CODE
    if not result.is_overloaded:
        return 0
    print_note(f"warning: it could not always keep up ({result.misses} deadlines missed): {consequence}")
    return OVERLOAD_CODE if strict else 0
