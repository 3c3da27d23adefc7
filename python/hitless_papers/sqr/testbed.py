"""Testbed of figure 2: ten switches of a fat tree, four hosts, and the link sw6 - sw10, which fails.

Sources of the numbers:

- Section II: 10 Gb/s, kernel 4.13 with CUBIC and SACK, RTOmin 4 ms, SYN timeout 1 s. Reference [32] of the paper:
  initial window 10. Sections II and IV-A: detection 30 us, reconfiguration 730 us, a failure every 20 ms.
- Clock ticks take 4 ms: "the smallest possible value" of RTOmin is one tick of the kernel.
- A kernel pass takes 22 us: the RTT of about 100 us has four passes and about 12 us of network. The random part
  (lognormal, median 1 us, 99.9 % below 20 us) is an assumption; the paper does not give it.
- RACK and tail loss probes are off: kernel 4.13 waits at least 10 ms before a probe, longer than its timeout here, and
  the paper saw no fast retransmission. `RACK` turns both on, and figure 3 shows their effect.
- Every segment is acknowledged immediately, as Linux does when the program has read the pushed data. `DELAYED_ACKS`
  delays every second acknowledgement by up to 40 ms; figure 3 shows the effect.
- Propagation takes 50 ns: a few metres of fibre. Switches have the preset "tofino-like".
- Failures have a jitter of 12 ms after their 20 ms, so they do not synchronize with the flows or the SYN timeout: one
  second is 50 times 20 ms, so a retransmitted SYN would meet the next failure too.
- The paper has no repair after local rerouting; here the link stays down for 5 ms.
- No exhibit of the paper uses hosts h5 and h6. They make the sums of host numbers even, so that the routing "by-sum"
  takes the paper's path h2 - sw8 - sw4 - sw2 - sw6 - sw10 - h4 in both directions, also for h1.
- SQR protects service port 5001: the flows from h2 to h4, but not the background.
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
"""Bytes of a full frame with preamble and gap. The paper's link speeds include both."""

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
HOSTS_NOTE = "hosts: RTO_min 4 ms in ticks of 4 ms, no RACK or probes; kernel pass of 22 us and its jitter assumed"
"""Note of every row that depends on the timing of hosts."""
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
"""Recovery scheme and use of SQR, by the paper's names."""

_OUTAGE = "5 ms"
_HOSTS = ("h1", "h3", "h2", "h5", "h4", "h6")
_LINKS = (
    "h1 sw7, h2 sw8, h3 sw9, h5 sw9, h4 sw10, h6 sw10, sw7 sw4, sw7 sw3, sw8 sw4, sw8 sw3, "
    "sw9 sw6, sw9 sw5, sw10 sw6, sw10 sw5, sw4 sw2, sw3 sw1, sw6 sw2, sw5 sw1"
)
"""Links, ordered such that the first port of each switch is on the paper's path."""


def topology(rate_gbps: int = 10) -> Mapping[str, Any]:
    """Build the topology of figure 2."""
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
    """Build the testbed with these flows, failures and repair; without ``duration``, until all flows are done."""
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
    """Build the repair by ``scheme``; by default failures are detected as in F10."""
    return {"detection": detection or {"kind": "fixed", "delay": f"{DETECTION_US} us"}, "scheme": scheme}


def failures(scheme: Mapping[str, Any], *, every_ms: float = 20) -> Mapping[str, Any]:
    """Build failures of sw6 - sw10 every 20 ms until the end of the run."""
    made = {"link": FAILING, "first": "20 ms", "every": milliseconds(every_ms), "jitter": "12 ms"}
    return {**made, "outage": _OUTAGE} if scheme["kind"] == "local-reroute" else made


def one_long_flow(stop: str) -> Mapping[str, Any]:
    """Build the iperf flow of figures 7 and 9: h2 sends to h4 as fast as possible."""
    return {"name": "iperf", "transport": "tcp", "kind": "long", "sources": ["h2"], "destinations": ["h4"],
            "port": PORT, "stop": stop}  # fmt: skip


def milliseconds(value_ms: float) -> str:
    """Format a time for a scenario file, rounded to nanoseconds."""
    return f"{round(value_ms * 1e6)} ns"


def microseconds(value_us: float) -> str:
    """Format a time for a scenario file, rounded to nanoseconds."""
    return f"{round(value_us * 1e3)} ns"
