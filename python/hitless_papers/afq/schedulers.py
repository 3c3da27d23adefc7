"""The rotating strict priority scheduler and its substitutes (section 4).

The cluster of section 6.2 with the enterprise workload and packet pair. Flows that all take exactly as long as under
the scheduler itself, 30,000 of them with acknowledgements, can only come of the same departures at every port. DRR
cannot see that a packet's round is over, so it is compared with a scheduler that leaves such a packet where ingress put
it; the default takes it into the queue being served.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from hitless.drawing.plot import Plot
from hitless.simulation import Run
from hitless_papers import Context, Exact, Exhibit, Point, Row, Runs, Unjudged, at_most, exhibit
from hitless_papers.afq import cluster, ratios, schemes
from hitless_papers.afq.cluster import ClusterCase
from hitless_papers.afq.flows import SHORT_FLOWS, Compared, dropped_per_flow
from hitless_papers.afq.schemes import Scheme
from hitless_papers.afq.sizes import ENTERPRISE
from hitless_papers.estimates import curve

_LOAD = 70
_ROTATING = "rotating strict priority"
_NAMED = "rotating strict priority, late packets as in DRR"
_DEFICIT = "DRR, huge quantum"
_GROUPS = "two groups, 10 us"
_GROUPS_AT_ONCE = "two groups, 10 us, no delay"
_GROUPS_OF_8 = "two groups of 4, 10 us"
_OCCUPANCY = "round from occupancy"
_COARSE = "round from occupancy, 1 KB, 1 us old"
_IDEAL = "Ideal-FQ"


def _afq(name: str, **changes: Any) -> Scheme:
    return replace(schemes.PAIR_AFQ.with_afq(**changes), name=name)


def _groups(delay: str) -> Mapping[str, Any]:
    return {"kind": "two-groups", "period": "10 us", "delay": delay}


_VARIANTS = (
    _afq(_ROTATING),
    _afq(_NAMED, scheduler={"kind": "rotating-strict-priority", "late": "named-queue"}),
    _afq(_DEFICIT, scheduler={"kind": "deficit-round-robin"}),
    _afq(_GROUPS, scheduler=_groups("1 us")),
    _afq(_GROUPS_AT_ONCE, scheduler=_groups("0 s")),
    _afq(_GROUPS_OF_8, scheduler=_groups("1 us"), queues=8, ecn_rounds=4),
    _afq(_OCCUPANCY, round="from-occupancy"),
    _afq(_COARSE, round="from-occupancy", occupancy={"granularity": "1 KB", "refresh": "1 us"}),
    replace(schemes.IDEAL, name=_IDEAL),
)


@exhibit("afq/rsp", title="Rotating strict priority and its emulations")
class Schedulers(Exhibit):
    """The same schedule from deficit round robin, and what the other two cost."""

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = cluster.duration_ms(context, 20)
        for case in self._cases():
            yield case.point(length_ms)

    def _cases(self) -> list[ClusterCase]:
        return [ClusterCase(ENTERPRISE, _LOAD, scheme) for scheme in _VARIANTS]

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        of = {case.scheme.name: runs[case.key] for case in self._cases()}
        compared = cluster.compared(runs, self._cases())
        yield _same_schedule(of)
        yield _few_queues(compared)
        for name, run in of.items():
            yield _delivered(name, run)
            yield Row(name, f"{_LOAD} %", "packets dropped per flow", "", dropped_per_flow(run))
            if name != _ROTATING:
                yield from _costs(name, compared)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        compared = cluster.compared(runs, self._cases())
        points = [ratios.mean(compared.short, name, _ROTATING) for name in compared.names if name != _ROTATING]
        names = [name for name in compared.names if name != _ROTATING]
        series = curve("AFQ", names, points, "bars")
        title = "Mean FCT of flows below 100 KB"
        yield Plot(title, "scheduler", f"FCT over that under {_ROTATING} (times)", [series])


def _same_schedule(of: Mapping[str, Run]) -> Row:
    differing, every = differing_flows(of[_NAMED], of[_DEFICIT])
    metric = f"flows with another completion than under {_NAMED}"
    note = f"of {every:,} flows, to the picosecond"
    judge = Exact() if every else Unjudged("0 of 0 flows")
    return Row(_DEFICIT, f"{_LOAD} %", metric, "flows", differing, 0.0, judge=judge, note=note)


def differing_flows(first: Run, second: Run) -> tuple[int, int]:
    """Count the messages with another delivery or acknowledgement, or in one run only; and all messages."""
    columns = ["flow", "number", "started_ps", "delivered_ps", "acknowledged_ps"]
    tables = [run.completed_messages().select(columns) for run in (first, second)]
    same = len(tables[0].join(tables[1], on=columns, how="inner"))
    every = len(pl.concat(tables).select("flow", "number").unique())
    return every - same, every


def _few_queues(compared: Compared) -> Row:
    ratio = ratios.mean(compared.short, _GROUPS_OF_8, _ROTATING)
    statement = "reasonable with 8 queues: within a quarter of 32 queues under the scheduler itself"
    judge = at_most(1.25, statement, nothing="no flow finished under both")
    return ratio.row(_GROUPS_OF_8, f"{_LOAD} %", f"mean FCT of {SHORT_FLOWS}, over {_ROTATING}", judge=judge)


def _delivered(name: str, run: Run) -> Row:
    begun = int(run.table("messages")["bytes"].sum())
    arrived = int(run.table("flows")["delivered_bytes"].sum())
    note = f"{arrived / 1e6:,.0f} of {begun / 1e6:,.0f} MB; the rest was under way at the end"
    return Row(name, f"{_LOAD} %", "bytes delivered, of those of all flows that began", "%", 100 * arrived / begun,
               note=note)  # fmt: skip


def _costs(name: str, compared: Compared) -> Iterator[Row]:
    x = f"{_LOAD} %"
    for title, flows in compared.by_length.items():
        if (name, title) != (_GROUPS_OF_8, SHORT_FLOWS):
            yield ratios.mean(flows, name, _ROTATING).row(name, x, f"mean FCT of {title}, over {_ROTATING}")
    tail = ratios.tail(compared.short, name, _ROTATING)
    yield tail.row(name, x, f"p99 FCT of {SHORT_FLOWS}, over {_ROTATING}")
