"""The scenario of examples/all-together.toml with some of its systems, or in a clean network."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from hitless import _native

EXAMPLE = "all-together"
SYSTEMS: Mapping[str, str] = {
    "SQR": "sqr",
    "LinkGuardian": "linkguardian",
    "AFQ": "afq",
    "RIMM": "rimm",
    "PD": "preemptive-deflection",
}
"""By the name in rows, the kind in the scenario; PD is Preemptive Deflection."""
_SAMPLED_EVERY = "50 us"


@dataclass(frozen=True, slots=True)
class Scheme:
    """Which systems the switches run, and whether anything is wrong with the network."""

    name: str
    systems: Collection[str] = ()
    is_clean: bool = False
    """Do all links work, and does nobody cheat? The load is the same."""


CLEAN = Scheme("clean network", is_clean=True)
"""Plain forwarding as well."""
PLAIN = Scheme("plain")
ALL = Scheme("all five", tuple(SYSTEMS))
ALONE = {system: Scheme(f"{system} alone", (system,)) for system in SYSTEMS}
WITHOUT = {
    system: Scheme(f"all but {system}", tuple(other for other in SYSTEMS if other != system)) for system in SYSTEMS
}
SCHEMES = (CLEAN, PLAIN, ALL, *ALONE.values(), *WITHOUT.values())


def example() -> Mapping[str, Any]:
    """The scenario with all five, as a user runs it."""
    text = _native.scenario_example(EXAMPLE)
    if text is None:
        raise LookupError(f"the example {EXAMPLE!r} is not among those that the simulator was built with")
    return tomllib.loads(text)


def scenario(scheme: Scheme) -> Mapping[str, Any]:
    """The example with the systems of a scheme, and with a sample of every queue.

    Hosts restore order where packets are deflected, as the paper's do; elsewhere TCP sees what the network does.
    """
    made = dict(example())
    kinds = {SYSTEMS[system] for system in scheme.systems}
    made["mechanism"] = [mechanism for mechanism in made["mechanism"] if mechanism["kind"] in kinds]
    if "PD" not in scheme.systems:
        made["host"] = {name: value for name, value in made["host"].items() if name != "reorder_buffer"}
    if scheme.is_clean:
        made["flows"] = [group for group in made["flows"] if group["name"] != "cheat"]
        made = {name: value for name, value in made.items() if name not in {"failure", "recovery", "link"}}
    ports = list(_ports(made["topology"]))
    return made | {"measure": {**made["measure"], "queue": [{"ports": ports, "period": _SAMPLED_EVERY}]}}


def _ports(topology: Mapping[str, Any]) -> Collection[str]:
    """The ports of all switches of a leaf-spine, by their names."""
    per_leaf = topology["hosts_per_leaf"]
    names = []
    for leaf in range(topology["leaves"]):
        names += [f"leaf{leaf}->h{leaf * per_leaf + host}" for host in range(per_leaf)]
        for spine in range(topology["spines"]):
            names += [f"leaf{leaf}->spine{spine}", f"spine{spine}->leaf{leaf}"]
    return names


def fan_in(group: str) -> int:
    """Answers to a query of an incast group."""
    return int(next(flows["fan_in"] for flows in example()["flows"] if flows["name"] == group))
