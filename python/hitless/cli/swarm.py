"""`hitless swarm`: random worlds that search for broken promises."""

import json as json_format
import threading
from pathlib import Path
from typing import Any

from hitless import _native
from hitless.cli.scenario_text import read_scenario
from hitless.cli.swarm_app import SwarmOptions
from hitless.errors import BadInput, HitlessError
from hitless.terminal.console import print_json, print_note, print_text
from hitless.terminal.interrupt import on_interrupt

_LOOK_S = 0.5


def list_judges() -> None:
    """Print what each judge holds runs to."""
    for name, promise in _native.swarm_judges():
        print_text(f"{name}: {' '.join(promise.split())}")


def judge(file: Path, *, json: bool) -> int:
    """Run one scenario under all judges; return the exit code."""
    try:
        document = json_format.loads(_native.swarm_judge(read_scenario(file)))
    except ValueError as refused:
        raise BadInput(str(refused), where=str(file)) from refused
    if json:
        print_json(document)
    for fault in [] if json else document["faults"]:
        print_text(f"{fault['judge']}: {fault['fault']}")
    print_note(f"{document['packets']:,} packets; judged: {', '.join(document['judged'])}")
    return 1 if document["faults"] else 0


def swarm(options: SwarmOptions) -> int:
    """Go through worlds, tell what is found at once, and return the exit code."""
    if options.worlds is None and options.minutes is None:
        raise BadInput("say when to end", hint="--worlds 1000, or --minutes 10")
    seconds = None if options.minutes is None else 60 * options.minutes
    try:
        hunt = _native.Swarm(options.seed, options.worlds, seconds, options.threads, options.canary)
    except ValueError as refused:
        raise BadInput(str(refused), where="--canary") from refused
    totals: list[str] = []
    thread = threading.Thread(target=lambda: totals.append(hunt.run()))
    with on_interrupt(hunt.cancel):
        thread.start()
        while thread.is_alive():
            thread.join(_LOOK_S)
            _tell(hunt, options)
        _tell(hunt, options)
    if not totals:
        raise HitlessError("the swarm has ended without its totals")
    document = json_format.loads(totals[0])
    if options.json:
        print_json(document)
    print_note(
        f"{document['worlds']:,} worlds and {document['packets']:,} packets from seed {options.seed} on; "
        f"{len(document['findings'])} faults"
    )
    return 1 if document["findings"] else 0


def _tell(hunt: _native.Swarm, options: SwarmOptions) -> None:
    for finding in json_format.loads(hunt.take_found()):
        path = _kept(finding, options.out or Path())
        print_note(f"seed {finding['seed']}, {finding['judge']}: {finding['fault']}")
        if not options.json:
            print_text(finding["scenario"])
        print_note(f"hitless swarm --judge {path}")


def _kept(finding: dict[str, Any], folder: Path) -> Path:
    """Where the scenario of a finding was written."""
    path = folder / f"swarm-{finding['judge']}-{finding['seed']}.toml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(finding["scenario"], encoding="utf-8")
    except OSError as refused:
        raise BadInput(f"cannot write what was found: {refused.strerror}", where=str(path)) from refused
    return path
