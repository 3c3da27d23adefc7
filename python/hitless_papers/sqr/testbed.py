"""The testbed of figure 2: ten switches of a fat tree, four hosts, and the link sw6 - sw10 that fails.

Where a number comes from:

- 10 Gbps, kernel 4.13 with CUBIC and SACK, RTOmin 4 ms, SYN timeout 1 s: section II. Initial window 10: the paper's
  reference [32]. Detection 30 us, reconfiguration 730 us, a failure every 20 ms: sections II and IV-A.
- Clock ticks of 4 ms: "the smallest possible value" of RTOmin is one tick of the kernel.
- Kernel, 22 us a pass: the round-trip time of about 100 us has four passes and about 12 us of network. The random part
  (lognormal, median 1 us, 99.9 % below 20 us) is an assumption; the paper gives none.
- No RACK and no tail loss probes: kernel 4.13 sends no probe within 10 ms, which is no earlier than its timeout here,
  and the paper saw no fast retransmission. `RACK` has both, and figure 3 shows what they change.
- Every segment is acknowledged at once: Linux does so when the program has read what was pushed. `DELAYED_ACKS` puts
  every other acknowledgement off, for 40 ms at most; figure 3 shows what that changes.
- 50 ns of propagation: fibre of some metres. Switches: the preset "tofino-like".
- A failure comes up to 12 ms after its 20 ms are over, so that it keeps step neither with the flows nor with the SYN
  timeout: a second is 50 times 20 ms, and a SYN that is sent again would meet the next failure too.
- Local rerouting has no repair in the paper that ends a failure; here the link stays dead for 5 ms.
- Two further hosts, h5 and h6, which no exhibit of the paper uses: with them the sums of the hosts' numbers are even
  where the routing "by-sum" is to take the paper's path h2 - sw8 - sw4 - sw2 - sw6 - sw10 - h4, both ways, as for h1.
- Protected is what has the service port 5001: the flows from h2 to h4, not the background.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hitless.checking import Fields
from hitless_papers import scenarios

FAILING = "sw6<->sw10"
PORT = 5001
DETECTION_US = 30.0
SAME_PORT_US = 730.0
ROUTE_FAILURE_US = DETECTION_US + SAME_PORT_US

FRAME_BYTES = 1_518
WIRE_BYTES = 1_538
"""A full frame with preamble and gap, the paper's unit of link speed."""

TCP: Mapping[str, Any] = {
    "kind": "tcp",
    "congestion": "cubic",
    "handshake": True,
    "initial_window": 10,
    "rto_min": "4 ms",
    "rto_formula": "linux",
    "syn_timeout": "1 s",
    "rack_tlp": False,
}
HOST = scenarios.linux(22)
"""Xeon servers with kernel 4.13."""
HOSTS_NOTE = "hosts: RTO_min 4 ms in ticks of 4 ms, no RACK and no probes; 22 us a kernel pass and its jitter assumed"
"""For the note of every row that hangs on when hosts send."""
RACK: Mapping[str, Any] = {**TCP, "rack_tlp": True}
DELAYED_ACKS: Mapping[str, Any] = {**TCP, "delayed_ack_segments": 2, "delayed_ack_timeout": "40 ms", "quick_acks": 16}

SAME_PORT: Mapping[str, Any] = {"kind": "same-port", "reconfiguration": f"{SAME_PORT_US} us"}
LOCAL_REROUTE: Mapping[str, Any] = {
    "kind": "local-reroute",
    "reconfiguration": "0 s",
    "backup": "probed",
    "probe_period": "100 us",
}
SCHEMES: Mapping[str, tuple[Mapping[str, Any], bool]] = {
    "SB'": (SAME_PORT, False),
    "LRR": (LOCAL_REROUTE, False),
    "SB'+SQR": (SAME_PORT, True),
    "LRR+SQR": (LOCAL_REROUTE, True),
}
"""Recovery, and whether SQR is on, by the paper's names."""

_OUTAGE = "5 ms"
_HOSTS = ("h1", "h3", "h2", "h5", "h4", "h6")
_LINKS = (
    "h1 sw7, h2 sw8, h3 sw9, h5 sw9, h4 sw10, h6 sw10, sw7 sw4, sw7 sw3, sw8 sw4, sw8 sw3, "
    "sw9 sw6, sw9 sw5, sw10 sw6, sw10 sw5, sw4 sw2, sw3 sw1, sw6 sw2, sw5 sw1"
)
"""In the order that gives each switch's first port to the paper's path."""


def topology(rate_gbps: int = 10) -> Mapping[str, Any]:
    """Build figure 2."""
    links = [(one, other, rate_gbps) for one, other in (pair.split() for pair in _LINKS.split(","))]
    return scenarios.graph(_HOSTS, [f"sw{number}" for number in range(1, 11)], links)


def scenario(
    name: str,
    flows: Sequence[Mapping[str, Any]],
    *,
    transports: Mapping[str, Mapping[str, Any]] | None = None,
    duration: str | None = None,
    failures: Sequence[Mapping[str, Any]] = (),
    recovery: Mapping[str, Any] | None = None,
    sqr: Mapping[str, Any] | None = None,
    measure: Mapping[str, Any] | None = None,
    rate_gbps: int = 10,
    switch: Mapping[str, Any] | None = None,
) -> Fields:
    """The testbed with these flows, failures and repair; ``duration`` None: until all flows are done."""
    return scenarios.scenario(
        name,
        topology(rate_gbps),
        flows,
        {"tcp": TCP} if transports is None else transports,
        duration=duration,
        routing={"choice": "by-sum"},
        switch={"preset": "tofino-like", **(switch or {})},
        host=HOST,
        measure=measure,
        failure=failures,
        recovery=recovery,
        mechanism=[] if sqr is None else [{"kind": "sqr", "links": [FAILING], "ports": [PORT], **sqr}],
    )


def recovery(scheme: Mapping[str, Any], detection: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """Repair by ``scheme``, detected as by F10 unless said otherwise."""
    return {"detection": detection or {"kind": "fixed", "delay": f"{DETECTION_US} us"}, "scheme": scheme}


def failures(scheme: Mapping[str, Any], *, every_ms: float = 20) -> Mapping[str, Any]:
    """A failure of sw6 - sw10 every 20 ms, to the end of the run."""
    made = {"link": FAILING, "first": "20 ms", "every": milliseconds(every_ms), "jitter": "12 ms"}
    return {**made, "outage": _OUTAGE} if scheme["kind"] == "local-reroute" else made


def one_long_flow(stop: str) -> Mapping[str, Any]:
    """The iperf of figures 7 and 9: h2 sends to h4 as much as it can."""
    return {"name": "iperf", "transport": "tcp", "kind": "long", "sources": ["h2"], "destinations": ["h4"],
            "port": PORT, "stop": stop}  # fmt: skip


def milliseconds(value_ms: float) -> str:
    """A time as scenario files have it, to the nanosecond."""
    return f"{round(value_ms * 1e6)} ns"


def microseconds(value_us: float) -> str:
    """A time as scenario files have it, to the nanosecond."""
    return f"{round(value_us * 1e3)} ns"
