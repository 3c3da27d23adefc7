"""FQ-CoDel and DRR with a queue for each flow beside AFQ, in the cluster with the enterprise workload at 70 % load."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hitless.exhibits import Context, Point, Row, Runs
from hitless.exhibits.afq import cluster, schemes, statistics
from hitless.exhibits.afq.beyond.part import Part
from hitless.exhibits.afq.cluster import Case
from hitless.exhibits.afq.counters import dropped_per_flow
from hitless.exhibits.afq.flows import Compared
from hitless.exhibits.afq.schemes import Scheme
from hitless.exhibits.afq.sizes import ENTERPRISE

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


class Rivals(Part):
    """Completion times and drops."""

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = cluster.duration_ms(context, 10)
        for case in _cases():
            yield replace(case.point(length_ms), key=f"rivals: {case.key}")

    def rows(self, runs: Runs) -> Iterable[Row]:
        of = {case.scheme.name: runs[f"rivals: {case.key}"] for case in _cases()}
        compared = Compared({name: cluster.completion(run) for name, run in of.items()})
        x = f"cluster, {_LOAD} %"
        for name, run in of.items():
            for title, group in (("flows below 100 KB", compared.short), ("all flows", compared.all)):
                value, interval = statistics.mean_ratio(group, name, "idle_us")
                yield Row(name, x, f"mean FCT of {title}, normalized", "times", value, interval=interval)
            value, interval = statistics.slowdown_percentile(compared.short, name, 99)
            yield Row(name, x, "p99 FCT of flows below 100 KB, normalized", "times", value, interval=interval)
            yield Row(name, x, "packets dropped per flow", "", dropped_per_flow(run))


def _cases() -> list[Case]:
    return [Case(ENTERPRISE, _LOAD, scheme) for scheme in _SCHEMES]
