"""Packets that hosts lost, told apart from frames of which nobody but a mechanism knows.

A link corrupts whatever crosses it: packets of hosts, but also dummies, copies and control packets of a mechanism, of
which LinkGuardian sends several for each packet of a link that is not busy. So frames corrupted are no measure of what
is lost. What is lost to hosts is counted where it can be: by the order checker of a run (``measure.order``) exactly;
else from the counters of the mechanism at the end of a link that it protects, and of the link itself where nobody
protects it. Where neither can tell, the number is None, and `Losses.why` says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitless.outcome.run import Run
from hitless.outcome.scenario import scenario_of
from hitless.outcome.tables import columns_of

CORRUPTED, LINK_DOWN = "corrupted on a link", "lost on a link that was down"
_IN_HOSTS = ("arrived after the end of the flow", "copy of a packet held for order")
"""What a host received, and had no more use for: nothing is lost by it."""
_CARD = "network card full"
_GUARDS = ("linkguardian", "link-layer-retry", "wharf")
"""Mechanisms of one link, whose receiving ends count what is lost for good as "packets lost"."""
_SILENT = frozenset(
    {
        "afq",
        "aifo",
        "dibs",
        "every-nth",
        "pabo",
        "preemptive-deflection",
        "rank-guard",
        "simple-deflection",
        "trimming",
        "vertigo",
    }
)
"""Mechanisms that put nothing on links but packets of hosts. Of any other, as one of the user's, it is not known."""
COUNT_THEM = "order = true in [measure] counts them"


@dataclass(frozen=True, slots=True)
class Losses:
    """Of one run."""

    dropped: Mapping[str, int]
    """Packets of hosts that switches and network cards dropped, by reason."""
    corrupted: int
    """Frames that links corrupted, whoever's they were."""
    lost_down: int
    """Frames lost on links that were down, whoever's they were."""
    recovered: int | None
    """Of packets that a protected link corrupted, those that its mechanism brought back; None without one."""
    lost_to_hosts: int | None
    """Packets that hosts sent, and that never arrived in any copy; None where nothing tells."""
    why: str = ""
    """Why the last is not known."""


def losses_of(run: Run) -> Losses:
    """What was lost, and to whom."""
    drops = run.summary.drops
    scenario = scenario_of(run.effective)
    elsewhere = (CORRUPTED, LINK_DOWN, *_IN_HOSTS)
    dropped = {reason: count for reason, count in drops.items() if reason not in elsewhere}
    corrupted, down = drops.get(CORRUPTED, 0), drops.get(LINK_DOWN, 0)
    by_order, why = run.summary.values.get("order"), ""
    if by_order is not None:
        lost = int(by_order["packets_lost"]) + drops.get(_CARD, 0)
    elif isinstance(on_links := _lost_on_links(run, scenario, down=down), str):
        lost, why = None, on_links
    else:
        lost = on_links + sum(dropped.values())
    return Losses(dropped, corrupted, down, _recovered(run), lost, why)


def needs_order_checker(scenario: Mapping[str, Any]) -> bool:
    """Would a run of this scenario without ``measure.order`` not tell what links lost to hosts?"""
    kinds = {entry["kind"] for entry in scenario.get("mechanism", [])}
    loses_by_failure = bool(scenario.get("failure")) or any(link.get("schedule") for link in scenario.get("link", []))
    if loses_by_failure and kinds - _SILENT:
        return True
    lossy = lossy_links(scenario)
    guarded = {entry["link"]: entry for entry in scenario.get("mechanism", []) if entry["kind"] in _GUARDS}
    return any(_cannot_tell(link, guarded, kinds) for link in lossy)


def lossy_links(scenario: Mapping[str, Any]) -> list[str]:
    """Directed links that may corrupt frames."""
    found: list[str] = []
    for link in scenario.get("link", []):
        losses = [link.get("loss", {}), *(change.get("loss", {}) for change in link.get("changes", []))]
        if any(loss.get("kind", "none") != "none" for loss in losses):
            found += both_ways(link["name"]) if "<->" in link["name"] else [link["name"]]
    return found


def both_ways(link: str) -> list[str]:
    """The two directions of "a<->b", which may have a number behind it."""
    ends, sign, number = link.partition("#")
    first, second = ends.split("<->")
    return [f"{first}->{second}{sign}{number}", f"{second}->{first}{sign}{number}"]


def reverse_of(link: str) -> str:
    """The other direction of "a->b"."""
    ends, sign, number = link.partition("#")
    first, second = ends.split("->")
    return f"{second}->{first}{sign}{number}"


def _cannot_tell(link: str, guarded: Mapping[str, Mapping[str, Any]], kinds: set[str]) -> bool:
    """Do frames that this link corrupts leave open whose they were?"""
    if link in guarded:
        changes = ("activation", "fallback", "adaptive")
        return any(guarded[link].get(name) for name in changes)
    return reverse_of(link) in guarded or bool(kinds - _SILENT - set(_GUARDS))


def _lost_on_links(run: Run, scenario: Mapping[str, Any], *, down: int) -> int | str:
    """Packets of hosts that links lost for good, or why that is not known."""
    kinds = {entry["kind"] for entry in scenario.get("mechanism", [])}
    if down and kinds - _SILENT:
        return "frames of mechanisms were on the links that went down too"
    guarded = {entry["link"]: entry for entry in scenario.get("mechanism", []) if entry["kind"] in _GUARDS}
    lost = down
    for link, frames in _corrupted_by_link(run):
        if link in guarded and not _was_ever_on(run, guarded[link]):
            lost += frames
        elif _cannot_tell(link, guarded, kinds):
            return f"frames of mechanisms were on {link} too"
        elif link not in guarded:
            lost += frames
    return lost + (counter(run, "packets lost") or 0)


def _corrupted_by_link(run: Run) -> Iterator[tuple[str, int]]:
    links = columns_of(run, "links")
    if links:
        pairs = zip(links["link"], links["frames_corrupted"].tolist(), strict=True)
        yield from ((link, frames) for link, frames in pairs if frames > 0)


def _was_ever_on(run: Run, guard: Mapping[str, Any]) -> bool:
    """Was a mechanism of one link switched on at any time? One that never was has sent nothing."""
    activation: Sequence[Mapping[str, Any]] = guard.get("activation") or []
    if not activation:
        return True
    return counter(run, "switched on") != 0


def _recovered(run: Run) -> int | None:
    """By LinkGuardian and Wharf; Link Layer Retry replays all that follows, and counts no packet of it."""
    found = [counter(run, name) for name in ("packets recovered", "frames restored")]
    known = [count for count in found if count is not None]
    return sum(known) if known else None


def counter(run: Run, name: str) -> int | None:
    """The sum of a counter over all mechanisms; None where no mechanism has it."""
    table = columns_of(run, "mechanisms")
    if not table:
        return None
    found = [value for other, value in zip(table["counter"], table["value"].tolist(), strict=True) if other == name]
    return sum(found) if found else None
