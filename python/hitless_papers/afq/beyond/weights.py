"""Weights of tenants, each a traffic class, and of the flows of a class.

Four tenants with 1, 2, 4 and 8 long flows, and weights the other way round, share a link of 10 Gbps.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from hitless.checking import Fields
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Point, Row, Runs
from hitless_papers.afq import one_link, schemes
from hitless_papers.afq.flows import TABLES
from hitless_papers.afq.schemes import Scheme

_FLOWS = (1, 2, 4, 8)
_WEIGHTS = (8, 4, 2, 1)
_GIVEN = list(_WEIGHTS)


@dataclass(frozen=True)
class _WeightCase:
    scheme: Scheme
    parts: Sequence[int]
    """What each tenant should get, in proportion."""

    @property
    def key(self) -> str:
        return f"weights: {self.scheme.name}"


_OF_FLOWS = tuple(flows * weight for flows, weight in zip(_FLOWS, _WEIGHTS, strict=True))
_CASES = (
    _WeightCase(
        Scheme(
            "AFQ, weights of tenants", schemes.DCTCP, afq={**schemes.AFQ, "flow_key": "class", "class_weights": _GIVEN}
        ),
        _WEIGHTS,
    ),
    _WeightCase(
        Scheme("AFQ, weights of flows", schemes.DCTCP, afq={**schemes.AFQ, "class_weights": _GIVEN}), _OF_FLOWS
    ),
    _WeightCase(
        Scheme("Ideal-FQ, weights of flows", schemes.DCTCP, flow_queueing={**schemes.IDEAL_FQ, "weights": _GIVEN}),
        _OF_FLOWS,
    ),
    _WeightCase(Scheme("AFQ, all alike", schemes.DCTCP, afq={**schemes.AFQ, "class_weights": [1, 1, 1, 1]}), _FLOWS),
)


class Weights(Exhibit):
    """Shares of the link beside those that the weights ask for."""

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = context.length("ms of long flows", full=1_000, quick=200)
        for case in _CASES:
            yield Point(case.key, _scenario(case.scheme, length_ms), keep=TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for case in _CASES:
            yield from _rows(case, runs[case.key])


def _scenario(scheme: Scheme, duration_ms: int) -> Fields:
    first = np.cumsum((0, *_FLOWS)).tolist()
    hosts = first[-1]
    groups = [
        {
            "name": f"tenant {tenant}",
            "transport": "transport",
            "kind": "long",
            "class": tenant,
            "sources": [f"h{host}" for host in range(first[tenant], first[tenant + 1])],
            "destinations": [f"h{hosts}"] * count,
        }
        for tenant, count in enumerate(_FLOWS)
    ]
    duration = f"{duration_ms} ms"
    return one_link.scenario("weights", scheme, groups, hosts=hosts, rtt_us=25, duration=duration, host_gbps=10)


def _rows(case: _WeightCase, run: Run) -> Iterator[Row]:
    table = run.table("flows").group_by("group").agg(pl.col("delivered_bytes").sum()).sort("group")
    delivered = table["delivered_bytes"].to_numpy()
    shares = 100 * delivered / delivered.sum()
    for tenant, (share, part) in enumerate(zip(shares, case.parts, strict=True)):
        x = f"tenant {tenant}: {_FLOWS[tenant]} flows, weight {_WEIGHTS[tenant]}"
        note = f"asked for {100 * part / sum(case.parts):.2f} %"
        yield Row(case.scheme.name, x, "share of the link", "%", float(share), note=note)
