"""Packets lost end to end, told apart from frames that only mechanisms missed.

A link corrupts whatever crosses it: packets of hosts, but also dummies, copies and control packets of mechanisms.
LinkGuardian sends several of these for each packet on a link with idle time. The number of corrupted frames is
therefore not a measure of loss. The order checker of a run (``measure.order``) counts end-to-end loss exactly. Without
it, the count comes from the counters of the mechanism that protects a link, or of the link itself if it is unprotected.
If neither can tell, the number is None, and `Losses.why` gives the reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitless.outcome.run import Run
from hitless.outcome.scenario import scenario_of
from hitless.outcome.tables import columns_of

CORRUPTED, LINK_DOWN = "corrupted on a link", "lost on a link that was down"
_IN_HOSTS = ("arrived after the end of the flow", "copy of a packet held for order")
"""Received packets that a host could not use: nothing was lost by dropping them."""
_CARD = "network card full"
_MISDELIVERED = "addressed to another host"
_GUARDS = ("linkguardian", "link-layer-retry", "wharf")
"""Mechanisms for one link that count unrecovered packets as "packets_lost" at their receiving ends."""
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
"""Mechanisms that put only packets of hosts on links. Other mechanisms, such as the user's, can do anything."""
COUNT_THEM = "order = true in [measure] counts them"


@dataclass(frozen=True, slots=True)
class Losses:
    """Losses of a run."""

    dropped: Mapping[str, int]
    """Packets of hosts that switches and network cards dropped, by reason."""
    corrupted: int
    """Frames that links corrupted, including those from mechanisms."""
    lost_down: int
    """Frames lost on links that were down, including those from mechanisms."""
    recovered: int | None
    """Packets that a protected link corrupted and its mechanism recovered; None without such a mechanism."""
    lost_to_hosts: int | None
    """Packets from hosts that never arrived in any copy; None if unknown."""
    why: str = ""
    """Reason for an unknown `lost_to_hosts`."""


def losses_of(run: Run) -> Losses:
    """Return what was lost, and where."""
    drops = run.summary.drops
    scenario = scenario_of(run.effective)
    elsewhere = (CORRUPTED, LINK_DOWN, *_IN_HOSTS)
    dropped = {reason: count for reason, count in drops.items() if reason not in elsewhere}
    corrupted, down = drops.get(CORRUPTED, 0), drops.get(LINK_DOWN, 0)
    by_order, why = run.summary.values.get("order"), ""
    if by_order is not None:
        lost = int(by_order["packets_lost"]) + drops.get(_CARD, 0)
    elif copied := _may_be_copies(dropped.get(_MISDELIVERED, 0), scenario):
        lost, why = None, copied
    elif isinstance(on_links := _lost_on_links(run, scenario, down=down), str):
        lost, why = None, on_links
    else:
        lost = on_links + sum(dropped.values())
    return Losses(dropped, corrupted, down, _recovered(run), lost, why)


def needs_order_checker(scenario: Mapping[str, Any]) -> bool:
    """Does a run of this scenario need ``measure.order`` to tell what links lost end to end?"""
    kinds = {entry["kind"] for entry in scenario.get("mechanism", [])}
    loses_by_failure = bool(scenario.get("failure")) or any(link.get("schedule") for link in scenario.get("link", []))
    if loses_by_failure and kinds - _SILENT:
        return True
    lossy = lossy_links(scenario)
    guarded = {entry["link"]: entry for entry in scenario.get("mechanism", []) if entry["kind"] in _GUARDS}
    return any(_cannot_tell(link, guarded, kinds) for link in lossy)


def lossy_links(scenario: Mapping[str, Any]) -> list[str]:
    """Return the directed links that can corrupt frames."""
    found: list[str] = []
    for link in scenario.get("link", []):
        losses = [link.get("loss", {}), *(change.get("loss", {}) for change in link.get("changes", []))]
        if any(loss.get("kind", "none") != "none" for loss in losses):
            found += directions_of(link["name"])
    return found


def directions_of(link: str) -> list[str]:
    """Return the two directions of "a<->b", which can end with a number; "a->b" is its own direction."""
    if "<->" not in link:
        return [link]
    ends, sign, number = link.partition("#")
    first, second = ends.split("<->")
    return [f"{first}->{second}{sign}{number}", f"{second}->{first}{sign}{number}"]


def reverse_of(link: str) -> str:
    """Return the other direction of "a->b"."""
    return directions_of(link.replace("->", "<->"))[1]


def _cannot_tell(link: str, guarded: Mapping[str, Mapping[str, Any]], kinds: set[str]) -> bool:
    """Can frames that this link corrupts belong to either hosts or mechanisms?"""
    if link in guarded:
        changes = ("activation", "fallback", "adaptive")
        return any(guarded[link].get(name) for name in changes)
    return reverse_of(link) in guarded or bool(kinds - _SILENT - set(_GUARDS))


def _lost_on_links(run: Run, scenario: Mapping[str, Any], *, down: int) -> int | str:
    """Return the unrecovered packets of hosts that links lost, or the reason why the number is unknown."""
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
    return lost + (counter(run, "packets_lost") or 0)


def _may_be_copies(misdelivered: int, scenario: Mapping[str, Any]) -> str:
    """Return why packets that reached another host may be copies of delivered ones, as in a multicast; else ""."""
    if not misdelivered or not {entry["kind"] for entry in scenario.get("mechanism", [])} - _SILENT:
        return ""
    return f"{misdelivered:,} packets reached another host, and some may be copies of delivered ones"


def _corrupted_by_link(run: Run) -> Iterator[tuple[str, int]]:
    links = columns_of(run, "links")
    if links:
        pairs = zip(links["link"], links["frames_corrupted"].tolist(), strict=True)
        yield from ((link, frames) for link, frames in pairs if frames > 0)


def _was_ever_on(run: Run, guard: Mapping[str, Any]) -> bool:
    """Was the mechanism of a link ever switched on? If not, it has sent nothing."""
    activation: Sequence[Mapping[str, Any]] = guard.get("activation") or []
    if not activation:
        return True
    return counter(run, "switched_on") != 0


def _recovered(run: Run) -> int | None:
    """Sum the counters of LinkGuardian and Wharf; Link Layer Retry lacks one because it replays other packets, too."""
    found = [counter(run, name) for name in ("packets_recovered", "frames_restored")]
    known = [count for count in found if count is not None]
    return sum(known) if known else None


def counter(run: Run, name: str) -> int | None:
    """Return the sum of a counter over all mechanisms; None if every mechanism lacks it."""
    table = columns_of(run, "mechanisms")
    if not table:
        return None
    found = [value for other, value in zip(table["counter"], table["value"].tolist(), strict=True) if other == name]
    return sum(found) if found else None
