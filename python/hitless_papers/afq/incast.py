"""Many servers answer one client at once: figure 11, and the scenario of figure 12 (section 6.2.4).

The cluster of section 6.2, with 300 KB at the ports to hosts. A client asks N random servers for 1.5 MB, each for its
N-th part, all at the same moment; the next query starts long after the answers. The paper has a client on every host;
one at a time is an assumption. In figure 12 one client sends all queries, and its port is sampled.

A query completes with the last byte of its last answer. The ideal is the path delay of one full frame plus 1.5 MB at
the rate of the client's link.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from hitless.analysis.intervals import Numbers
from hitless.checking import Fields
from hitless.drawing.plot import Plot, Series
from hitless.simulation import Run
from hitless_papers import Context, Exact, Exhibit, Point, Row, Runs, Shape, Share, Unjudged, exhibit
from hitless_papers.afq import cluster, schemes
from hitless_papers.afq.schemes import Scheme
from hitless_papers.afq.sizes import HEADER_BYTES, MSS_BYTES, OVERHEAD_BYTES
from hitless_papers.estimates import curve, mean_in_run

CHUNK_BYTES = 1_500_000
SENDERS = (8, 16, 32, 64, 128, 256)
PERIOD_MS = 20
"""Between two queries: longer than any of them takes, several timeouts included."""
_LATE_MS = 1_000
"""How long the last answers may take; a run ends with them."""
HOST_BUFFER = "300 KB"
COMPARED = (*schemes.COMPARED, schemes.DCTCP_WINDOW_10)
_NEAR = 0.2
"""What "close to optimal" may be: above the ideal completion time."""
_SETTINGS = f"{schemes.TCP_NOTE}; first timeout after {schemes.FIRST_TIMEOUT_MS} ms; AFQ: {schemes.PAIR_NOTE}"


@dataclass(frozen=True)
class IncastCase:
    scheme: Scheme
    senders: int
    host_buffer: str = HOST_BUFFER
    """Of a port to a host."""

    @property
    def key(self) -> str:
        return f"{self.scheme.name} {self.senders} senders"

    def scenario(self, queries: int, client: str = "", measure: Mapping[str, Any] | None = None) -> Fields:
        """One query every 20 ms, of ``client``, or of a random one each time."""
        group: dict[str, Any] = {
            "name": "answers",
            "transport": "transport",
            "kind": "incast",
            "fan_in": self.senders,
            "size": f"{round(CHUNK_BYTES / self.senders)} B",
            "period": f"{PERIOD_MS} ms",
            "count": queries,
        }
        port = {"rate": f"{cluster.HOST_GBPS} Gbps", "buffer": self.host_buffer}
        return self.scheme.scenario(
            replace(cluster.BUFFERS, others=(*cluster.BUFFERS.others, port)),
            name="incast",
            until="all-flows-done",
            duration=f"{queries * PERIOD_MS + _LATE_MS} ms",
            topology=cluster.topology(),
            flows=[{**group, "clients": [client]} if client else group],
            measure=measure or {},
        )


def ideal_ms(senders: int) -> float:
    """Return the time of 1.5 MB on the client's link, after the first frame's way through the fabric.

    With a sender at the client's own leaf the minimum is a few microseconds less.
    """
    each = round(CHUNK_BYTES / senders)
    frames = np.ceil(each / MSS_BYTES)
    on_wire = senders * (each + frames * (HEADER_BYTES + OVERHEAD_BYTES))
    whole: float = cluster.idle_us(np.array([float(MSS_BYTES)]), np.array([False]))[0]
    rest = on_wire - (MSS_BYTES + HEADER_BYTES + OVERHEAD_BYTES)
    return float(whole + rest * 8 / (cluster.HOST_GBPS * 1e3)) / 1e3


def completion_ms(run: Run) -> Numbers:
    """From the moment of each query to the last byte of its last answer, of the queries that were answered whole."""
    answered = pl.col("delivered_ps").min() >= 0
    of_query = run.table("messages").group_by("query", maintain_order=True)
    queries = of_query.agg(pl.col("delivered_ps").max(), pl.col("started_ps").min(), answered=answered)
    queries = queries.filter(pl.col("answered"))
    times: Numbers = ((queries["delivered_ps"] - queries["started_ps"]) / 1e9).to_numpy()
    return times


def queries_begun(run: Run) -> int:
    return run.table("messages")["query"].n_unique()


def share(case: IncastCase, run: Run) -> Share:
    return Share(case.scheme.name, len(completion_ms(run)), queries_begun(run), "queries")


def cases() -> list[IncastCase]:
    return [IncastCase(scheme, senders) for scheme in COMPARED for senders in SENDERS]


@exhibit("afq/fig11", title="Completion time of an incast of 1.5 MB", headline=True)
class Figure11(Exhibit):
    """Mean over queries."""

    def points(self, context: Context) -> Iterable[Point]:
        queries = context.length("queries for each point", full=200, normal=50, quick=20)
        for case in cases():
            yield Point(case.key, case.scenario(queries), keep=("flows", "messages"))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        times = {(case.scheme.name, case.senders): completion_ms(runs[case.key]) for case in cases()}
        shares = {(case.scheme.name, case.senders): share(case, runs[case.key]) for case in cases()}
        yield from _near_ideal(times, shares)
        yield _degrades(times, shares)
        for (name, senders), sample in times.items():
            note = f"ideal {ideal_ms(senders):.3f} ms; longest {sample.max():.3g} ms"
            x, of = f"{senders} senders", (shares[name, senders],)
            yield mean_in_run(sample).row(name, x, "completion time", unit="ms", note=note, completed=of)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = []
        for scheme in COMPARED:
            means = [mean_in_run(completion_ms(runs[IncastCase(scheme, senders).key])) for senders in SENDERS]
            series.append(curve(scheme.name, [str(senders) for senders in SENDERS], means))
        ideal = [ideal_ms(senders) for senders in SENDERS]
        series.append(Series("ideal", [str(senders) for senders in SENDERS], ideal))
        yield Plot("Completion time", "senders", "completion time (ms)", series, y_scale="log")


Times = Mapping[tuple[str, int], Numbers]
Shares = Mapping[tuple[str, int], Share]


def _near_ideal(times: Times, shares: Shares) -> Iterator[Row]:
    for senders in SENDERS:
        x, sample, of = f"{senders} senders", times["AFQ", senders], (shares["AFQ", senders],)
        mean = mean_in_run(sample).scaled(1 / ideal_ms(senders))
        judge = Exact(_NEAR, better="lower")
        note = f"the paper: close to optimal; {_SETTINGS}"
        yield mean.row("AFQ", x, "completion time over ideal", 1.0, judge, note=note, completed=of)
        over = float(sample.mean() / times["Ideal-FQ", senders].mean())
        judged = Unjudged("the paper's claim is judged by the ideal time")
        both = (*of, shares["Ideal-FQ", senders])
        yield Row("AFQ", x, "completion time over Ideal-FQ", "times", over, judge=judged, completed=both)


def _degrades(times: Times, shares: Shares) -> Row:
    most = SENDERS[-1]
    tcp, dctcp, afq = (float(times[name, most].mean()) for name in ("TCP", "DCTCP", "AFQ"))
    statement = f"with {most} senders TCP is slower than DCTCP, and DCTCP slower than AFQ"
    metric = "completion time, the faster of TCP and DCTCP over it"
    note = f"TCP {tcp:.3f} ms, DCTCP {dctcp:.3f} ms, AFQ {afq:.3f} ms; {_SETTINGS}"
    judge = Shape(tcp > dctcp > afq, statement)
    of = tuple(shares[name, most] for name in ("TCP", "DCTCP", "AFQ"))
    value = min(tcp, dctcp) / afq
    return Row("AFQ", f"{most} senders", metric, "times", value, judge=judge, note=note, completed=of)
