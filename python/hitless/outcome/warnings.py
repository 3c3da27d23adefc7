"""Warnings of a run, with the reason if the scenario shows it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hitless.outcome.scenario import scenario_of
from hitless.quantities import seconds_of

_IDLE = re.compile(r"(\S+) was switched on at (\S+) and never acted")


def with_reasons(warnings: Sequence[str], effective: str, simulated_s: float) -> list[str]:
    """Return the warnings; a mechanism that its ``activation`` keeps off is not said to have been on."""
    if not any(map(_IDLE.fullmatch, warnings)):
        return list(warnings)
    entries = scenario_of(effective).get("mechanism", [])
    return [_with_reason(warning, entries, simulated_s) for warning in warnings]


def _with_reason(warning: str, entries: Sequence[Mapping[str, Any]], simulated_s: float) -> str:
    idle = _IDLE.fullmatch(warning)
    if idle is None:
        return warning
    kind, switch = idle.groups()
    reasons = [_off(entry, simulated_s) for entry in entries if entry["kind"] == kind and _is_at(entry, switch)]
    if not reasons or not all(reasons):
        return warning
    return f"{kind} is off at {switch} during the whole run: {', '.join(dict.fromkeys(filter(None, reasons)))}"


def _is_at(entry: Mapping[str, Any], switch: str) -> bool:
    return switch in re.split(r"<->|->", str(entry.get("link", "")).partition("#")[0])


def _off(entry: Mapping[str, Any], simulated_s: float) -> str | None:
    """Return why an entry is off during the whole run; None if it is on at some time."""
    activation = entry.get("activation") or []
    begins = [str(change["at"]) for change in activation if change["active"]]
    if not activation or any(seconds_of(at) <= simulated_s for at in begins):
        return None
    if not begins:
        return "its activation never switches it on"
    return f"its activation switches it on at {begins[0]}, after the end"
