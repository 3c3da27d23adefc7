"""Testbed of figure 7: h4 - sw2 - sw6 - h8, with corruption on the link sw2->sw6.

Sources of the numbers:

- Propagation takes 50 ns: a few metres of fibre. Switch latencies come from the simulator's preset "tofino-like", which
  is calibrated on t_flight_resume (appendix B.1); so t_flight_resume is not evidence here.
- Hosts follow the authors' scripts (NUS-SNL/linkguardian, fct_expt_tcp): timestamps are off, receive offload is on, and
  each flow has a program that closes after writing. So the last segment carries a FIN, and its acknowledgement can be
  the FIN of the receiving program, which closes later (`CLOSE`).
- Kernel stack and closing time, `KERNEL` and `CLOSE`, are **calibrated only on the column "No Loss" of table 2**. A
  pass has a fixed and an exponential part, which add up to the RTT of about 30 us in section 4.
  `tests/validation/host_stack.py` fits the mean of the exponential part, and the median and 99.9th percentile of the
  closing time, to the column's five numbers; docs/evidence/validation.md shows the fit. All other columns, exhibits
  and rates use the same parameters.
- `REPAIR_LATENCY` is **calibrated only on the maximum retransmission delay at 25G of figure 19**. Where on the path of
  a retransmission it arises is not known (docs/evidence/linkguardian.md).
- The card's stack (RDMA), 1 us per pass with a lognormal part, is an assumption; the paper does not give it.
- Timer ticks of 1 ms: the paper's "lowlatency" kernel. RTOmin 1 ms and the NIC's timeout of about 1 ms: section 4.
- The nominal loss rates are 1e-5, 1e-4 and 1e-3. The authors' published measurements at 100G have 1.43e-5, 9.16e-5 and
  1.16e-3; `MEASURED_LOSS` is the last, for percentiles that depend on "about 1e-3".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hitless.checking import Fields
from hitless_papers import scenarios

LINK = "sw2->sw6"
LOSSES = (1e-5, 1e-4, 1e-3)
MEASURED_LOSS = 1.16e-3
MODES = {"LG": "blocking", "LG_NB": "non-blocking"}
SERIES: Mapping[str, tuple[str, float]] = {
    "no loss": ("none", 0.0),
    "loss": ("none", MEASURED_LOSS),
    **{scheme: (scheme, MEASURED_LOSS) for scheme in MODES},
}
"""Scheme and loss rate of each series in figures 10 to 12."""
REPAIR_LATENCY = "3 us"
"""Time from a request to the queue of retransmissions, without the pass through the pipeline."""

KERNEL: Mapping[str, int] = {"fixed_ns": 0, "send_ns": 11_000, "mean_ns": 1_000}
"""One pass through the kernel's stack: a fixed part and a random part, exponential with `mean_ns` or lognormal with
`median_ns` and `p999_ns`. `send_ns` replaces the fixed part in the sending direction."""

CLOSE: Mapping[str, int] = {"median_ns": 65_000, "p999_ns": 149_500}
"""Time from the last segment until the receiving program closes: lognormal."""

KERNEL_OF_ONE_MODE: Mapping[str, int] = {"fixed_ns": 0, "send_ns": 0, "mean_ns": 6_500}
CLOSE_OF_ONE_MODE: Mapping[str, int] = {"median_ns": 12_000, "p999_ns": 72_000}
"""Hosts without receive offload: the closing program always acknowledges the last segment. They fit the column
"No Loss" better, with a median of 99 us (`host_stack.py --one-mode`)."""

DCTCP: Mapping[str, Any] = {
    "kind": "tcp",
    "congestion": "dctcp",
    "rto_min": "1 ms",
    "rto_formula": "linux",
    "rto_initial": "1 ms",
    "known_rtt": "30 us",
    "burst_segments": 45,
    "eifel_undo": False,
    "dsack_undo": True,
}
"""The paper's TCP (section 4): SACK, RACK-TLP, ECN, and segmentation offload in bursts of up to 64 KB. Connections are
open when a flow begins and know the RTT from their handshake, so the first timeout follows from RTT and RTOmin and not
from the 1 s of RFC 6298. The authors' scripts disable timestamps, so only DSACK detects spurious retransmissions."""

WEB_SEARCH_BYTES = 24_387
"""Most frequent flow size of the web search workload (sections 4.3 to 4.5)."""

WEB_SEARCH_PACKETS = 17
"""Packets of such a flow (section 4.4)."""

SAMPLED = {"queue": [{"ports": ["sw2.recirculation0", "sw6.recirculation0"], "period": "1 us"}]}
"""Samples of the buffers at both ends."""
FRAME_BYTES = 1_518
WIRE_BYTES = 1_538
"""Bytes of a full frame with preamble and gap. The paper's link speeds include both."""


@dataclass(frozen=True)
class LinkCase:
    """One combination of a rate, a loss rate and a scheme."""

    rate_gbps: int
    loss: float
    scheme: str

    @property
    def x(self) -> str:
        return f"{self.rate_gbps}G {exponent(self.loss)}"

    def key(self, what: str) -> str:
        return f"{self.scheme} {self.x} {what}"


