"""FQ-CoDel and DRR with a queue for each flow beside AFQ, in the cluster with the enterprise workload at 70 % load."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hitless_papers import Context, Exhibit, Point, Row, Runs
from hitless_papers.afq import cluster, flows, ratios, schemes
from hitless_papers.afq.cluster import ClusterCase
from hitless_papers.afq.flows import SHORT_FLOWS, dropped_per_flow
from hitless_papers.afq.schemes import Scheme
from hitless_papers.afq.sizes import ENTERPRISE

_LOAD = 70
_DRR: Mapping[str, Any] = {"kind": "drr"}
_CODEL: Mapping[str, Any] = {"kind": "fq-codel", "target": "10 us", "interval": "100 us"}
"""RFC 8289: an interval of a large round-trip time, and a target of 5 to 10 % of it."""
_SCHEMES = (
    schemes.PAIR_AFQ,
    schemes.IDEAL,
    Scheme("DRR per flow, packet pair", schemes.PACKET_PAIR, flow_queueing=_DRR),
    Scheme("FQ-CoDel, packet pair", schemes.PACKET_PAIR, flow_queueing=_CODEL),
    Scheme("AFQ, TCP", schemes.TCP, afq=schemes.AFQ),
    Scheme("DRR per flow, TCP", schemes.TCP, flow_queueing=_DRR),
    Scheme("FQ-CoDel, TCP", schemes.TCP, flow_queueing=_CODEL),
)


class Rivals(Exhibit):
    def points(self, context: Context) -> Iterable[Point]:
        length_ms = cluster.duration_ms(context, 10)
        for case in _cases():
            yield replace(case.point(length_ms), key=f"rivals: {case.key}")

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        of = {case.scheme.name: runs[f"rivals: {case.key}"] for case in _cases()}
        compared = flows.compared(of, cluster.completion)
        x = f"cluster, {_LOAD} %"
        for name, run in of.items():
            for title, group in compared.by_length.items():
                yield ratios.normalized_mean(group, name).row(name, x, f"mean FCT of {title}, normalized")
            tail = ratios.normalized_percentile(compared.short, name)
            yield tail.row(name, x, f"p99 FCT of {SHORT_FLOWS}, normalized")
            yield Row(name, x, "packets dropped per flow", "", dropped_per_flow(run))


def _cases() -> list[ClusterCase]:
    return [ClusterCase(ENTERPRISE, _LOAD, scheme) for scheme in _SCHEMES]
