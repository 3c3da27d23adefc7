"""Fat trees of 100 Gb/s with links of 1 us, as in Ultra Ethernet's experiments.

Buffers of a port hold the packets of an idle round trip between two pods: 43 of 4,150 B.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RATE_GBPS = 100
DELAY_US = 1
MTU_BYTES = 4_086
HEADER_BYTES = 64
FRAME_BYTES = MTU_BYTES + HEADER_BYTES
OVERHEAD_BYTES = 20
BUFFER_BYTES = 43 * FRAME_BYTES
_LINKS = 6
"""Links between two hosts in different pods."""
BASE_RTT_US = 2 * _LINKS * DELAY_US + _LINKS * (FRAME_BYTES + HEADER_BYTES + 2 * OVERHEAD_BYTES) * 8 / RATE_GBPS / 1e3
"""Idle round trip of a packet and its acknowledgement."""
LINK: Mapping[str, Any] = {"rate": f"{RATE_GBPS} Gbps", "delay": f"{DELAY_US} us"}


@dataclass(frozen=True, slots=True)
class Fabric:
    """A fat tree, with the names of ``kind = "fat-tree"``."""

    k: int

    @classmethod
    def of_hosts(cls, hosts: int) -> "Fabric":
        """Return the fat tree with this number of hosts. Raises `ValueError` for any number but k^3 / 4."""
        k = round((4 * hosts) ** (1 / 3))
        if k % 2 or k**3 != 4 * hosts:
            raise ValueError(f"there is no fat tree of {hosts} hosts: k-ary fat trees have k^3 / 4, with an even k")
        return cls(k)

    @property
    def hosts(self) -> int:
        """Number of hosts."""
        return self.k**3 // 4

    @property
    def switches(self) -> list[str]:
        """Names of all switches."""
        half = self.k // 2
        layers = {"edge": self.k * half, "agg": self.k * half, "core": half * half}
        return [f"{layer}{number}" for layer, count in layers.items() for number in range(count)]

    @property
    def topology(self) -> Mapping[str, Any]:
        """Table of the scenario."""
        return {"kind": "fat-tree", "k": self.k, "host_link": LINK, "core_link": LINK}
