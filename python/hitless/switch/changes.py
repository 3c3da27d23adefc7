"""Changes of a scenario that a running switch accepts as commands, and changes that it refuses.

Commands let the switch keep its queues and packets.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hitless.errors import BadInput
from hitless.live import linkguardian_copies

_GUARDIAN = "linkguardian"
_CHANGEABLE = frozenset({"mode", "copies", "activation", "actual_loss_rate", "target_loss_rate"})
"""Fields of LinkGuardian that its two ends accept during a run."""
_DERIVED = frozenset(
    {
        "ack_no_timeout",
        "buffering",
        "control_copies",
        "pause_threshold",
        "reordering_buffer",
        "resume_threshold",
        "sender_buffer",
    }
)
"""Fields with defaults that depend on the link, losses and copies. They stay the same until a restart."""
_MEANINGLESS = frozenset(
    {"name", "description", "duration", "until", "warmup", "flows", "transport", "host", "measure"}
)
"""Fields without effect on a live run."""

Scenario = Mapping[str, Any]
_FIXED = "a running switch keeps it: restart it to change that"


def commands(before: Scenario, after: Scenario) -> list[str]:
    """Return the commands from one effective configuration to the other. Raises `BadInput` for forbidden changes."""
    differing = sorted(name for name in {*before, *after} - _MEANINGLESS if before.get(name) != after.get(name))
    fixed = [name for name in differing if name not in {"link", "mechanism"}]
    fixed += _fixed_mechanisms(before, after)
    fixed += _fixed_links(before, after)
    captures = [side.get("measure", {}).get("capture") for side in (before, after)]
    fixed += ["[[measure.capture]]"] if captures[0] != captures[1] else []
    if fixed:
        raise BadInput(f"{', '.join(fixed)}: changed in the file, and {_FIXED}")
    return [*_loss_commands(before, after), *_guardian_commands(before, after)]


def _guardians(scenario: Scenario) -> dict[str, Mapping[str, Any]]:
    return {entry["link"]: entry for entry in scenario.get("mechanism", []) if entry["kind"] == _GUARDIAN}


def _fixed_mechanisms(before: Scenario, after: Scenario) -> Iterator[str]:
    others = [[e for e in side.get("mechanism", []) if e["kind"] != _GUARDIAN] for side in (before, after)]
    if others[0] != others[1]:
        yield "[[mechanism]] other than LinkGuardian"
    old, new = _guardians(before), _guardians(after)
    if old.keys() != new.keys():
        yield "the links that LinkGuardian is configured on"
    for link in sorted(old.keys() & new.keys()):
        has_others = any(old[link].get(name) != new[link].get(name) for name in ("copies", "actual_loss_rate"))
        has_others |= before.get("topology") != after.get("topology")
        names = sorted({*old[link], *new[link]} - _CHANGEABLE - (_DERIVED if has_others else frozenset()))
        yield from (f"{name} of LinkGuardian on {link}" for name in names if old[link].get(name) != new[link].get(name))


def _fixed_links(before: Scenario, after: Scenario) -> Iterator[str]:
    """Return the links with a loss schedule, which belongs to the current run."""
    sides = {"before": before, "now": after}
    links = {which: {link["name"]: link for link in side.get("link", [])} for which, side in sides.items()}
    for which, other in (("before", "now"), ("now", "before")):
        for name, link in links[which].items():
            if link == links[other].get(name):
                continue
            if link.get("changes") or link.get("schedule"):
                yield f"[[link]] {link['name']}, which {which} has a schedule"
            elif _losses(link) is None:
                yield f"[[link]] {link['name']}, whose loss {which} is more than a rate and a mean burst length"


def _losses(link: Mapping[str, Any]) -> str | None:
    """Return the losses of a link for a command; None if the model is too complex for one."""
    loss = link.get("loss", {"kind": "none"})
    match loss["kind"]:
        case "none":
            return "0.0"
        case "bernoulli" if "repair_rate" not in loss:
            return f"{float(loss['rate'])!r}"
        case "gilbert-elliott" if (loss["loss_in_burst"], loss["loss_between_bursts"]) == (1.0, 0.0):
            return f"{float(loss['rate'])!r} {float(loss['mean_burst_frames'])!r}"
        case _:
            return None


def _loss_commands(before: Scenario, after: Scenario) -> Iterator[str]:
    old = {link["name"]: _losses(link) for link in before.get("link", [])}
    new = {link["name"]: _losses(link) for link in after.get("link", [])}
    for name in [*new, *(name for name in old if name not in new)]:
        if old.get(name, "0.0") != new.get(name, "0.0"):
            yield f"corrupt {name} {new.get(name, '0.0')}"


def _guardian_commands(before: Scenario, after: Scenario) -> Iterator[str]:
    old, new = _guardians(before), _guardians(after)
    for link, entry in new.items():
        if _command(link, old[link]) != _command(link, entry):
            yield _command(link, entry)


def _command(link: str, entry: Mapping[str, Any]) -> str:
    """Return the command that sets both ends of a link as in the scenario."""
    activation = entry.get("activation", [])
    if activation and not activation[-1]["active"]:
        return f"unprotect {link}"
    return f"protect {link} {_copies(entry)} {entry['mode']}"


def _copies(entry: Mapping[str, Any]) -> int:
    """Return the scenario's copies, or LinkGuardian's Equation 2; 1 if the expected loss is zero."""
    if "copies" in entry:
        return int(entry["copies"])
    actual = entry.get("actual_loss_rate", 0.0)
    return linkguardian_copies(actual, entry["target_loss_rate"]) if actual > 0.0 else 1
