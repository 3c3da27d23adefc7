"""The scenario of a run, read from its effective text: its settings, a summary, and reasons of warnings."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from hitless.quantities import seconds_of

_SEED = re.compile(r"^seed = \d+\n", re.MULTILINE)


def without_seed(effective: str) -> str:
    """Return the text without the scenario's seed, which comes before all tables. All seeds share this text."""
    return _SEED.sub("", effective, count=1)


def scenario_of(effective: str) -> Mapping[str, Any]:
    """Return the parsed scenario of a run, without its seed."""
    return _read(without_seed(effective))


@lru_cache(maxsize=16)
def _read(text: str) -> Mapping[str, Any]:
    return tomllib.loads(text)


_NAMES_SHOWN = 6


def facts_of(effective: str) -> list[tuple[str, str]]:
    """Describe an effective scenario in a few lines."""
    scenario = scenario_of(effective)
    found = [
        ("scenario", scenario.get("description", "")),
        ("topology", _topology(scenario.get("topology", {}))),
        ("mechanisms", "; ".join(map(_mechanism, scenario.get("mechanism", []))) or "none"),
        ("queues", _queues(scenario.get("switch", {}))),
        ("flows", _named(scenario.get("flows", []), "kind")),
        ("transports", _named(scenario.get("transport", []), "kind")),
    ]
    return [(name, text) for name, text in found if text]


def _topology(topology: Mapping[str, Any]) -> str:
    parts = [str(topology.get("kind", ""))]
    for name, value in topology.items():
        words = name.replace("_", " ")
        if isinstance(value, Mapping):
            parts.append(f"{words} {_rate(value)}")
        elif isinstance(value, list):
            rates = sorted({_rate(one) for one in value if isinstance(one, Mapping)})
            parts.append(f"{words}: {len(value)}{' of ' + ', '.join(rates) if rates else ''}")
        elif name != "kind":
            parts.append(f"{words} {value}")
    return ", ".join(part for part in parts if part)


def _rate(link: Mapping[str, Any]) -> str:
    return str(link.get("rate", "")).replace("bps", "b/s")


def _mechanism(mechanism: Mapping[str, Any]) -> str:
    """Return its name, with its place and mode if they are text."""
    places = [_listed(mechanism[name]) for name in ("link", "links", "switches", "mode") if mechanism.get(name)]
    return f"{mechanism.get('kind', '')}{' (' + ', '.join(places) + ')' if places else ''}"


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _queues(switch: Mapping[str, Any]) -> str:
    buffer = switch.get("buffer", {})
    count = f"{switch['queues_per_port']} a port" if "queues_per_port" in switch else ""
    words = [str(switch.get("scheduler", "")), count]
    words.append(", ".join(f"{name.replace('_', ' ')} {value}" for name, value in buffer.items()))
    return ", ".join(filter(None, words))


def _named(things: Iterable[Mapping[str, Any]], field: str) -> str:
    names = [f"{one.get('name', '')} ({one.get(field, '')})" for one in things]
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


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
