"""`hitless p4`: packet tests and traces of P4 programs."""

import json as encoding
from pathlib import Path
from typing import Any

from hitless import _native
from hitless.cli.p4_files import Entries, packet_bytes, read_program, refusals
from hitless.errors import HitlessError
from hitless.terminal.console import print_json, print_text, stdout
from hitless.whole_file import read_text


def test(program: Path, tests: list[Path], *, json: bool) -> None:
    """Run each file of tests, and fail if a packet left the switch unexpectedly."""
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
    data, document = packet_bytes(packet), read_program(program)
    with refusals(program):
        answer = encoding.loads(_native.p4_trace(document, *entries.files(), port, data))
    if json:
        print_json(answer)
        return
    for line in answer["lines"]:
        print_text(line)
    for left in answer["left"]:
        print_text(f"port {left['port']}: {left['bytes']}")


def _test(document: str, tests: Path, program: Path) -> dict[str, Any]:
    with refusals(program):
        outcome = encoding.loads(_native.p4_test(document, read_text(tests), str(tests)))
    return {"tests": str(tests), **outcome}


def _print_outcome(outcome: dict[str, Any]) -> None:
    verdict = "failed" if outcome["failures"] else "passed"
    text = f"{outcome['tests']}: {verdict}; {outcome['sent']} packets in, {outcome['matched']} out as expected"
    stdout.print(text, markup=False, highlight=False, soft_wrap=True)
    for line in (*outcome["answers"], *outcome["failures"]):
        stdout.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
