"""The networks of section 5.2, with the values that depend on their speed.

Section 5.2 gives hosts, switches, rates, 300 KB per port and DCTCP's threshold of 65 packets. The authors' simulator
(hopnets/practical_deflection) gives link delays, the timeout of the reorder buffer, and the network at 1 Gbps with 50
KB and 20 packets; the paper does not. At 100G the timeout is the same as at 10G, an assumption.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Fabric:
    """A network and the settings of its switches and hosts."""

    name: str
    topology: Mapping[str, Any]
    core_bps: float
    """Total rate of the links from leaves to spines, one way: 100 % load."""
    queue_bytes: int = 300_000
    mark_packets: int = 65
    """DCTCP's threshold."""
    reorder_timeout_us: float = 360


def _leaf_spine(host_gbps: float, core_gbps: float, core_delay_us: float) -> Mapping[str, Any]:
    """Eight leaves with 40 hosts each, four spines."""
    return {
        "kind": "leaf-spine",
        "leaves": 8,
        "spines": 4,
        "hosts_per_leaf": 40,
        "host_link": {"rate": f"{host_gbps:g} Gbps", "delay": "1 us"},
        "core_link": {"rate": f"{core_gbps:g} Gbps", "delay": f"{core_delay_us:g} us"},
    }


LEAF_SPINE = Fabric("10/40G", _leaf_spine(10, 40, 5), core_bps=8 * 4 * 40e9)
LEAF_SPINE_100G = Fabric("100G", _leaf_spine(100, 100, 1), core_bps=8 * 4 * 100e9)
LEAF_SPINE_1G = Fabric(
    "1G", _leaf_spine(1, 1, 5), core_bps=8 * 4 * 1e9, queue_bytes=50_000, mark_packets=20, reorder_timeout_us=1_200
)

_FAT_TREE_LINK = {"rate": "10 Gbps", "delay": "1 us"}
FAT_TREE = Fabric(
    "fat tree",
    {"kind": "fat-tree", "k": 8, "host_link": _FAT_TREE_LINK, "core_link": _FAT_TREE_LINK},
    core_bps=32 * 4 * 10e9,
)
