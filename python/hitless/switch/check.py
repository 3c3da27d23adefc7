"""The state of a link's two interfaces and of its other end: `hitless link check`, and the start of `hitless link`."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hitless.errors import BadInput, HitlessError
from hitless.live import link_inner_mtu, link_outer_mtu, ports
from hitless.switch.greeting import NOBODY, Greeting, read
from hitless.switch.link import LinkPlan, mtu_plan
from hitless.switch.peer import exchange, open_socket

LISTEN_S = 0.5
"""Time for an answer of the other end: 25 greetings."""
_SLOWER_MAX = 1.1
"""Ratio of the interface's speed to the configured rate above which the link is used in part. Chosen."""

Verdict = Literal["ok", "note", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict about one property."""

    verdict: Verdict
    """An error prevents the start; a note asks for nothing here."""
    subject: str
    """The interface, and the property."""
    text: str
    mend: str = ""
    """Command, or change of the file, that mends it."""


def findings(plan: LinkPlan, *, set_mtu: bool, vlan_tags: int) -> list[Finding]:
    """Check both interfaces; a missing interface ends the check."""
    missing = [_missing(name) for name in (plan.inside, plan.outside)]
    if any(missing):
        return [finding for finding in missing if finding]
    found = [_mtu(plan, set_mtu=set_mtu, vlan_tags=vlan_tags)]
    for name in (plan.inside, plan.outside):
        found += [_carrier(name), _rate(name, plan), _offloads(name)]
    return found


def refuse(found: Sequence[Finding]) -> None:
    """Refuse to start with an error among the findings. Raises `BadInput` with the first."""
    for finding in found:
        if finding.verdict == "error":
            raise BadInput(finding.text, where=finding.subject, hint=finding.mend)


def of_other_end(plan: LinkPlan) -> list[Finding]:
    """Listen for the other end, and compare its settings. Needs CAP_NET_RAW."""
    subject = f"other end of {plan.outside}"
    mtu_bytes = ports.opened(plan.outside).mtu_bytes
    ours = Greeting(NOBODY, NOBODY, is_leaving=False, mtu_bytes=mtu_bytes, rate_bps=plan.rate_bps)
    try:
        with closing(open_socket(plan.outside)) as through:
            heard = [greeting for frame in exchange(through, ours, LISTEN_S) if (greeting := read(frame))]
    except PermissionError as refused:
        raise HitlessError(f"{subject}: packet sockets need CAP_NET_RAW", hint="run it with sudo") from refused
    except OSError as refused:
        return [Finding("warning", subject, f"nothing can be sent: {refused.strerror}")]
    if not heard:
        return [Finding("note", subject, "silent: hitless link or hitless link check does not run there now")]
    return [Finding("ok", subject, "answers"), *differences(heard[-1], plan, subject)]


def differences(peer: Greeting, plan: LinkPlan, subject: str) -> Iterator[Finding]:
    """Compare the settings of the other end."""
    needed_bytes = link_outer_mtu(ports.opened(plan.inside).mtu_bytes, 0)
    if peer.mtu_bytes < needed_bytes:
        text = f"has MTU {peer.mtu_bytes} on the link, and frames from {plan.inside} take {needed_bytes}"
        yield Finding(
            "warning", f"{subject}: MTU", text, f"there: ip link set INTERFACE mtu {needed_bytes}, or --set-mtu"
        )
    if peer.rate_bps != plan.rate_bps:
        text = f"has rate {_rate_text(peer.rate_bps)}, and this end {_rate_text(plan.rate_bps)}"
        yield Finding("warning", f"{subject}: rate", text, "give both ends the same rate")


def _missing(name: str) -> Finding | None:
    try:
        ports.opened(name)
    except HitlessError as missing:
        return Finding("error", name, missing.what, "ip link")
    return None


def _mtu(plan: LinkPlan, *, set_mtu: bool, vlan_tags: int) -> Finding:
    inside, outside = (ports.opened(name).mtu_bytes for name in (plan.inside, plan.outside))
    sums = mtu_plan(inside, outside, vlan_tags)
    subject = f"{plan.outside}: MTU"
    if sums.fits:
        return Finding("ok", subject, str(sums))
    if set_mtu:
        return Finding("ok", subject, f"{sums}: raised while hitless link runs; the other end needs the same")
    lower = link_inner_mtu(outside, vlan_tags)
    instead = f", or ip link set {plan.inside} mtu {lower} and the same on every host behind it" if lower else ""
    mend = f"ip link set {plan.outside} mtu {sums.needed_bytes} at both ends, or --set-mtu{instead}"
    return Finding("error", subject, f"the link's MTU is too small: {sums}", mend)


def _carrier(name: str) -> Finding:
    subject = f"{name}: carrier"
    match ports.opened(name).carrier:
        case "off":
            return Finding("warning", subject, "the interface is off", f"ip link set {name} up")
        case "lost":
            return Finding(
                "warning", subject, "no carrier: check the cable, and ip link set INTERFACE up at its other end"
            )
        case _:
            return Finding("ok", subject, "present")


def _rate(name: str, plan: LinkPlan) -> Finding:
    """Compare the speed that the driver reports with the configured rate."""
    subject, speed_bps = f"{name}: rate", ports.speed_bps(name)
    if speed_bps is None:
        return Finding(
            "note", subject, f"its driver reports no speed; the file or --rate says {_rate_text(plan.rate_bps)}"
        )
    if speed_bps < plan.rate_bps:
        text = (
            f"runs at {_rate_text(speed_bps)}, below the rate of {_rate_text(plan.rate_bps)}: queues would build in it"
        )
        return Finding("warning", subject, text, f'rate "{_rate_text(speed_bps)}", or a faster interface')
    if name == plan.outside and speed_bps > plan.rate_bps * _SLOWER_MAX:
        text = f"runs at {_rate_text(speed_bps)}, and hitless link uses {_rate_text(plan.rate_bps)} of it"
        return Finding("note", subject, text)
    return Finding("ok", subject, f"runs at {_rate_text(speed_bps)}")


def _offloads(name: str) -> Finding:
    subject, on = f"{name}: offloads", ports.opened(name).offloads_on()
    merging = [offload for offload in on if "checksum" not in offload and "vlan" not in offload]
    if Path("/sys/class/net", name, "device").exists():
        its_own = f"{len(merging)} that merge or split frames are on; hitless link switches them off while it runs"
        return Finding("ok", subject, its_own if merging else "none that merges or splits frames is on")
    # The peer of a veth, or the host of a virtual machine, passes on whole buffers: no card splits them.
    text = "a virtual interface receives frames that the other side has not split"
    return Finding("note", subject, text, "on the other side: ethtool -K INTERFACE tso off gso off")


def _rate_text(bps: int) -> str:
    return f"{bps / 1e9:g} Gbps" if bps >= 1e9 else f"{bps / 1e6:g} Mbps"
