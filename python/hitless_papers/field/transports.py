"""The transports of `hitless_papers.field.one_bad_link`, with the switches and hosts that they are made for.

- NSCC, RCCC and MRC choose paths themselves. Switches hash the entropy value, mark at dequeue from 20 to 80 % of the
  buffer, and trim (``kind = "uet"``; docs/evidence/uet.md has the sources). MRC runs with NSCC.
- For go-back-N, IRN and TCP the switches spray: each packet takes the shorter of two random queues. Hosts restore the
  order, because these transports take reordering for loss. RoCE runs without congestion control and without PFC;
  instead its switches have buffers of 1 MB, and a healthy fabric never fills them. TCP is DCTCP, with marks at the
  threshold for one path.
- Assumptions: the reorder buffer waits for a packet as long as it can wait in a full buffer, 80 us. The timeout of RoCE
  and the minimum timeout of TCP are 200 us: an idle round trip, a full buffer in each direction and the host's wait.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hitless_papers.field.fabric import BASE_RTT_US, BUFFER_BYTES, FRAME_BYTES, HEADER_BYTES, MTU_BYTES, RATE_GBPS

DEEP_BYTES = 1_000_000
_DRAIN_US = DEEP_BYTES * 8 / RATE_GBPS / 1e3
_TIMEOUT_US = 200
_DCTCP_PACKETS = 43
"""Marking threshold: a bandwidth-delay product of the longest path."""


@dataclass(frozen=True, slots=True)
class Transport:
    """One series of the tables."""

    name: str
    settings: Mapping[str, Any]
    marks: Mapping[str, Any] | None = None

    @property
    def chooses_paths(self) -> bool:
        """Do connections choose their paths, instead of switches?"""
        return bool(self.settings["kind"] == "uet")

    def tables(self) -> dict[str, Any]:
        """Return the tables of switches, hosts and routing."""
        switch: dict[str, Any] = {"preset": "ideal", "recirculation_ports": 2}
        if self.marks is not None:
            switch["ecn"] = self.marks
        if self.chooses_paths:
            return {"switch": {**switch, "buffer": {"kind": "static", "per_port": f"{BUFFER_BYTES} B"}}}
        buffer = {"kind": "static", "per_port": f"{DEEP_BYTES} B"}
        return {
            "switch": {**switch, "buffer": buffer, "depth_visible": "ingress-and-egress"},
            "routing": {"choice": "two-choices"},
            "host": {"reorder_buffer": {"timeout": f"{_DRAIN_US:g} us"}, "priority_tagger": {"by": "attained-service"}},
        }


def trimming(ports: list[str]) -> Mapping[str, Any]:
    """Return packet trimming at these switches; an empty list means all."""
    entry = {"kind": "trimming", "trimmed_frame": f"{HEADER_BYTES} B", "queue": f"{2 * BUFFER_BYTES} B"}
    return {**entry, "ports": ports} if ports else entry


_LINEAR = {
    "threshold": f"{round(0.2 * BUFFER_BYTES / FRAME_BYTES) * FRAME_BYTES} B",
    "maximum": f"{round(0.8 * BUFFER_BYTES / FRAME_BYTES) * FRAME_BYTES} B",
    "probability": 1.0,
    "at": "dequeue",
}
_ROCE = {"kind": "roce", "mtu": f"{MTU_BYTES} B", "header_bytes": f"{HEADER_BYTES} B", "timeout": f"{_TIMEOUT_US} us"}
_SPRAYED = {"kind": "uet", "base_rtt": f"{BASE_RTT_US:.5f} us"}
"""Given, because the default follows from the slowest path, and hosts do not know of a slow link."""
_DCTCP = {"kind": "tcp", "congestion": "dctcp", "mss": f"{MTU_BYTES} B", "rto_min": f"{_TIMEOUT_US} us"}

TRANSPORTS = (
    Transport("go-back-N", _ROCE),
    Transport("IRN", {**_ROCE, "recovery": "selective-repeat"}),
    Transport("TCP", _DCTCP, {"threshold": f"{_DCTCP_PACKETS * FRAME_BYTES} B"}),
    Transport("NSCC", {**_SPRAYED, "congestion": "nscc"}, _LINEAR),
    Transport("RCCC", {**_SPRAYED, "congestion": "rccc"}, _LINEAR),
    Transport("MRC", {**_SPRAYED, "congestion": "nscc", "path_choice": "mrc"}, _LINEAR),
)
