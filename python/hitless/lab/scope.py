"""The parts of a scenario that a lab uses, and those that it ignores: printed at startup."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitless.lab.tuning import listed


@dataclass(frozen=True, slots=True)
class Scope:
    """Two lists of sentences."""

    used: Sequence[str]
    ignored: Sequence[str]


def scope(scenario: Mapping[str, Any], written: str, *, has_results: bool) -> Scope:
    """Return the scope of an effective configuration, with the user's original text.

    Only a lab with a folder of results has captures.
    """
    own = tomllib.loads(written)
    captures = [f"{entry['name']}.pcapng" for entry in scenario.get("measure", {}).get("capture", [])]
    used, ignored = _used(scenario), _ignored(scenario, own)
    if captures and has_results:
        used.append(f"captures of packets: {listed(captures)}")
    elif captures:
        ignored.append(f"[[measure.capture]] ({listed(captures)}): captures need --out FOLDER")
    return Scope(used=used, ignored=ignored)


def _used(scenario: Mapping[str, Any]) -> list[str]:
    used = ["the topology with its rates and delays", "the switches: pipelines, queues, buffer, marking"]
    if scenario.get("host", {}).get("priority_tagger", {}).get("by") == "dscp":
        used.append("hosts' priority marks: the DSCPs that their programs set")
    mechanisms = [entry["kind"] for entry in scenario.get("mechanism", [])]
    if mechanisms:
        used.append(f"the mechanisms: {listed(mechanisms)}")
    if scenario.get("link"):
        used.append(f"faults of links: {listed(entry['name'] for entry in scenario['link'])}")
    if scenario.get("failure"):
        used.append(
            f"failures and their repair, counted from the start: {listed(f['link'] for f in scenario['failure'])}"
        )
    return used


def _ignored(scenario: Mapping[str, Any], own: Mapping[str, Any]) -> list[str]:
    ignored = []
    if scenario.get("flows"):
        groups = listed(group["name"] for group in scenario["flows"])
        ignored.append(f"[[flows]] ({groups}): programs in the hosts send, not the lab")
    if scenario.get("transport"):
        names = listed(entry["name"] for entry in scenario["transport"])
        ignored.append(f"[[transport]] ({names}): the kernel's; supported settings are applied")
    host = own.get("host", {})
    if host.get("priority_tagger", {}).get("by") not in {None, "dscp"}:
        ignored.append(
            'host.priority_tagger: real hosts do not write this mark; by = "dscp" uses marks that programs can set'
        )
    if host.keys() - {"nic_queue", "priority_tagger"}:
        ignored.append("[host] but for nic_queue and priority_tagger: kernels have their own delays")
    if own.get("measure", {}).keys() - {"capture"}:
        ignored.append("[measure] but for capture: hitless lab status counts, --record keeps every frame")
    times = [name for name in ("duration", "until", "warmup") if name in own]
    if times:
        ignored.append(f"{', '.join(times)}: a lab runs until hitless lab down")
    return ignored
