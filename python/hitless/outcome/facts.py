"""Summary of a scenario in a few lines."""

from collections.abc import Iterable, Mapping
from typing import Any

from hitless.outcome.scenario import scenario_of

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
