"""`hitless p4`: packet tests and traces of P4 programs."""

import json as encoding
from pathlib import Path
from typing import Any

from hitless import _native
from hitless.cli.p4_files import Entries, read, read_program
from hitless.errors import BadInput, HitlessError
from hitless.terminal.console import print_json, print_text, stdout


def test(program: Path, tests: list[Path], *, json: bool) -> None:
    """Run each file of tests, and fail if a packet left otherwise than expected."""
    document = read_program(program)
    outcomes = [_test(document, path, program) for path in tests]
    if json:
        print_json(outcomes)
    else:
        for outcome in outcomes:
            _print_outcome(outcome)
    failed = [outcome["tests"] for outcome in outcomes if outcome["failures"]]
    if failed:
        raise HitlessError(f"{len(failed)} of {len(outcomes)} files of tests failed", where=", ".join(failed))


def trace(program: Path, packet: str, entries: Entries, port: int, *, json: bool) -> None:
    """Show one packet's way."""
    try:
        data = bytes.fromhex(packet)
    except ValueError:
        raise BadInput("the packet is no text of hexadecimal digits", where=packet[:80]) from None
    document, commands, runtime = read_program(program), entries.commands_file(), entries.runtime_files()
    try:
        answer = encoding.loads(_native.p4_trace(document, commands, runtime, port, data))
    except ValueError as refused:
        raise BadInput(str(refused), where=str(program)) from None
    if json:
        print_json(answer)
        return
    for line in answer["lines"]:
        print_text(line)
    for left in answer["left"]:
        print_text(f"port {left['port']}: {left['bytes']}")


def _test(document: str, tests: Path, program: Path) -> dict[str, Any]:
    try:
        outcome = encoding.loads(_native.p4_test(document, read(tests), str(tests)))
    except ValueError as refused:
        raise BadInput(str(refused), where=str(program)) from None
    return {"tests": str(tests), **outcome}


def _print_outcome(outcome: dict[str, Any]) -> None:
    verdict = "failed" if outcome["failures"] else "passed"
    text = f"{outcome['tests']}: {verdict}; {outcome['sent']} packets in, {outcome['matched']} out as expected"
    stdout.print(text, markup=False, highlight=False, soft_wrap=True)
    for line in (*outcome["answers"], *outcome["failures"]):
        stdout.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
