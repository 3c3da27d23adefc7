"""Experiments beyond the paper: weights, fast links, many flows, a shared buffer, and other fair queues."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from hitless.checking import Fields
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Parts, Point, Row, Runs, Share, exhibit
from hitless_papers.afq import cluster, flows, one_link, ratios, schemes
from hitless_papers.afq.cluster import ClusterCase
from hitless_papers.afq.flows import SHORT_FLOWS, TABLES, dropped, dropped_per_flow, misestimated
from hitless_papers.afq.schemes import Buffers, Scheme
from hitless_papers.afq.sizes import ENTERPRISE, FRAME_BYTES
from hitless_papers.estimates import percentile_of
from hitless_papers.scenarios import graph

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
_WEIGHT_CASES = (
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
    """Weights of tenants, each a traffic class, and of the flows of a class.

    Four tenants with 1, 2, 4 and 8 long flows, and weights the other way round, share a link of 10 Gbps.
    """

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = context.length("ms of long flows", full=1_000, quick=200)
        for case in _WEIGHT_CASES:
            yield Point(case.key, _weighted(case.scheme, length_ms), keep=TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for case in _WEIGHT_CASES:
            yield from _weight_rows(case, runs[case.key])


def _weighted(scheme: Scheme, duration_ms: int) -> Fields:
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


def _weight_rows(case: _WeightCase, run: Run) -> Iterator[Row]:
    table = run.table("flows").group_by("group").agg(pl.col("delivered_bytes").sum()).sort("group")
    delivered = table["delivered_bytes"].to_numpy()
    shares = 100 * delivered / delivered.sum()
    for tenant, (share, part) in enumerate(zip(shares, case.parts, strict=True)):
        x = f"tenant {tenant}: {_FLOWS[tenant]} flows, weight {_WEIGHTS[tenant]}"
        note = f"asked for {100 * part / sum(case.parts):.2f} %"
        yield Row(case.scheme.name, x, "share of the link", "%", float(share), note=note)


_RATES_GBPS = (100, 400)
_ROUND_FRAMES = (1, 2, 4, 8)
_FAST_HOSTS = 16
_LOAD = 70
_FAST_RTT_US = 10
_FAST_BUFFERS = Buffers("2 MB")
"""As many queues of as many bytes as at 10 Gbps would hold a fortieth of the time; the size is an assumption."""


def _fast_afq(frames: int) -> Scheme:
    size = f"{frames * FRAME_BYTES} B"
    transport = {**schemes.PACKET_PAIR, "bytes_per_round": size}
    return Scheme(f"AFQ, {frames} frames a round", transport, afq={**schemes.AFQ, "bytes_per_round": size})


_FAST_SCHEMES = (*map(_fast_afq, _ROUND_FRAMES), schemes.IDEAL)


class FastLinks(Exhibit):
    """100 and 400 Gbps: how many bytes a round should have.

    16 hosts send enterprise flows by packet pair to 16 others over one link as fast as theirs, at 70 % load, with a
    round trip of 10 us. The paper's rule, d l / (6 nQ), gives 651 B at 100 Gbps and 2,604 B at 400 Gbps: one frame, and
    about two.
    """

    def points(self, context: Context) -> Iterable[Point]:
        for rate_gbps in _RATES_GBPS:
            length_ms = context.length(f"ms at {rate_gbps} Gbps", full=1_000, normal=50, quick=20)
            for scheme in _FAST_SCHEMES:
                yield Point(_fast_key(rate_gbps, scheme), _fast(scheme, rate_gbps, length_ms), keep=TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for rate_gbps in _RATES_GBPS:
            yield from _fast_rows(
                rate_gbps, {scheme.name: runs[_fast_key(rate_gbps, scheme)] for scheme in _FAST_SCHEMES}
            )


def _fast_key(rate_gbps: int, scheme: Scheme) -> str:
    return f"{rate_gbps} Gbps: {scheme.name}"


def _fast(scheme: Scheme, rate_gbps: int, duration_ms: int) -> Fields:
    data, _ = ENTERPRISE.wire_bytes(rate_gbps * 1e9, duration_ms / 1e3)
    link = {"rate": f"{rate_gbps} Gbps", "delay": f"{round(_FAST_RTT_US * 1e3 / 6)} ns"}
    group = ENTERPRISE.group(
        _LOAD / 100 * rate_gbps * 1e9 / (8 * data),
        sources=[f"h0..h{_FAST_HOSTS - 1}"],
        destinations=[f"h{_FAST_HOSTS}..h{2 * _FAST_HOSTS - 1}"],
    )
    ends = {"hosts_left": _FAST_HOSTS, "hosts_right": _FAST_HOSTS, "host_link": link, "bottleneck": link}
    topology = {"kind": "dumbbell", **ends}
    return scheme.scenario(_FAST_BUFFERS, name="fast", duration=f"{duration_ms} ms", topology=topology, flows=[group])


def _fast_rows(rate_gbps: int, runs: Mapping[str, Run]) -> Iterator[Row]:
    compared = flows.compared(runs, lambda run: flows.with_idle_us(run, (rate_gbps,) * 3, _FAST_RTT_US / 2))
    x = f"{rate_gbps} Gbps, {_LOAD} %"
    for name, run in runs.items():
        for title, group in compared.by_length.items():
            yield ratios.normalized_mean(group, name).row(name, x, f"mean FCT of {title}, normalized")
        yield Row(name, x, "packets dropped per flow", "", dropped_per_flow(run))


_CONNECTIONS = 100_000
_MANY_HOSTS = 100
_PERIOD_S = 1.0


def _many_afq(columns: int) -> Scheme:
    sketch = {"rows": 2, "columns": columns}
    afq = {**schemes.AFQ, "sketch": sketch, "measure_estimation": True}
    return Scheme(f"DCTCP+AFQ, sketch 2 x {columns:,}", schemes.DCTCP, afq=afq)


_MANY_SCHEMES = (
    Scheme("DCTCP", schemes.DCTCP, marks=True),
    *map(_many_afq, (128, 1_024, 16_384)),
    Scheme("DCTCP+Ideal-FQ", schemes.DCTCP, flow_queueing=schemes.IDEAL_FQ),
)


class ManyFlows(Exhibit):
    """100,000 connections on one link of 10 Gbps, each with 10 KB about once a second: 8.5 Gbps in all.

    The sketch needs room for flows with packets in the buffer, not for all open flows (section 3.4, appendix E). Its
    errors are measured against Ideal-FQ, which keeps exact accounts.
    """

    def points(self, context: Context) -> Iterable[Point]:
        messages = context.length("messages of each connection", full=10, normal=3, quick=1)
        for scheme in _MANY_SCHEMES:
            yield Point(f"many: {scheme.name}", _many(scheme, messages), keep=TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for scheme in _MANY_SCHEMES:
            yield from _many_rows(scheme, runs[f"many: {scheme.name}"])


def _many(scheme: Scheme, messages: int) -> Fields:
    group = {
        "name": "connections",
        "transport": "transport",
        "kind": "requests",
        "sources": [f"h{host}" for host in range(_MANY_HOSTS)] * (_CONNECTIONS // _MANY_HOSTS),
        "destinations": [f"h{_MANY_HOSTS}"] * _CONNECTIONS,
        "size": "10 KB",
        "count": messages,
        "gap": f"{round(_PERIOD_S * 1e3)} ms",
        "spacing": f"{round(_PERIOD_S * 1e9 / _CONNECTIONS)} ns",
    }
    duration = f"{round((messages + 0.1) * _PERIOD_S * 1e3)} ms"
    made = one_link.scenario("many", scheme, [group], hosts=_MANY_HOSTS, rtt_us=25, duration=duration, host_gbps=10)
    # Without jitter the connections would take turns like clockwork.
    return {**made, "host": {"kernel": {"jitter": {"kind": "exponential", "mean": "500 us"}}}}


def _many_rows(scheme: Scheme, run: Run) -> Iterator[Row]:
    times = flows.delivered(run)["fct_us"].to_numpy()
    x = f"{len(run.table('flows')):,} connections"
    of = (Share(scheme.name, len(times), len(run.table("messages")), "messages"),)
    for percent in (50, 99):
        yield percentile_of(times, percent).row(scheme.name, x, f"p{percent} FCT", unit="us", completed=of)
    yield Row(scheme.name, x, "packets dropped per flow", "", dropped_per_flow(run))
    if scheme.afq is not None:
        later, checked = misestimated(run)
        note = f"{later:,} of {checked:,} packets"
        late = 100 * later / checked if checked else None
        yield Row(scheme.name, x, "packets queued later than their bid asks for", "%", late, note=note)


_SHARED_TOTAL = "204.8 KB"
_SHARED_HOSTS = 16
_SENDERS = _SHARED_HOSTS // 2
_SHARED_SCHEMES = (
    Scheme("AFQ, 32 queues", schemes.TCP, afq=schemes.AFQ),
    Scheme("AFQ, adaptive queues", schemes.TCP, afq={**schemes.AFQ, "adaptive": {}}),
    Scheme("AFQ, 8 queues", schemes.TCP, afq={**schemes.AFQ, "queues": 8, "ecn_rounds": 4}),
)


class SharedBuffer(Exhibit):
    """Fewer queues in use when a buffer that ports share gets short: A2FQ's idea.

    Sixteen hosts share one switch with 204.8 KB for all ports and alpha 1, the buffer of A2FQ's public program. Eight
    hosts send two long TCP flows each to the other eight, which also ask 8 hosts for 20 KB each, 1,000 times a second.
    """

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = context.length("ms of long flows", full=1_000, quick=200)
        for scheme in _SHARED_SCHEMES:
            yield Point(f"shared buffer: {scheme.name}", _shared(scheme, length_ms), keep=TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for scheme in _SHARED_SCHEMES:
            yield from _shared_rows(scheme, runs[f"shared buffer: {scheme.name}"])


def _shared(scheme: Scheme, duration_ms: int) -> Fields:
    hosts = [f"h{host}" for host in range(_SHARED_HOSTS)]
    long = {
        "name": "long",
        "transport": "transport",
        "kind": "long",
        "sources": hosts[:_SENDERS] * 2,
        "destinations": [*hosts[_SENDERS:], *hosts[_SENDERS + 1 :], hosts[_SENDERS]],
    }
    incast = {
        "name": "incast",
        "transport": "transport",
        "kind": "incast",
        "fan_in": 8,
        "size": "20 KB",
        "clients": hosts[_SENDERS:],
        "queries_per_second": 1_000,
    }
    made = scheme.scenario(
        Buffers(_SHARED_TOTAL),
        name="shared-buffer",
        duration=f"{duration_ms} ms",
        topology=graph(hosts, ["sw"], [(host, "sw", 10) for host in hosts], "1 us"),
        flows=[long, incast],
    )
    return {**made, "switch": {**made["switch"], "buffer": {"kind": "shared", "total": _SHARED_TOTAL, "alpha": 1}}}


def _shared_rows(scheme: Scheme, run: Run) -> Iterator[Row]:
    x = f"{_SHARED_TOTAL} for {_SHARED_HOSTS} ports"
    answers = run.completed_messages().filter(pl.col("group") == "incast")
    times = ((answers["delivered_ps"] - answers["started_ps"]) / 1e6).to_numpy()
    begun = len(run.table("messages").filter(pl.col("group") == "incast"))
    of = (Share(scheme.name, len(times), begun, "answers"),)
    for percent in (50, 99):
        yield percentile_of(times, percent).row(scheme.name, x, f"p{percent} FCT of answers", unit="us", completed=of)
    yield Row(scheme.name, x, "packets dropped", "", dropped(run))
    long = run.table("flows").filter(pl.col("group") == "long")
    gbps = float(long["delivered_bytes"].sum()) * 8 / float(run.summary["simulated_s"]) / 1e9
    yield Row(scheme.name, x, "goodput of the long flows", "Gb/s", gbps)


_DRR: Mapping[str, Any] = {"kind": "drr"}
_CODEL: Mapping[str, Any] = {"kind": "fq-codel", "target": "10 us", "interval": "100 us"}
"""RFC 8289: an interval of a large round-trip time, and a target of 5 to 10 % of it."""
_RIVALS = (
    schemes.PAIR_AFQ,
    schemes.IDEAL,
    Scheme("DRR per flow, packet pair", schemes.PACKET_PAIR, flow_queueing=_DRR),
    Scheme("FQ-CoDel, packet pair", schemes.PACKET_PAIR, flow_queueing=_CODEL),
    Scheme("AFQ, TCP", schemes.TCP, afq=schemes.AFQ),
    Scheme("DRR per flow, TCP", schemes.TCP, flow_queueing=_DRR),
    Scheme("FQ-CoDel, TCP", schemes.TCP, flow_queueing=_CODEL),
)


class Rivals(Exhibit):
    """FQ-CoDel, and DRR with a queue for each flow, in the cluster with the enterprise workload at 70 % load."""

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = cluster.duration_ms(context, 10)
        for case in _rival_cases():
            yield replace(case.point(length_ms), key=f"rivals: {case.key}")

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        of = {case.scheme.name: runs[f"rivals: {case.key}"] for case in _rival_cases()}
        compared = flows.compared(of, cluster.completion)
        x = f"cluster, {_LOAD} %"
        for name, run in of.items():
            for title, group in compared.by_length.items():
                yield ratios.normalized_mean(group, name).row(name, x, f"mean FCT of {title}, normalized")
            tail = ratios.normalized_percentile(compared.short, name)
            yield tail.row(name, x, f"p99 FCT of {SHORT_FLOWS}, normalized")
            yield Row(name, x, "packets dropped per flow", "", dropped_per_flow(run))


def _rival_cases() -> list[ClusterCase]:
    return [ClusterCase(ENTERPRISE, _LOAD, scheme) for scheme in _RIVALS]


@exhibit("afq/beyond", title="AFQ beyond the paper: weights, rates, many flows, shared buffers, rivals")
class Beyond(Parts):
    """Nothing here is judged."""

    parts = (Weights, FastLinks, ManyFlows, SharedBuffer, Rivals)
