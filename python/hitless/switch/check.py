"""The state of a link's two interfaces and of its other end: `hitless link check`, and the start of `hitless link`."""

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hitless.errors import BadInput, HitlessError
from hitless.live import link_inner_mtu, ports
from hitless.switch import masters
from hitless.switch.agreement import NOBODY, PERIOD_S, Agreement, Greeting, read
from hitless.switch.link import LinkPlan, mtu_plan
from hitless.switch.peer import exchange, open_socket
from hitless.switch.trouble import likely, of_lengths

LISTEN_S = 1.0
"""Time for an answer of the other end: 50 greetings, 16 of full length."""
_JUDGED_GREETINGS = 15
"""Number of greetings that include some of full length, even if the link loses a fifth. Chosen."""
_SLOWER_MAX = 1.1
"""Ratio of the interface's speed to the configured rate above which the link is used in part. Chosen."""

Verdict = Literal["ok", "note", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    verdict: Verdict
    """An error prevents the start; a note asks for nothing here."""
    subject: str
    """The interface, and the property."""
    text: str
    mend: str = ""
    """Command, or change of the file, that mends it."""


def findings(plan: LinkPlan, *, set_mtu: bool) -> list[Finding]:
    """Check both interfaces; a missing interface ends the check."""
    missing = [_missing(name) for name in (plan.inside, plan.outside)]
    if any(missing):
        return [finding for finding in missing if finding]
    found = [_mtu(plan, set_mtu=set_mtu)]
    for name in (plan.inside, plan.outside):
        found += [_master(name), _carrier(name), _rate(name, plan), _offloads(name)]
    return found


def refuse(found: Sequence[Finding]) -> None:
    """Refuse to start with an error among the findings. Raises `BadInput` with the first."""
    for finding in found:
        if finding.verdict == "error":
            raise BadInput(finding.text, where=finding.subject, hint=finding.mend)


def of_other_end(plan: LinkPlan) -> list[Finding]:
    """Greet the other end for a second, and compare its settings. Needs CAP_NET_RAW."""
    subject = f"other end of {plan.outside}"
    missing = next(filter(None, map(_missing, (plan.inside, plan.outside))), None)
    if missing is not None:
        return [Finding("note", subject, f"not asked, because {missing.subject} is missing")]
    sums = mtu_plan(plan)
    agreement = Agreement(sums.outside_bytes, plan.rate_bps, sums.needed_bytes, session=NOBODY)
    try:
        with closing(open_socket(plan.outside)) as through:
            heard = list(_heard(through, agreement))
    except PermissionError as refused:
        raise HitlessError(f"{subject}: packet sockets need CAP_NET_RAW", hint="run it with sudo") from refused
    except OSError as refused:
        return [Finding("warning", subject, f"nothing can be sent: {refused.strerror}")]
    if not heard:
        text = "silent: neither hitless link nor hitless link check is heard"
        return [Finding("note", subject, text, likely(plan))]
    unequal = list(differences(heard[-1], plan, subject))
    if sums.fits and not any("MTU" in finding.subject for finding in unequal):
        unequal += _lengths(heard, agreement, plan, subject)
    return [Finding("ok", subject, "answers"), *unequal]


def _heard(through: socket.socket, agreement: Agreement) -> Iterator[Greeting]:
    """Exchange greetings with the other end. Raises `OSError`."""
    for number in range(round(LISTEN_S / PERIOD_S)):
        ours = agreement.greeting(time.monotonic())
        for frame in exchange(through, ours, PERIOD_S, agreement.length_bytes(number)):
            agreement.hear(frame, time.monotonic())
            greeting = read(frame)
            if greeting is not None:
                agreement.peer = greeting
                yield greeting


def _lengths(heard: Sequence[Greeting], agreement: Agreement, plan: LinkPlan, subject: str) -> Iterator[Finding]:
    """Compare the lengths that pass with the length of protected frames. Two checks must overlap long enough."""
    peer = heard[-1]
    passage = agreement.passage(peer, time.monotonic())
    if len(heard) >= _JUDGED_GREETINGS and not passage.is_free:
        trouble = of_lengths(passage, plan, agreement.mtu_bytes, peer.mtu_bytes)
        yield Finding("warning", f"{subject}: length of frames", trouble.text, trouble.mend)


def differences(peer: Greeting, plan: LinkPlan, subject: str) -> Iterator[Finding]:
    """Compare the settings of the other end."""
    needed_bytes = mtu_plan(plan).needed_bytes
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


def _mtu(plan: LinkPlan, *, set_mtu: bool) -> Finding:
    sums = mtu_plan(plan)
    subject = f"{plan.outside}: MTU"
    if sums.fits:
        return Finding("ok", subject, str(sums))
    if set_mtu:
        return Finding("ok", subject, f"{sums}: raised while hitless link runs; the other end needs the same")
    lower = link_inner_mtu(sums.outside_bytes, plan.vlan_tags)
    instead = f", or ip link set {plan.inside} mtu {lower} and the same on every host behind it" if lower else ""
    mend = f"ip link set {plan.outside} mtu {sums.needed_bytes} at both ends, or --set-mtu{instead}"
    return Finding("error", subject, f"the link's MTU is too small: {sums}", mend)


def _master(name: str) -> Finding:
    subject, master = f"{name}: master", masters.master_of(name)
    if master is None:
        return Finding("ok", subject, "no bridge or bond has it")
    return Finding("error", subject, masters.sentence(name, master), masters.mend(name))


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
