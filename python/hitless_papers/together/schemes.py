"""The scenario of examples/all-together.toml with some of its systems, or in a clean network."""

import tomllib
from collections.abc import Collection, Mapping, Sequence
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
_FAULTS = ("failure", "recovery", "link")
"""Tables of what is wrong with links."""
_TROUBLES: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "SQR": (["web-search"], ["failure", "recovery"]),
    "LinkGuardian": (["web-search"], ["link"]),
    "AFQ": (["web-search", "fair", "cheat"], []),
    "RIMM": (["web-search", "bursts"], []),
    "PD": (["web-search", "queries"], []),
}
"""What each system is made for: groups of flows, and what is wrong with links. Else the network is clean."""
_BURST = "150 KB"
"""Of each of the four answers of a burst that RIMM is made for: 600 KB in 120 us, of which the port sends 150 KB and
holds 300 KB. The other 150 KB are half of a neighbour's room. The example's bursts of 1 MB are more than all of it."""
_SAMPLED_EVERY = "50 us"


@dataclass(frozen=True, slots=True)
class Scheme:
    """Which systems the switches run, and whether anything is wrong with the network."""

    name: str
    systems: Collection[str] = ()
    is_clean: bool = False
    """Do all links work, and does nobody cheat? The load is the same."""
    trouble_of: str = ""
    """The system with the only trouble; empty if all have theirs."""


CLEAN = Scheme("clean network", is_clean=True)
"""Plain forwarding as well."""
PLAIN = Scheme("plain")
ALL = Scheme("all five", tuple(SYSTEMS))
ALONE = {system: Scheme(f"{system} alone", (system,)) for system in SYSTEMS}
WITHOUT = {
    system: Scheme(f"all but {system}", tuple(other for other in SYSTEMS if other != system)) for system in SYSTEMS
}
BARE = {system: Scheme(f"{system}'s trouble, plain", trouble_of=system) for system in SYSTEMS}
GUARDED = {system: Scheme(f"{system}'s trouble, {system}", (system,), trouble_of=system) for system in SYSTEMS}
SCHEMES = (CLEAN, PLAIN, ALL, *ALONE.values(), *WITHOUT.values())
IN_OWN_TROUBLE = (*BARE.values(), *GUARDED.values())


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
        made = {name: value for name, value in made.items() if name not in _FAULTS}
    if scheme.trouble_of:
        groups, faults = _TROUBLES[scheme.trouble_of]
        resized = {"bursts": {"size": _BURST}}
        kept = (group for group in made["flows"] if group["name"] in groups)
        made["flows"] = [{**group, **resized.get(group["name"], {})} for group in kept]
        made = {name: value for name, value in made.items() if name not in _FAULTS or name in faults}
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
    return int(next(flows["fan_in"] for flows in example()["flows"] if flows["name"] == group))
