"""Testbed of figure 6: five switches in a leaf-spine network and seven hosts; a burst meets a background flow.

Sources of the numbers:

- Section IV: 40 Gb/s between switches, 10 Gb/s to hosts, one TCP flow as background (10 Gb/s Ethernet carries
  9.42 Gb/s of TCP payload), a burst of 5 MB, 20 events, a queue of 24,000 segments and an alarm at 20,000.
- A segment has 80 B, the cell size of a Tofino's queues. The paper does not give the unit. So the queue is 1.92 MB, or
  1.54 ms at 10 Gb/s.
- Topology: two spines S1-1 and S1-2, three leaves S2-1 to S2-3; VM1 to VM3 on S2-1, VM4 to VM6 on S2-2, VM7 on S2-3.
  The text says that VM1 and VM4 send to VM7 and that the queue of S2-3 overflows; the rest of the figure is an
  assumption.
- Hosts: CUBIC, SACK, RACK and a minimum retransmission timeout of 200 ms, Linux's defaults. The paper names neither
  kernel nor congestion control. HyStart, also a default of Linux, is off: see `tests/validation/rimm_completion.py`.
- The stack delay of 43 us per pass (four passes per round trip, so 0.17 ms) is calibrated by
  `tests/validation/rimm_hosts.py` on the 31 packets that basic forwarding loses per event on average. So this number
  and the resulting retransmissions of basic forwarding are not evidence. `rimm/beyond` has other hosts and bursts. The
  random part (lognormal, median 1 us, 99.9 % below 20 us) is an assumption.
- The background has left slow start before the burst, like a flow that has run for a second: some of its frames are
  corrupted on VM1's link at 5 ms. No count includes these losses.
- Propagation takes 50 ns: a few metres of fibre. Switches have the preset "tofino-like".
- RIMM has its default settings.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hitless.checking import Fields
from hitless_papers import Unjudged, scenarios

SEGMENT_BYTES = 80
QUEUE_SEGMENTS = 24_000
ALARM_SEGMENTS = 20_000
_QUEUE = {"kind": "static", "per_port": f"{QUEUE_SEGMENTS * SEGMENT_BYTES} B"}
"""Queue of section IV, at each port."""

STACK_US = 43.0
"""Delay of a host's kernel in one direction; see above."""

CALIBRATED = "the hosts' 43 us per pass are calibrated on this number"
"""Reason why basic forwarding's losses and retransmissions are not judged."""
NOTHING_DETOURED = Unjudged("no packet was detoured, so the run tests nothing")
HOSTS_NOTE = (
    "hosts: 43 us per pass, calibrated on basic forwarding's 31 losses; CUBIC, SACK, RACK, RTO_min 200 ms, assumed"
)

HOT_PORT = "S2-3->VM7"
"""Port whose queue the burst fills."""
NEIGHBOUR_PORTS = ("S1-1->S2-3", "S1-2->S2-3")
"""Ports where detoured packets of S2-3 wait."""

BURST_BYTES = 5_000_000
BURST_MS = 30
"""Start of the burst."""
SETTLED_MS = 25
"""Time when the background has recovered from its start."""
BACKGROUND_GBPS = 9.42

SPINES = ("S1-1", "S1-2")
LEAVES = ("S2-1", "S2-2", "S2-3")
HOSTS = {"VM1": "S2-1", "VM2": "S2-1", "VM3": "S2-1", "VM4": "S2-2", "VM5": "S2-2", "VM6": "S2-2", "VM7": "S2-3"}

TCP: Mapping[str, Any] = {"kind": "tcp", "congestion": "cubic", "handshake": True}
DCTCP: Mapping[str, Any] = {"kind": "tcp", "congestion": "dctcp", "handshake": True}

NO_UNDO: Mapping[str, Any] = {**TCP, "rack_tlp": False, "eifel_undo": False}
"""A sender that infers a loss from three duplicate acknowledgements, and never detects a wrong guess."""