def scenario(
    rate_gbps: int,
    *,
    name: str,
    transport: Mapping[str, Any],
    flows: Mapping[str, Any],
    duration_s: float | None = None,
    loss: float | Mapping[str, Any] = 0.0,
    repair_loss: float | None = None,
    scheme: str = "none",
    settings: Mapping[str, Any] | None = None,
    kernel: Mapping[str, int] | None = KERNEL,
    gro: bool = True,
    measure: Mapping[str, Any] | None = None,
) -> Fields:
    """Build the testbed at ``rate_gbps`` with one kind of flow; ``scheme`` is "none", "LG" or "LG_NB".

    ``loss`` is the rate of independent losses, or a loss model of a scenario; ``settings`` are additional settings of
    LinkGuardian. ``kernel`` is one pass through the host's stack, None for a packet generator. Without ``gro`` hosts
    process each packet separately.
    """
    return scenarios.scenario(
        name,
        _topology(rate_gbps),
        [{"name": name, "transport": "transport", "sources": ["h4"], "destinations": ["h8"], **flows}],
        {"transport": transport},
        duration=None if duration_s is None else seconds(duration_s),
        switch={"preset": "tofino-like", "ecn": {"threshold": "100 KB"}},
        host=_host(kernel, gro=gro),
        link=[{"name": LINK, "loss": loss_model(loss, repair_loss)}],
        measure=measure,
        mechanism=[guardian(scheme, **(settings or {}))] if scheme in MODES else [],
    )


def line_rate(rate_gbps: int, packets: int, *, name: str, frame_bytes: int = FRAME_BYTES, **more: Any) -> Fields:
    """Build ``packets`` frames at line rate from a packet generator; ``more`` goes to `scenario`."""
    duration_s = packets_duration_s(packets, rate_gbps, frame_bytes)
    size = {} if frame_bytes == FRAME_BYTES else {"frame_bytes": f"{frame_bytes} B"}
    return scenario(
        rate_gbps,
        name=name,
        transport={"kind": "udp", "rate": f"{rate_gbps} Gbps", **size},
        flows={"kind": "constant-rate", "stop": seconds(duration_s)},
        duration_s=duration_s,
        kernel=None,
        **more,
    )


def guardian(scheme: str, **settings: Any) -> Mapping[str, Any]:
    """Build LinkGuardian on the testbed's link; ``scheme`` is "LG" or "LG_NB"."""
    made = {"kind": "linkguardian", "link": LINK, "mode": MODES[scheme], "repair_latency": REPAIR_LATENCY}
    return {**made, **settings}


def loss_model(loss: float | Mapping[str, Any], repair_loss: float | None) -> Mapping[str, Any]:
    """Build independent losses; ``repair_loss`` is the loss rate of retransmitted copies, by default the same."""
    if isinstance(loss, Mapping):
        return loss
    if loss == 0.0:
        return {"kind": "none"}
    model = {"kind": "bernoulli", "rate": loss}
    return model if repair_loss is None else {**model, "repair_rate": repair_loss}


def packets_duration_s(packets: int, rate_gbps: int, frame_bytes: int = FRAME_BYTES) -> float:
    """Return the time of this number of frames at line rate, with preamble and gap."""
    return packets * (frame_bytes + WIRE_BYTES - FRAME_BYTES) * 8 / (rate_gbps * 1e9)


def exponent(loss: float) -> str:
    return f"{loss:.0e}".replace("e-0", "e-") if loss else "0"


def seconds(duration_s: float) -> str:
    """Format a time for a scenario file, rounded to nanoseconds."""
    return f"{round(duration_s * 1e9)} ns"


def trials(payload_bytes: int, count: int) -> Mapping[str, Any]:
    """Build ``count`` flows of ``payload_bytes``, one after the other.

    Each flow has a separate, open connection with the initial window of ten segments of RFC 6928, which Linux has used
    since 3.0. The paper does not say how it opened connections.
    """
    return {
        "kind": "sequence",
        "sizes": {"kind": "fixed", "bytes": f"{payload_bytes} B"},
        "count": count,
        "gap": "10 us",
    }


def _host(kernel: Mapping[str, int] | None, *, gro: bool) -> Mapping[str, Any]:
    card = {"send": "1 us", "receive": "1 us", "jitter": {"kind": "lognormal", "median": "300 ns", "p999": "4 us"}}
    host: dict[str, Any] = {"network_card": card, "timer_tick": "1 ms"}
    if kernel is not None:
        receive = f"{kernel['fixed_ns']} ns"
        send = f"{kernel.get('send_ns', kernel['fixed_ns'])} ns"
        offload: Mapping[str, Any] = {"gro": {}} if gro else {}
        host["kernel"] = {"send": send, "receive": receive, "jitter": jitter(kernel), **offload}
    return host


def jitter(delay: Mapping[str, int]) -> Mapping[str, Any]:
    """Build the random part of a delay such as `KERNEL` for a scenario."""
    if "mean_ns" in delay:
        return {"kind": "exponential", "mean": f"{delay['mean_ns']} ns"}
    return {"kind": "lognormal", "median": f"{delay['median_ns']} ns", "p999": f"{delay['p999_ns']} ns"}


CLOSING: Mapping[str, Any] = {**DCTCP, "close": {"jitter": jitter(CLOSE)}}
"""`DCTCP` between programs that close after each flow."""
CLOSING_IN_ONE_MODE: Mapping[str, Any] = {**DCTCP, "close": {"jitter": jitter(CLOSE_OF_ONE_MODE)}}


def _topology(rate_gbps: int) -> Mapping[str, Any]:
    link = {"rate": f"{rate_gbps} Gbps", "delay": "50 ns"}
    return {
        "kind": "chain",
        "hosts_left": ["h4"],
        "switches": ["sw2", "sw6"],
        "hosts_right": ["h8"],
        "host_link": link,
        "switch_link": link,
    }
