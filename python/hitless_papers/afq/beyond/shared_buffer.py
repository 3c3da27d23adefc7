"""Fewer queues in use when a buffer that ports share gets short: A2FQ's idea.

Sixteen hosts on one switch with 204.8 KB for all ports and alpha 1, the buffer of A2FQ's public program. Eight hosts
send two long TCP flows each to the other eight, which also ask 8 hosts for 20 KB each, a thousand times a second.
"""

from collections.abc import Iterable, Iterator

import polars as pl

from hitless.checking import Fields
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Point, Row, Runs, Share
from hitless_papers.afq import schemes
from hitless_papers.afq.flows import TABLES, dropped
from hitless_papers.afq.schemes import Buffers, Scheme
from hitless_papers.estimates import percentile_of
from hitless_papers.scenarios import graph

_TOTAL = "204.8 KB"
_HOSTS = 16
_SENDERS = _HOSTS // 2
_SCHEMES = (
    Scheme("AFQ, 32 queues", schemes.TCP, afq=schemes.AFQ),
    Scheme("AFQ, adaptive queues", schemes.TCP, afq={**schemes.AFQ, "adaptive": {}}),
    Scheme("AFQ, 8 queues", schemes.TCP, afq={**schemes.AFQ, "queues": 8, "ecn_rounds": 4}),
)


class SharedBuffer(Exhibit):
    """Answers, drops and long flows, with all queues, with a number that adapts, and with few."""

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = context.length("ms of long flows", full=1_000, quick=200)
        for scheme in _SCHEMES:
            yield Point(f"shared buffer: {scheme.name}", _scenario(scheme, length_ms), keep=TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for scheme in _SCHEMES:
            yield from _rows(scheme, runs[f"shared buffer: {scheme.name}"])


def _scenario(scheme: Scheme, duration_ms: int) -> Fields:
    hosts = [f"h{host}" for host in range(_HOSTS)]
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
        Buffers(_TOTAL),
        name="shared-buffer",
        duration=f"{duration_ms} ms",
        topology=graph(hosts, ["sw"], [(host, "sw", 10) for host in hosts], "1 us"),
        flows=[long, incast],
    )
    return {**made, "switch": {**made["switch"], "buffer": {"kind": "shared", "total": _TOTAL, "alpha": 1}}}


def _rows(scheme: Scheme, run: Run) -> Iterator[Row]:
    x = f"{_TOTAL} for {_HOSTS} ports"
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
