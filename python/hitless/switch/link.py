"""`hitless link`: LinkGuardian between two machines over one real link, as a scenario of two switches.

The switch ``here`` runs in this process, ``there`` in the same program on the other machine, and each of them protects
the frames that it sends. A switch in the papers answers within microseconds, but a process must be woken first, so
times and buffers that depend on the response time differ.
"""

import math
import secrets
from dataclasses import dataclass, field
from typing import Any, Literal

import tomli_w

from hitless.live import LiveScenario, Status, check_live, link_outer_mtu, ports

ANSWER_US = 5_000.0
"""Maximum response time of the two processes, in addition to the link's delay.

Chosen: on a busy machine with two processors, 99.9 % of wake-ups come within 1 ms, and an answer needs two.
"""
REPORTS_IN_TIME = 5
"""Number of reports of a loss before giving up.

The probability of losing all of them is the loss rate to the fifth power: 1e-15 at 1e-3.
"""
FRAME_BYTES = 9_216
"""Maximum frame size for the buffers."""
RING_FRAMES = 4_096
"""Capacity for 50 ms of full frames at 1 Gb/s: the maximum time that a program keeps the switch from its processor."""
RECIRCULATION_MIN_BPS = 100_000_000_000
"""LinkGuardian, appendix B.1."""
BUFFERS_MIN_BYTES = 200_000
"""LinkGuardian, section 4."""


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """User's settings of a protected link."""

    inside: str
    outside: str
    rate_bps: int
    delay_us: float
    """One-way delay of the real link."""
    loss_rate: float
    """Expected loss rate."""
    target_loss_rate: float
    mode: Literal["blocking", "non-blocking"]
    is_active: bool = True
    vlan_tags: int = 0
    """Maximum number of VLAN tags on a frame."""
    processes_us: float = ANSWER_US
    """Maximum time for the two processes to answer each other."""
    first_number: int = field(default_factory=lambda: secrets.randbelow(65_536))
    """Number of the first packet; it tells a restarted process from its predecessor."""

    @property
    def interfaces(self) -> dict[str, str]:
        """Node -> interface."""
        return {"inside": self.inside, "there": self.outside}

    @property
    def answer_us(self) -> float:
        """Maximum time from a lost frame to its repair."""
        return 2 * self.delay_us + self.processes_us

    @property
    def buffer_bytes(self) -> int:
        """Bytes that can arrive while an answer is in flight."""
        return max(BUFFERS_MIN_BYTES, round(self.rate_bps * self.answer_us / 8e6) + 2 * FRAME_BYTES)

    @property
    def frames(self) -> int:
        """Number of frames in both buffers, in both directions, for small frames."""
        return max(8_192, 4 * self.buffer_bytes // 512)


def scenario(plan: LinkPlan) -> LiveScenario:
    """Return the two switches. Raises `BadInput` for invalid values."""
    rate = f"{plan.rate_bps} bps"
    wire = {"rate": rate, "delay": "0 s"}
    document = {
        "name": "link",
        "description": f"{plan.inside} - here - ({plan.outside}) - there - beyond",
        "topology": {
            "kind": "chain",
            "hosts_left": ["inside"],
            "switches": ["here", "there"],
            "hosts_right": ["beyond"],
            "host_link": wire,
            "switch_link": wire,
        },
        "switch": {
            "buffer": {"kind": "shared", "total": f"{8 * plan.buffer_bytes} B", "alpha": 1.0},
            # This is memory, not a port: it must keep up with both directions.
            "recirculation_rate": f"{max(RECIRCULATION_MIN_BPS, 2 * plan.rate_bps)} bps",
        },
        "mechanism": [_guardian("here->there", plan), _guardian("there->here", plan)],
    }
    return check_live(tomli_w.dumps(document), "the link's own scenario")


def _guardian(link: str, plan: LinkPlan) -> dict[str, Any]:
    return {
        "kind": "linkguardian",
        "link": link,
        "mode": plan.mode,
        "actual_loss_rate": plan.loss_rate,
        "target_loss_rate": plan.target_loss_rate,
        "handshake": True,
        "first_number": plan.first_number,
        "buffering": "paused-queue",
        "ack_no_timeout": f"{plan.answer_us:.3f} us",
        "timer_period": f"{plan.answer_us / 100:.3f} us",
        # A link that loses frames in one direction usually loses them in the other, including reports of losses.
        "notification_period": f"{plan.answer_us / REPORTS_IN_TIME:.3f} us",
        "sender_buffer": f"{2 * plan.buffer_bytes} B",
        # Frames in flight when the pause is sent must still fit.
        "reordering_buffer": f"{2 * plan.buffer_bytes} B",
        "pause_threshold": f"{plan.buffer_bytes} B",
        "resume_threshold": f"{plan.buffer_bytes // 2} B",
    } | ({} if plan.is_active else {"activation": [{"at": "0 s", "active": False}]})


def with_settings(status: Status, plan: LinkPlan) -> Status:
    """Return the status with warnings that name the settings of `hitless link`, instead of the scenario's."""
    test = status.values.get("self_test") or {"warnings": []}
    foreign = [warning for warning in test["warnings"] if "ack_no_timeout" in warning]
    if not foreign:
        return status
    late_us = test["wake_up"]["worst_ns"] // 1_000
    enough_ms = math.ceil((2 * late_us - 2 * plan.delay_us) / 1e3)
    named = (
        f"this machine wakes a process up to {late_us / 1e3:.1f} ms late, and both ends have "
        f'{plan.processes_us / 1e3:g} ms to answer: --answer "{enough_ms} ms" at both ends'
    )
    warnings = [warning for warning in status.warnings if warning not in foreign]
    return Status({**status.values, "warnings": [*warnings, named]})


@dataclass(frozen=True, slots=True)
class MtuPlan:
    """The calculation of MTUs and the result."""

    inside_bytes: int
    outside_bytes: int
    needed_bytes: int
    """Required MTU of the outer interface for the inner one's frames."""

    @property
    def fits(self) -> bool:
        return self.outside_bytes >= self.needed_bytes

    def __str__(self) -> str:
        added = self.needed_bytes - self.inside_bytes
        return (
            f"frames of {self.inside_bytes} bytes inside take {self.needed_bytes} bytes on the link "
            f"({self.inside_bytes} + {added}: the frame's own header and LinkGuardian's), "
            f"{'and' if self.fits else 'but'} its MTU is {self.outside_bytes}"
        )


def mtu_plan(plan: LinkPlan) -> MtuPlan:
    """Calculate with the present MTUs of both interfaces. Raises `HitlessError` if one is gone."""
    inside, outside = (ports.opened(name).mtu_bytes for name in (plan.inside, plan.outside))
    return MtuPlan(inside, outside, link_outer_mtu(inside, plan.vlan_tags))
