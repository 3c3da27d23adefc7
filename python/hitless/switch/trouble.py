"""Sentences about a link with ends that do not agree: the cause, the rule and the mend; and when to log them."""

from dataclasses import dataclass

from hitless.errors import HitlessError
from hitless.live import link_inner_mtu, ports
from hitless.switch.agreement import PATIENCE_S, PROBE_MIN_BYTES, Agreement, Passage, State
from hitless.switch.link import LinkPlan
from hitless.switch.masters import enslaved, mend, sentence

LIKELY = (
    "likely causes: hitless link does not run there, or in another version; the cable leads elsewhere; the interface "
    "there is in a bridge or bond (ip link set INTERFACE nomaster); a device between the boxes drops EtherType 0x88B6"
)
"""Causes of a silence that only a look at the other box can tell apart."""
_AFTER_S = (1.0, 10.0, 60.0, 600.0)
_EVERY_S = 3_600.0
"""Times from the begin of a state to its warnings, and the interval after these. Chosen."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A reason why the link is not protected."""

    text: str
    mend: str

    def __str__(self) -> str:
        return f"{self.text} -> {self.mend}" if self.mend else self.text


class Warnings:
    """Decides when a state is logged: the end of an agreement at once, any other after a second, then more rarely."""

    def __init__(self) -> None:
        self._state: State | None = None
        self._since_s = self._next_s = 0.0

    def is_due(self, state: State, now_s: float) -> bool:
        if state != self._state:
            was_agreed, self._state, self._since_s = self._state == "agreed", state, now_s
            self._next_s = now_s + _AFTER_S[was_agreed]
            return was_agreed
        if state == "agreed" or now_s < self._next_s:
            return False
        self._next_s = next((self._since_s + s for s in _AFTER_S if self._since_s + s > now_s), now_s + _EVERY_S)
        return True


def of_state(state: State, plan: LinkPlan, agreement: Agreement, now_s: float) -> Trouble | None:
    """Return why the ends do not forward; None if they do."""
    peer = agreement.peer
    match state:
        case "agreed":
            return None
        case "leaving":
            return None if agreement.is_leaving else Trouble("the other end leaves", "")
        case "too long" if peer is not None:
            return of_lengths(agreement.passage(peer, now_s), plan, agreement.mtu_bytes, peer.mtu_bytes)
        case "unheard":
            return Trouble("the other end is heard, and does not hear this end", likely(plan))
        case _:
            return Trouble(f"the other end is silent for more than {PATIENCE_S * 1e3:g} ms", likely(plan))


def of_lengths(passage: Passage, plan: LinkPlan, mtu_bytes: int, others_mtu_bytes: int) -> Trouble:
    """Return why frames of full length do not pass, given the MTUs of both ends."""
    is_ours = passage.there_bytes < passage.sent_bytes
    wanted, passing = (
        (passage.sent_bytes, passage.there_bytes) if is_ours else (passage.others_bytes, passage.here_bytes)
    )
    if mtu_bytes < wanted:
        text = f"{plan.outside} has MTU {mtu_bytes}, and protected frames take {wanted}"
        return Trouble(text, f"ip link set {plan.outside} mtu {wanted}")
    if others_mtu_bytes < wanted:
        text = f"the other end has MTU {others_mtu_bytes} on the link, and protected frames take {wanted}"
        return Trouble(text, f"there: ip link set INTERFACE mtu {wanted}, or --set-mtu")
    lower = link_inner_mtu(passing, plan.vlan_tags) if passing >= PROBE_MIN_BYTES else None
    known = f" (frames of {passing} do)" if lower else ""
    text = f"frames of {wanted} bytes do not pass the cable{known}: a device between the boxes has a smaller MTU"
    hosts = "and the same on every host behind it, at both ends"
    to = f" to {lower}: ip link set {plan.inside} mtu {lower}, {hosts}" if lower else f" of {plan.inside}, {hosts}"
    return Trouble(text, f"raise it to {wanted}, or lower the inside MTU{to}")


def likely(plan: LinkPlan) -> str:
    """Return the causes of a silence: the known one, or the likely ones in the other box."""
    if masters := enslaved([plan.outside]):
        return f"cause: {sentence(plan.outside, masters[plan.outside])}: {mend(plan.outside)}"
    try:
        carrier = ports.opened(plan.outside).carrier
    except HitlessError as gone:
        return f"cause: {gone.what}"
    match carrier:
        case "off":
            return f"cause: {plan.outside} is off: ip link set {plan.outside} up"
        case "lost":
            return f"cause: {plan.outside} has no carrier: check the cable, and the interface at its other end"
        case _:
            return LIKELY
