"""The two distributions of flow sizes, and how often flows must start for a run of some length to have some load.

Half of the enterprise workload's bytes are in flows above 12 MB, and the Pareto distribution of shape 1.1 has nearly
all of its mean in flows that no run of a second meets. A run of 50 ms that starts as many flows as 70 % load takes
*on average* reaches less than half of that: the large ones do not get done, or do not come. Rates are therefore
computed with what a flow can send before the run ends, from a start at any moment of it and at the rate of its host's
link. What of it comes out is measured and shown: the "utilization" rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from hitless.analysis.intervals import Numbers
from hitless.checking import size_table

MSS_BYTES = 1_448
HEADER_BYTES = 70
OVERHEAD_BYTES = 20
"""Preamble and gap of Ethernet, which take time on a link as bytes do."""
FRAME_BYTES = MSS_BYTES + HEADER_BYTES
PAYLOAD_SHARE = MSS_BYTES / (FRAME_BYTES + OVERHEAD_BYTES)
SHORT_BYTES = 100_000
"""Limit of the paper's short flows."""

_QUANTILES = 200_000


class Sizes(ABC):
    name: str
    scenario: Mapping[str, Any]
    """As ``sizes`` of a group of flows."""

    @abstractmethod
    def quantiles(self, shares: Numbers) -> Numbers:
        """Sizes in bytes that these shares of all flows do not exceed."""

    def group(self, flows_per_second: float, **ends: Any) -> Mapping[str, Any]:
        """So many flows that start at random, between all hosts or the ``ends``."""
        name, rate = self.name, round(flows_per_second)
        common = {"transport": "transport", "kind": "poisson", "sizes": self.scenario, "flows_per_second": rate}
        return {"name": name, **common, **ends}

    def sent_bytes(self, rate_bps: float, duration_s: float) -> Numbers:
        """Payload that flows of equally likely sizes send on the average until the run ends.

        Their starts are spread evenly over the run, and each sends at ``rate_bps`` at most. The mean over a start at
        U of min(size, most * U), U from 0 to 1, is size - size^2 / (2 most) for a size up to ``most``, and most / 2
        above.
        """
        most = rate_bps * PAYLOAD_SHARE / 8 * duration_s
        size = np.minimum(self.quantiles((np.arange(_QUANTILES) + 0.5) / _QUANTILES), most)
        return size - size**2 / (2 * most)

    def wire_bytes(self, rate_bps: float, duration_s: float) -> tuple[float, float]:
        """Bytes on a link of an average flow within a run: of its data, and of its acknowledgements."""
        sent = self.sent_bytes(rate_bps, duration_s)
        frames = np.ceil(sent / MSS_BYTES)
        headers = float(frames.mean()) * (HEADER_BYTES + OVERHEAD_BYTES)
        return float(sent.mean()) + headers, headers


@dataclass(frozen=True)
class Pareto(Sizes):
    """The paper's synthetic workload: shape 1.1, mean 30 KB, not cut."""

    name: str = "Pareto"
    shape: float = 1.1
    mean_bytes: float = 30_000.0

    @property
    def scenario(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Up to 1 TB, which one flow in 2.6 billion exceeds."""
        return {"kind": "pareto", "shape": self.shape, "mean": f"{self.mean_bytes:.0f} B", "largest": "1000 GB"}

    def quantiles(self, shares: Numbers) -> Numbers:
        smallest = self.mean_bytes * (self.shape - 1) / self.shape
        return smallest * (1 - shares) ** (-1 / self.shape)


@dataclass(frozen=True)
class Table(Sizes):
    """A table that comes with the program."""

    name: str
    table: str

    @property
    def scenario(self) -> Mapping[str, Any]:  # type: ignore[override]
        return {"kind": "cdf", "table": self.table}

    def quantiles(self, shares: Numbers) -> Numbers:
        """Interpolate between the points of the table."""
        size_bytes, up_to = _points(self.table)
        return np.interp(shares, up_to, size_bytes)


@cache
def _points(table: str) -> tuple[Numbers, Numbers]:
    points = np.array(size_table(table), dtype=np.float64)
    return points[:, 0], points[:, 1]


PARETO = Pareto()
ENTERPRISE = Table("enterprise", "enterprise_conga_numfabric")
"""CONGA's enterprise workload, the paper's reference [1]."""
