"""Pages of docs/reference about live runs: the files of `hitless link` and `hitless switch`, and all metrics."""

import ast
import inspect
import threading
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from prometheus_client.core import Metric
from pydantic import BaseModel

from hitless.corruptd.actors import ReportActor
from hitless.corruptd.bus import LocalHub
from hitless.corruptd.daemon import Daemon, DaemonPlan, GuardPlan, WatchPlan
from hitless.corruptd.metrics import DaemonCollector
from hitless.corruptd.protocol import Upstream
from hitless.corruptd.window import Reading
from hitless.live import Status
from hitless.switch import configuration, link_file
from hitless.switch.metrics import LINK_COUNTERS, PORT_COUNTERS, LiveCollector

_WRITTEN = "Written by `scripts/reference`."


def files() -> str:
    """Every field of link.toml and switch.toml."""
    return "\n".join(
        [
            "# link.toml and switch.toml\n",
            "The files of `hitless link FILE` and `hitless switch FILE`. `--example` prints one with comments, and",
            "`--check` one with all defaults. A running process reads its file again at SIGHUP; the last column says",
            f"whether it then accepts a change. {_WRITTEN}\n",
            "## link.toml\n",
            *_table("[link]", link_file.Link, link_file.CHANGEABLE),
            *_table("[metrics]", link_file.LinkMetrics, ()),
            "## switch.toml\n",
            *_table("[switch]", configuration.Main, configuration.CHANGEABLE),
            "[Real interfaces](../how-to/real-interfaces.md) lists the parts of the scenario that can change.\n",
            *_table("[[interface]]", configuration.Interface, ()),
            *_table("[metrics] of a switch", configuration.Metrics, ()),
        ]
    )


def _table(title: str, model: type[BaseModel], changeable: Collection[str]) -> Iterator[str]:
    schema = model.model_json_schema()
    told = {name: text for base in reversed(model.__mro__) for name, text in _documented(base).items()}
    yield f"### {title}\n"
    yield "| field | default | values | meaning | SIGHUP |\n|---|---|---|---|---|"
    for name, field in schema["properties"].items():
        default = "required" if name in schema.get("required", ()) else f"`{_toml(field.get('default'))}`"
        accepted = "yes" if name in changeable else "no"
        yield f"| `{name}` | {default} | {_values(field)} | {told[name]} | {accepted} |"
    yield ""


def _toml(value: Any) -> str:
    match value:
        case str():
            return f'"{value}"'
        case bool():
            return str(value).lower()
        case float():
            return f"{value:g}"
        case _:
            return "none" if value is None else str(value)


def _values(field: Mapping[str, Any]) -> str:
    """The type of a field and its range."""
    for choice in field.get("anyOf", ()):
        if choice.get("type") != "null":
            field = {**choice, **field}
    if "enum" in field:
        return ", ".join(f"`{_toml(value)}`" for value in field["enum"])
    if field.get("format") == "path":
        return "path"
    kind = {"string": "text", "number": "number", "integer": "whole number", "boolean": "`true`, `false`"}[
        field["type"]
    ]
    if "minimum" in field:
        return f"{kind}, {field['minimum']:g} to {field['maximum']:g}"
    return f"{kind} of {field['minLength']} to {field['maxLength']} characters" if "maxLength" in field else kind


def _documented(model: type) -> dict[str, str]:
    """Docstrings after the fields of a class."""
    if not issubclass(model, BaseModel) or model is BaseModel:
        return {}
    [body] = ast.parse(inspect.getsource(model)).body
    found: dict[str, str] = {}
    previous: ast.stmt | None = None
    for part in getattr(body, "body", []):
        match previous, part:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str() as text)):
                found[name] = " ".join(text.split()).replace("|", "\\|")
        previous = part
    return found


_PORT = {
    "node": "h1",
    "interface": "eth1",
    "mode": "AF_PACKET",
    "returns": 0,
    **dict.fromkeys(PORT_COUNTERS, 0),
    "departures": {"misses": 0},
}
_END = {"link": "a->b", "is_commanded": True, "phase": "on", "keeps_order": True, "copies": 1, "packets": 0}
_STATUS = {
    "is_overloaded": False,
    "timers": {"misses": 0},
    "ports": [_PORT],
    "frames_entered": 0,
    "frames_left": 0,
    "frames_inside": 0,
    "links": [{"link": "a->b", "queue_bytes": 0} | dict.fromkeys(LINK_COUNTERS, 0)],
    "drops": {"corrupted": 0},
    "retired": {"duplicate": 0},
    "mechanisms": [("sw1", "linkguardian", "port 1 sender", "packets_protected", "packets protected", 0)],
    "protections": [
        {**_END, "end": end, "lost_on_link": 0, "recovered": 0, "lost": 0} for end in ("sender", "receiver")
    ],
    "peer": {"answers": True},
    "kernel_drops": [{"node": "h1", "interface": "eth1", "received": 0, "sent": 0}],
}


class _Port:
    """A port with forward error correction."""

    def read(self) -> Reading:
        """Read nothing."""
        return Reading(0, 0, 0)


def live_metrics() -> list[Metric]:
    """The metrics of `hitless link` and `hitless switch`."""
    return list(LiveCollector(lambda: Status(_STATUS)).collect())


def daemon_metrics() -> list[Metric]:
    """The metrics of corruptd."""
    plan = DaemonPlan(
        "b", [WatchPlan(Upstream("a->b", "a"), _Port())], [GuardPlan(link="b->a", downstream_switch_id="a")]
    )
    daemon = Daemon(plan, LocalHub().join("SWITCH-b"), ReportActor(), 1)
    daemon.step(0.0)
    return list(DaemonCollector(daemon, threading.Lock()).collect())


def metrics() -> str:
    """Every metric of Prometheus."""
    return "\n".join(
        [
            "# Metrics\n",
            "Everything that services export for Prometheus. [Alert rules](monitoring/hitless.rules.yml) and a",
            "[dashboard for Grafana](monitoring/hitless-dashboard.json) use these names;",
            f"[the guide](../how-to/real-interfaces.md#watch-it-with-prometheus) installs them. {_WRITTEN}\n",
            "## hitless link and hitless switch\n",
            "At http://127.0.0.1:9471/metrics for a switch; a link needs `[metrics] port` or `--metrics-port`. If the",
            "run does not answer, only `hitless_live_up` is exported, as 0. `hitless link` does not count drops of the",
            "kernel; `hitless switch` does not have `hitless_live_peer_answers`.\n",
            *_metrics(live_metrics()),
            "## hitless corruptd\n",
            "At http://127.0.0.1:9470/metrics.\n",
            *_metrics(daemon_metrics()),
        ]
    )


def _metrics(families: list[Metric]) -> Iterator[str]:
    yield "| metric | type | labels | meaning |\n|---|---|---|---|"
    for family in families:
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = sorted({label for sample in family.samples for label in sample.labels})
        yield f"| `{name}` | {family.type} | {', '.join(f'`{label}`' for label in labels)} | {family.documentation} |"
    yield ""
