"""`hitless p4 run`: a scenario with a P4 program on every switch."""

from pathlib import Path
from typing import Any

import tomli_w

from hitless.checking import checked
from hitless.checkpoints import RunRequest
from hitless.cli.p4_files import Entries, age_note
from hitless.cli.run import run_request
from hitless.errors import BadInput
from hitless.terminal.console import print_note, print_text
from hitless.threads import thread_count

_LINK = {"rate": "10 Gbps", "delay": "1 us"}
_TOPOLOGIES: dict[str, dict[str, Any]] = {
    "leaf-spine": {"leaves": 24, "spines": 8, "hosts_per_leaf": 8, "host_link": _LINK, "core_link": _LINK},
    "fat-tree": {"k": 4, "link": _LINK},
    "dumbbell": {"hosts_left": 4, "hosts_right": 4, "host_link": _LINK, "bottleneck": _LINK},
    "chain": {
        "hosts_left": ["h1"],
        "switches": ["sw1", "sw2"],
        "hosts_right": ["h2"],
        "host_link": _LINK,
        "switch_link": _LINK,
    },
}


def scenario(program: Path, topology: str, routes: str | None, entries: Entries, *, load: float, duration: str) -> str:
    """Return the scenario as text, with absolute paths, so that it runs in any folder."""
    if topology not in _TOPOLOGIES:
        raise BadInput(f"there is no topology {topology!r}", rule=f"one of {', '.join(_TOPOLOGIES)}")
    entry: dict[str, Any] = {"kind": "p4", "program": str(program.resolve()), **entries.settings()}
    if routes is not None:
        entry["routes"] = _routes(routes)
    flows: dict[str, Any] = {
        "name": "flows",
        "kind": "poisson",
        "transport": "tcp",
        "load": load,
        "load_of": "host-links",
    }
    flows["sizes"] = {"kind": "fixed", "bytes": "20 KB"}
    return tomli_w.dumps(
        {
            "name": program.stem,
            "description": f"{program.name} on every switch of a {topology}",
            "duration": duration,
            "topology": {"kind": topology, **_TOPOLOGIES[topology]},
            "switch": {"ecn": {"threshold": "65 packets"}},
            "transport": [{"name": "tcp", "kind": "tcp", "congestion": "dctcp"}],
            "flows": [flows],
            "mechanism": [entry],
        }
    )


def run(text: str, program: Path, *, show: bool, seed: int, out: Path | None, json: bool) -> int:
    if (note := age_note(program)) is not None:
        print_note(note)
    if show:
        print_text(text.rstrip("\n"))
        return 0
    scenario = checked(text, str(program), keeps_rows=False, threads=thread_count())
    return run_request(RunRequest(program.stem, str(program), text, None, seed), scenario, out=out, json=json)


def _routes(text: str) -> dict[str, str]:
    parts = text.split(":")
    if len(parts) not in (3, 4):
        raise BadInput(
            f"{text!r} is not a description of routes", rule="TABLE:ACTION:PORT or TABLE:ACTION:PORT:ADDRESS"
        )
    return dict(zip(("table", "action", "port", "address"), parts, strict=False))
