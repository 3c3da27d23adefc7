"""The testbed of figure 5a: two switches and four servers; three send to the fourth.

Sources of the values:

- Section 5.1: two switches, four servers at 40 Gbps, 80 KB per port, background of two servers towards one link, a
  third server with traffic of high priority, and 12 MB for comparison.
- The text of figure 5a is lost. Here both background servers share a switch; the third server and the busy one share
  the other. Then two senders share only the queue to the busy server, and its switch has one port to a switch: the
  programs have a single port to deflect to. The other switch sends deflected packets back.
- 100 Gbps between the switches: an assumption, the ports of a Tofino. At 40 Gbps that link would fill before the
  server's link.
- The authors' programs: ranks of 45 and 2 for background and high priority, the moving average over 50 packets and its
  tables, occupancy from recirculating control packets, one port to deflect to, each packet in the window.
- alpha is 1 or 0.1 in both forms of PD, as their names say. Section 5.1 does not give it. The program for
  Distribution-PD multiplies by 0.1 when it fills its tables and by 10 when it compares (in units of 8 bytes against
  80), so its alpha is about 1. We also run both with 0.1, the default of the simulations (section 5.2): at most a tenth
  of 80 KB is then reserved for packets of high priority, less than the bytes that arrive before ingress knows of a full
  queue.
- Hosts: a pass through the kernel takes 10 us plus a random part (lognormal, median 2 us, 99.9 % below 20 us), both
  assumptions. CUBIC, SACK, RACK, segmentation offload and a minimum timeout of 200 ms are Linux's defaults.
- 50 ns of propagation: cables of some metres. Switches: the preset "tofino-like".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hitless.checking import Fields
from hitless_papers import scenarios

LOW, HIGH = "background", "high priority"
"""The groups of flows."""
LOW_RANK, HIGH_RANK = 45, 2

SENDERS = ("server1", "server2")
"""Background servers."""
THIRD, BUSY = "server3", "server4"
FAR, NEAR = "switch1", "switch2"
BUSY_PORT = f"{NEAR}->{BUSY}"
LINK_GBPS = 40
QUEUE_BYTES = 80_000
LARGE_QUEUE_BYTES = 12_000_000

_OCCUPANCY = {"kind": "control-packets"}
_QUANTILE = {
    "kind": "preemptive-deflection",
    "relative_priority": {"kind": "quantile", "window": 20, "sample_every": 1},
    "alpha": 1.0,
    "occupancy": _OCCUPANCY,
}
_DISTRIBUTION = {
    **_QUANTILE,
    "relative_priority": {"kind": "distribution", "mean": "moving-average", "gain": 0.02, "arithmetic": "tables"},
}


@dataclass(frozen=True, slots=True, eq=False)
class Scheme:
    name: str
    """As figure 5 calls it."""
    mechanism: Mapping[str, Any] = field(default_factory=dict)
    queue_bytes: int = QUEUE_BYTES
    has_background: bool = True


DROP_TAIL = Scheme("no deflection")
LARGE = Scheme("12 MB buffer", queue_bytes=LARGE_QUEUE_BYTES)
SIMPLE = Scheme("Simple", {"kind": "simple-deflection", "occupancy": _OCCUPANCY})
QUANTILE = Scheme("Quantile-PD, alpha 1", _QUANTILE)
DISTRIBUTION = Scheme("Distribution-PD, alpha 1", _DISTRIBUTION)
QUANTILE_TENTH = Scheme("Quantile-PD, alpha 0.1", {**_QUANTILE, "alpha": 0.1})
DISTRIBUTION_TENTH = Scheme("Distribution-PD, alpha 0.1", {**_DISTRIBUTION, "alpha": 0.1})
ALONE = Scheme("without background", has_background=False)

QUANTILES, DISTRIBUTIONS = (QUANTILE, QUANTILE_TENTH), (DISTRIBUTION, DISTRIBUTION_TENTH)
PREEMPTIVE = (*QUANTILES, *DISTRIBUTIONS)
ALPHA_NOTE = "section 5.1 gives no alpha: the authors' program amounts to 1, the simulations of section 5.2 have 0.1"
COMPARED = (DROP_TAIL, LARGE, SIMPLE, QUANTILE, DISTRIBUTION, QUANTILE_TENTH, DISTRIBUTION_TENTH)
"""All that meet background."""

TCP: Mapping[str, Any] = {"kind": "tcp", "congestion": "cubic", "burst_segments": 44, "known_rtt": "100 us"}
"""Linux as it comes, on connections that are open: a round trip has four passes through a kernel, and queues."""


def scenario(
    scheme: Scheme,
    duration_ms: float,
    transports: Mapping[str, Mapping[str, Any]],
    flows: Sequence[Mapping[str, Any]],
    **further: Any,
) -> Fields:
    """Build the testbed under a scheme with groups of flows; a scheme can leave out the background."""
    return scenarios.scenario(
        "deflection-testbed",
        topology(),
        [flow for flow in flows if scheme.has_background or flow["name"] != LOW],
        transports,
        duration=f"{duration_ms:g} ms",
        switch={"preset": "tofino-like", "buffer": {"kind": "static", "per_port": f"{scheme.queue_bytes} B"}},
        host=host(),
        mechanism=[scheme.mechanism] if scheme.mechanism else [],
        **further,
    )


def topology() -> Mapping[str, Any]:
    """Build figure 5a."""
    places = {**dict.fromkeys(SENDERS, FAR), THIRD: NEAR, BUSY: NEAR}
    links = [(server, switch, LINK_GBPS) for server, switch in places.items()]
    return scenarios.graph(places, [FAR, NEAR], [*links, (FAR, NEAR, 100)])


def host() -> Mapping[str, Any]:
    """Build Xeon servers with Linux."""
    return {
        "kernel": {
            "send": "10 us",
            "receive": "10 us",
            "jitter": {"kind": "lognormal", "median": "2 us", "p999": "20 us"},
        },
        "timer_tick": "4 ms",
    }
