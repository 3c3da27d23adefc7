"""The testbed of figure 7: h4 - sw2 - sw6 - h8, of which the link sw2->sw6 corrupts.

Where a number comes from:

- 50 ns of propagation: fibre of some metres. Switch latencies: the simulator's "tofino-like" preset, calibrated on
  t_flight_resume (appendix B.1), which is therefore no evidence here.
- Kernel stack, 6 us a pass with a lognormal part: the paper's round-trip time of about 30 us (section 4) has four
  passes. Card stack (RDMA), 1 us a pass with a lognormal part: an assumption, the paper gives none.
- 1 ms timer ticks: the paper's "lowlatency" kernel; RTOmin 1 ms and the NIC's timeout of about 1 ms: section 4.
- Losses: 1e-5, 1e-4, 1e-3 nominally. The published table of the authors' measurements at 100G has 1.43e-5, 9.16e-5
  and 1.16e-3 for them; `MEASURED_LOSS` is the last, for exhibits where "about 1e-3" decides a percentile.
"""

from collections.abc import Mapping
from typing import Any

from hitless.simulation import Scenario

LINK = "sw2->sw6"
LOSSES = (1e-5, 1e-4, 1e-3)
MEASURED_LOSS = 1.16e-3
MODES = {"LG": "blocking", "LG_NB": "non-blocking"}

FRAME_BYTES = 1_518
WIRE_BYTES = 1_538
"""A full frame with preamble and gap: what the paper counts link speed in."""


def scenario(
    rate_gbps: int,
    *,
    name: str,
    transport: Mapping[str, Any],
    flows: Mapping[str, Any],
    duration_s: float | None = None,
    loss: float = 0.0,
    repair_loss: float | None = None,
    scheme: str = "none",
    copies_given: int | None = None,
    kernel_pass_us: int = 6,
    measure: Mapping[str, Any] | None = None,
) -> Scenario:
    """The testbed at ``rate_gbps`` with one kind of flow; ``scheme`` is "none", "LG" or "LG_NB"."""
    made: dict[str, Any] = {
        "name": name,
        "topology": _topology(rate_gbps),
        "switch": {"preset": "tofino-like", "ecn": {"threshold": "100 KB"}},
        "host": _host(kernel_pass_us),
        "transport": [{"name": "transport", **transport}],
        "flows": [{"name": name, "transport": "transport", "sources": ["h4"], "destinations": ["h8"], **flows}],
        "link": [{"name": LINK, "loss": loss_model(loss, repair_loss)}],
        "measure": measure or {},
    }
    if duration_s is None:
        made["until"] = "all-flows-done"
    else:
        made["duration"] = seconds(duration_s)
    if scheme in MODES:
        given = {} if copies_given is None else {"copies": copies_given}
        made["mechanism"] = [{"kind": "linkguardian", "link": LINK, "mode": MODES[scheme], **given}]
    return made


def loss_model(loss: float, repair_loss: float | None) -> Mapping[str, Any]:
    """Independent losses; ``repair_loss`` is the probability for retransmitted copies where it differs."""
    if loss == 0.0:
        return {"kind": "none"}
    model = {"kind": "bernoulli", "rate": loss}
    return model if repair_loss is None else {**model, "repair_rate": repair_loss}


def packets_duration_s(packets: int, rate_gbps: int) -> float:
    """Time that so many full frames take at line rate."""
    return packets * WIRE_BYTES * 8 / (rate_gbps * 1e9)


def seconds(duration_s: float) -> str:
    """A time as scenario files have it, to the nanosecond."""
    return f"{round(duration_s * 1e9)} ns"


def _host(kernel_pass_us: int) -> Mapping[str, Any]:
    kernel, card = f"{kernel_pass_us} us", "1 us"
    return {
        "kernel": {
            "send": kernel,
            "receive": kernel,
            "jitter": {"kind": "lognormal", "median": "500 ns", "p999": "5 us"},
        },
        "network_card": {
            "send": card,
            "receive": card,
            "jitter": {"kind": "lognormal", "median": "300 ns", "p999": "4 us"},
        },
        "timer_tick": "1 ms",
    }


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