BASIC: Mapping[str, Any] = {}
RIMM: Mapping[str, Any] = {"mechanism": [{"kind": "rimm"}]}
UNORDERED: Mapping[str, Any] = {"mechanism": [{"kind": "rimm", "release": "unordered", "congestion_after": "1 s"}]}
"""Detours without sequence numbers, and without RIMM's rule that a burst of 1 ms is congestion."""
EXACT: Mapping[str, Any] = {"mechanism": [{"kind": "rimm", "release": "exact"}]}
DIBS: Mapping[str, Any] = {
    "mechanism": [{"kind": "dibs"}],
    "switch": {"depth_visible": "ingress-and-egress"},
    "host": {"time_to_live": 255},
}
"""Only the time to live bounds DIBS's detours; 255 as in its authors' simulations."""
ECN: Mapping[str, Any] = {"transport": DCTCP, "switch": {"ecn": {"threshold": "65 packets"}}}
"""Threshold of the DCTCP paper at 10 Gb/s: 65 packets."""

SCHEMES: Mapping[str, Mapping[str, Any]] = {
    "basic forwarding": BASIC,
    "detour-based forwarding": UNORDERED,
    "RIMM": RIMM,
}
"""Schemes of table 1, by the paper's names."""


def topology(hosts: Mapping[str, str] = HOSTS) -> Mapping[str, Any]:
    """Build the topology of figure 6; ``hosts`` maps each host to its leaf."""
    core_links = [(leaf, spine, 40) for leaf in LEAVES for spine in SPINES]
    return scenarios.graph(hosts, [*SPINES, *LEAVES], [*((*pair, 10) for pair in hosts.items()), *core_links])


def background(length_ms: float, name: str = "background") -> Mapping[str, Any]:
    """Build one flow with the bytes of 9.42 Gb/s over ``length_ms``."""
    return one_flow(name, "VM1", "VM7", round(BACKGROUND_GBPS * 1e6 / 8 * length_ms), 0)


def burst(size_bytes: int = BURST_BYTES, source: str = "VM4", destination: str = "VM7") -> Mapping[str, Any]:
    return one_flow("burst", source, destination, size_bytes, BURST_MS)


def one_flow(name: str, source: str, destination: str, size_bytes: int, start_ms: float) -> Mapping[str, Any]:
    return {
        "name": name,
        "transport": "hosts",
        "kind": "schedule",
        "sizes": {"kind": "fixed", "bytes": f"{size_bytes} B"},
        "sources": [source],
        "destinations": [destination],
        "start": f"{start_ms} ms",
        "period": "1 s",
        "count": 1,
    }


def scenario(
    name: str,
    flows: Sequence[Mapping[str, Any]],
    scheme: Mapping[str, Any] = BASIC,
    *,
    duration: str | None = None,
    measure: Mapping[str, Any] | None = None,
    stack_us: float = STACK_US,
    transports: Mapping[str, Mapping[str, Any]] | None = None,
    hosts: Mapping[str, str] = HOSTS,
    settles: bool = True,
) -> Fields:
    """Build the testbed with these flows under ``scheme``. Without ``duration`` it runs until all flows are done.

    ``settles``: some frames of VM1 are corrupted at 5 ms, which ends the slow start of its flows.
    """
    return scenarios.scenario(
        name,
        topology(hosts),
        flows,
        {"hosts": scheme.get("transport", TCP), **(transports or {})},
        duration=duration,
        routing={"choice": "by-sum"},
        switch={"preset": "tofino-like", "buffer": _QUEUE, **scheme.get("switch", {})},
        host={**scenarios.linux(stack_us), **scheme.get("host", {})},
        measure=measure,
        link=[{"name": "VM1->S2-1", "changes": _SLOW_START_ENDS}] if settles else [],
        mechanism=scheme.get("mechanism"),
    )


_SLOW_START_ENDS = [
    {"at": "5 ms", "loss": {"kind": "bernoulli", "rate": 0.1}},
    {"at": "5.1 ms", "loss": {"kind": "none"}},
]
