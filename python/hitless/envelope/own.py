"""The map of a mechanism without its own one: a user's class, other settings, or another trouble."""

import copy
from collections.abc import Mapping
from typing import Any

from hitless.checking import mechanism_schemas
from hitless.envelope.systems import SYSTEMS, Burst, Cheat, Cost, LinkFailure, LossyLink, Places, System
from hitless.errors import BadInput
from hitless.prototype.kinds import places_field
from hitless.suggest import did_you_mean

TROUBLES: Mapping[str, type[System]] = {
    "lossy-link": LossyLink,
    "bursts": Burst,
    "cheating-sender": Cheat,
    "link-failure": LinkFailure,
}
"""Troubles by the words of ``--against``."""


def system_of(kind: str, fields: Mapping[str, Any], *, against: str | None = None, cost: float | None = None) -> System:
    """Return the map of a mechanism with these settings. Raises `BadInput` for a mechanism without a trouble."""
    stated = None if cost is None else Cost(cost, "as given")
    if against is None:
        known = SYSTEMS.get(kind)
        if known is None:
            raise _without_trouble(kind)
        system = copy.copy(known)
        system.cost = stated or known.cost
    else:
        system = TROUBLES[against](kind, stated)
        system.places = _places_of(kind)
    system.fields = fields
    return system


def _without_trouble(kind: str) -> BadInput:
    schemas = mechanism_schemas()
    if kind in schemas:
        hint = f"name the trouble: --against {', '.join(TROUBLES)}"
        return BadInput(f"there is no map of {kind!r} yet", hint=hint)
    hint = did_you_mean(kind, [*SYSTEMS, *schemas], "mechanisms")
    return BadInput(f"there is no mechanism {kind!r}", hint=f"{hint}; --mechanism FILE.py adds your own")


def _places_of(kind: str) -> Places | None:
    """Return the field of a mechanism for its links or ports; None if it can run everywhere. Raises `BadInput`."""
    schema = mechanism_schemas().get(kind)
    if schema is None:
        raise _without_trouble(kind)
    own, required = places_field(kind), schema.get("required", ())
    name = own or next((name for name in ("link", "links", "ports") if name in required), None)
    if name is None:
        return None
    is_list = schema["properties"][name].get("type") != "string"
    return Places(name, is_list=is_list, is_both_ways=own is None and name == "links")
