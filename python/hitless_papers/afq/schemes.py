"""The schemes that the paper compares: a transport at the hosts and a discipline at the ports.

Sources of the values:

- TCP (sections 6.2.1 and 6.2.2): Reno with fast retransmit and recovery, without SACK; min-RTO 200 us for all. The
  timeout before the first RTT sample is 1 ms, an assumption: longer than a round trip through full queues.
- A flow begins with a window of one segment. The text does not say so, but only this window agrees with it: DCTCP loses
  nothing in an incast "until the number of senders exceeds the link buffer capacity" (section 6.2.4). Where it matters,
  another series has RFC 6928's ten segments.
- Packet pair recovers from losses like TCP. A receiver that waits for the second packet of a pair acknowledges the
  first after the min-RTO, 200 us: after a longer time, every lost second packet would cause a timeout.
- DCTCP (section 6.2.2): marking from 20 packets at 10 Gbps and 80 at 40 Gbps, and in proportion at other rates.
- Sections 5 and 6.2.2: SFQ with 32 queues by DRR; AFQ with 32 queues, a sketch of 2 x 16,384, one MSS per round (a full
  frame here, because a switch counts frames), and marking from 8 rounds up.
- Ideal-FQ (section 6.2.2): bit-by-bit round robin with AFQ's packet pair. It marks like AFQ, so only the order of
  departures and the drops of a full buffer differ.
- FQ-CoDel and DRR with a queue per flow are not in the paper.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hitless.checking import Fields
from hitless_papers.afq.sizes import FRAME_BYTES

_ACK_DELAY_US = 200
INITIAL_WINDOW = 1
FIRST_TIMEOUT_MS = 1

TCP: Mapping[str, Any] = {
    "kind": "tcp",
    "congestion": "newreno",
    "sack": False,
    "rack_tlp": False,
    "eifel_undo": False,
    "rto_formula": "rfc6298",
    "rto_min": "200 us",
    "rto_initial": f"{FIRST_TIMEOUT_MS} ms",
    "initial_window": INITIAL_WINDOW,
}
DCTCP: Mapping[str, Any] = {**TCP, "congestion": "dctcp"}
PACKET_PAIR: Mapping[str, Any] = {
    "kind": "packet-pair",
    "ack_delay": f"{_ACK_DELAY_US} us",
    "sack": False,
    "rack_tlp": False,
    "rto_formula": "rfc6298",
    "rto_min": "200 us",
    "rto_initial": f"{FIRST_TIMEOUT_MS} ms",
}

AFQ: Mapping[str, Any] = {
    "queues": 32,
    "bytes_per_round": f"{FRAME_BYTES} B",
    "sketch": {"rows": 2, "columns": 16_384},
    "ecn_rounds": 8,
}


@dataclass(frozen=True, eq=False)
class Scheme:
    """One series of the figures. Two schemes are the same only if they are one object."""

    name: str
    transport: Mapping[str, Any]
    flow_queueing: Mapping[str, Any] | None = None
    """A queue for each flow, or for each of some flows; None: one queue, or what AFQ makes of them."""
    afq: Mapping[str, Any] | None = None
    marks: bool = False
    """Do drop-tail queues mark, with DCTCP's thresholds?"""

    def with_afq(self, **changes: Any) -> "Scheme":
        return replace(self, afq={**(self.afq or AFQ), **changes})

    def switch(self, buffers: "Buffers") -> Mapping[str, Any]:
        """Build an output-queued switch with these buffers."""
        made: dict[str, Any] = {
            "preset": "ideal",
            "phy_latency": "0 s",
            "buffer": {"kind": "static", "per_port": buffers.per_port},
        }
        ports = [dict(entry) for entry in buffers.others]
        if self.marks:
            rates = sorted(buffers.marking)
            ports += [{"rate": f"{rate} Gbps", "ecn": {"threshold": buffers.marking[rate]}} for rate in rates]
        if ports:
            made["ports"] = ports
        if self.flow_queueing is not None:
            made["flow_queueing"] = dict(self.flow_queueing)
        return made

    def scenario(self, buffers: "Buffers", **others: Any) -> Fields:
        """Build hosts and switches, AFQ on every port or none, and the ``others`` of a scenario's tables."""
        made = {**others, "switch": self.switch(buffers), "transport": [{"name": "transport", **self.transport}]}
        return made if self.afq is None else {**made, "mechanism": [{"kind": "afq", **self.afq}]}


@dataclass(frozen=True)
class Buffers:
    """What may wait at ports, and from where DCTCP's ports mark."""

    per_port: str
    marking: Mapping[int, str] = field(default_factory=dict)
    """By the rate of the port in Gbps."""
    others: tuple[Mapping[str, Any], ...] = ()
    """Ports with another buffer, as ``[[switch.ports]]``."""


DROP_TAIL = Scheme("TCP", TCP)
DCTCP_MARKING = Scheme("DCTCP", DCTCP, marks=True)
DCTCP_WINDOW_10 = Scheme("DCTCP, window 10", {**DCTCP, "initial_window": 10}, marks=True)
SFQ = Scheme("SFQ", TCP, flow_queueing={"kind": "sfq", "queues": 32})
PAIR_AFQ = Scheme("AFQ", PACKET_PAIR, afq=AFQ)
IDEAL_FQ: Mapping[str, Any] = {
    "kind": "ideal-fq",
    "mark_rounds": AFQ["ecn_rounds"],
    "bytes_per_round": f"{FRAME_BYTES} B",
}
TCP_WINDOW_10 = Scheme("TCP, window 10", {**TCP, "initial_window": 10})
IDEAL = Scheme("Ideal-FQ", PACKET_PAIR, flow_queueing=IDEAL_FQ)

TCP_NOTE = f"initial window of {INITIAL_WINDOW} segment, assumed"
PAIR_NOTE = (
    f"a lone packet of a pair is acknowledged after {_ACK_DELAY_US} us, chosen after figure 11 was seen; "
    f"{FRAME_BYTES:,} B a round"
)

COMPARED = (DROP_TAIL, DCTCP_MARKING, SFQ, PAIR_AFQ, IDEAL)
"""Those of figures 8 and 9."""
