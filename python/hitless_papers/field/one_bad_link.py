"""One bad link in a fat tree, under the transports of AI fabrics, with and without mechanisms on that link.

A collective waits for its last flow, so the last flow counts. These numbers are unpublished, so they are not judged.

Two workloads: a random permutation of all hosts, 2 MB each, and an all-to-all of 128 hosts that sends 2 MB from each
host. The full form has 1,024 hosts. The all-to-all then takes every eighth host, so that it crosses pods too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from hitless.analysis import percentile
from hitless.drawing.plot import Plot, Series
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Finding, Point, Row, Runs, Share, Tail, exhibit
from hitless_papers.field import troubles
from hitless_papers.field.fabric import Fabric
from hitless_papers.field.transports import TRANSPORTS
from hitless_papers.field.troubles import Cell

_HOST_BYTES = 2_000_000
_MEMBERS = 128
"""Hosts of the all-to-all."""
_TIMES = ["started_ps", "delivered_ps"]

PERMUTATION, ALL_TO_ALL = "permutation", "all-to-all"
WORKLOADS = (PERMUTATION, ALL_TO_ALL)
LAST, P99 = "last flow", "p99"


def metric(quantity: str, workload: str) -> str:
    """Return the name of a row's quantity."""
    return f"{quantity}, {workload}"


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of the experiment."""

    fabric: Fabric
    rates: Sequence[str]
    """Loss rates."""

    @classmethod
    def of(cls, context: Context) -> "Scale":
        """Return the scale of an effort: quick runs have fewer hosts and loss rates."""
        hosts = context.length("hosts", full=1_024, quick=128)
        count = context.length("loss rates", full=4, quick=2)
        return cls(Fabric.of_hosts(hosts), ("1e-2", "1e-3", "1e-4", "1e-5")[:count])

    def cells(self) -> list[Cell]:
        """Return all cells that can run."""
        found = [troubles.HEALTHY, *map(troubles.loss, self.rates), troubles.SLOW, troubles.FLAPPING, troubles.CUT]
        made = (
            Cell(transport, trouble, protection)
            for trouble in found
            for protection in trouble.protections
            for transport in TRANSPORTS
        )
        return [cell for cell in made if cell.runs]

    def flows(self, workload: str) -> Mapping[str, Any]:
        """Return the flows of a workload."""
        if workload == PERMUTATION:
            return {"kind": "permutation", "size": f"{_HOST_BYTES} B"}
        members = [f"h{number}" for number in range(0, self.fabric.hosts, max(1, self.fabric.hosts // _MEMBERS))]
        return {"kind": "all-to-all", "size": f"{_HOST_BYTES // (len(members) - 1)} B", "hosts": members}


def only_times(run: Run) -> Run:
    """Drop all columns but the times of the messages."""
    return Run(run.effective, run.summary, {"messages": run.table("messages").select(_TIMES)}, run.wall_s)


def times_us(run: Run) -> np.ndarray[Any, Any]:
    """Return the completion times of the flows that completed."""
    done = run.table("messages").filter(pl.col("delivered_ps") >= 0)
    return (done["delivered_ps"].cast(pl.Int64) - done["started_ps"].cast(pl.Int64)).to_numpy() / 1e6


@exhibit("field/one-bad-link", title="One bad link under sprayed traffic: the last flow")
class OneBadLink(Exhibit):
    """Rows of the last flow and the 99th percentile. A time is infinite if a flow does not complete in 20 ms."""

    tail = Tail(
        "permutation with NSCC, a link with loss 1e-2",
        ("loss", "permutation, NSCC, loss 1e-2"),
        ("LLR", "permutation, NSCC, loss 1e-2, LLR"),
    )

    def points(self, context: Context) -> Iterable[Point]:
        scale = Scale.of(context)
        for workload in WORKLOADS:
            flows = scale.flows(workload)
            for cell in scale.cells():
                scenario = cell.scenario(scale.fabric, flows)
                yield Point(_key(cell, workload), scenario, keep=("messages",), reduce=only_times)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for workload in WORKLOADS:
            for cell in Scale.of(context).cells():
                yield from self._cell(cell, workload, runs)

    def _cell(self, cell: Cell, workload: str, runs: Runs) -> Iterator[Row]:
        run = runs[_key(cell, workload)]
        begun, times = len(run.table("messages")), times_us(run)
        done = (Share(cell.transport.name, len(times), begun),)
        last = times.max() if len(times) == begun else np.inf
        tail = percentile(np.append(times, np.full(begun - len(times), np.inf)), 99.0)
        for quantity, value in ((LAST, last), (P99, tail)):
            name = metric(quantity, workload)
            yield Row(cell.transport.name, cell.x, name, "us", float(value), judge=Finding(), completed=done)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        cells = Scale.of(context).cells()
        for workload in WORKLOADS:
            series = []
            for transport in TRANSPORTS:
                own = [cell for cell in cells if cell.transport is transport]
                last = [float(times_us(runs[_key(cell, workload)]).max(initial=0.0)) for cell in own]
                series.append(Series(transport.name, [cell.x for cell in own], last, style="points"))
            yield Plot(f"Last flow, {workload}", "link between agg0 and core0", "time (us)", series, y_scale="log")


def _key(cell: Cell, workload: str) -> str:
    return f"{workload}, {cell.transport.name}, {cell.x}"
