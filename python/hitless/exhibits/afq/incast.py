"""Many servers answer one client at once: figures 11 and 12 (section 6.2.4).

The cluster of section 6.2, with 300 KB at the ports to hosts. A client asks N random servers for 1.5 MB, each for its
N-th part, all at the same moment; the next client asks when the answers are long in. The paper has a client on every
host; one at a time is an assumption.

Completion is when the last byte of the last answer has arrived. The ideal is 1.5 MB at the rate of the client's link
behind the way of one full frame.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.analysis import mean_interval
from hitless.exhibits import Context, Exact, Exhibit, Point, Row, Runs, Shape, exhibit
from hitless.exhibits.afq import cluster, schemes
from hitless.exhibits.afq.counters import dropped
from hitless.exhibits.afq.schemes import Scheme
from hitless.exhibits.afq.sizes import HEADER_BYTES, MSS_BYTES, OVERHEAD_BYTES
from hitless.plot import Plot, Series
from hitless.simulation import Run, Scenario

CHUNK_BYTES = 1_500_000
SENDERS = (8, 16, 32, 64, 128, 256)
_PERIOD_MS = 20
"""Between two queries: longer than any of them takes, several timeouts included."""
_HOST_BUFFER = {"rate": f"{cluster.HOST_GBPS} Gbps", "buffer": "300 KB"}
_BUFFERS = replace(cluster.BUFFERS, others=(*cluster.BUFFERS.others, _HOST_BUFFER))
_COMPARED = (*schemes.COMPARED, schemes.DCTCP_WINDOW_10)
_NEAR = 1.2
"""What "close to optimal" may be: over the ideal completion time."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A scheme and a number of senders."""

    scheme: Scheme
    senders: int

    @property
    def key(self) -> str:
        """The key of its run."""
        return f"{self.scheme.name} {self.senders} senders"

    def scenario(self, queries: int) -> Scenario:
        """Queries of random clients, one every 20 ms."""
        made = {
            "name": "incast",
            "until": "all-flows-done",
            "duration": "1000 s",
            "topology": cluster.topology(),
            "switch": self.scheme.switch(_BUFFERS),
            "transport": [{"name": "transport", **self.scheme.transport}],
            "flows": [
                {
                    "name": "answers",
                    "transport": "transport",
                    "kind": "incast",
                    "fan_in": self.senders,
                    "size": f"{round(CHUNK_BYTES / self.senders)} B",
                    "period": f"{_PERIOD_MS} ms",
                    "count": queries,
                }
            ],
        }
        mechanisms = self.scheme.mechanisms(_BUFFERS)
        return {**made, "mechanism": mechanisms} if mechanisms else made


def ideal_ms(senders: int) -> float:
    """1.5 MB through the client's link, behind the first frame's way through the fabric.

    Where a sender is at the client's own leaf the least is a few microseconds less.
    """
    each = round(CHUNK_BYTES / senders)
    frames = np.ceil(each / MSS_BYTES)
    on_wire = senders * (each + frames * (HEADER_BYTES + OVERHEAD_BYTES))
    whole: float = cluster.idle_us(np.array([float(MSS_BYTES)]), np.array([False]))[0]
    rest = on_wire - (MSS_BYTES + HEADER_BYTES + OVERHEAD_BYTES)
    return float(whole + rest * 8 / (cluster.HOST_GBPS * 1e3)) / 1e3


def completion_ms(run: Run) -> Numbers:
    """From the moment of each query to the last byte of its last answer that came."""
    of_query = run.completed_messages().group_by("query")
    queries = of_query.agg(pl.col("delivered_ps").max(), pl.col("started_ps").min())
    times: Numbers = ((queries["delivered_ps"] - queries["started_ps"]) / 1e9).to_numpy()
    return times


class _Incast(Exhibit):
    """All schemes with all numbers of senders."""

    def points(self, context: Context) -> Iterable[Point]:
        queries = context.length("queries for each point", full=200, normal=50, quick=20)
        for case in self._cases():
            yield Point(case.key, case.scenario(queries), keep=("flows", "messages"))

    def _cases(self) -> list[Case]:
        return [Case(scheme, senders) for scheme in _COMPARED for senders in SENDERS]


@exhibit("afq/fig11", title="Completion time of an incast of 1.5 MB", headline=True)
class Figure11(_Incast):
    """Mean over queries."""

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        times = {case: completion_ms(runs[case.key]) for case in self._cases()}
        means = {(case.scheme.name, case.senders): float(sample.mean()) for case, sample in times.items()}
        yield from _near_ideal(means)
        yield from _degrades(means)
        for case, sample in times.items():
            x = f"{case.senders} senders"
            value, interval = means[case.scheme.name, case.senders], mean_interval(sample)
            note = f"ideal {ideal_ms(case.senders):.3f} ms; longest {sample.max():.3g} ms"
            yield Row(case.scheme.name, x, "completion time", "ms", value, interval=interval, note=note)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = []
        for scheme in _COMPARED:
            samples = [completion_ms(runs[Case(scheme, senders).key]) for senders in SENDERS]
            means = [float(sample.mean()) for sample in samples]
            intervals = [mean_interval(sample) for sample in samples]
            series.append(Series(scheme.name, [str(senders) for senders in SENDERS], means, intervals))
        ideal = [ideal_ms(senders) for senders in SENDERS]
        series.append(Series("ideal", [str(senders) for senders in SENDERS], ideal))
        yield Plot("Completion time", "senders", "completion time (ms)", series, y_scale="log")


def _near_ideal(means: dict[tuple[str, int], float]) -> Iterator[Row]:
    for senders in SENDERS:
        over = means["AFQ", senders] / ideal_ms(senders)
        statement = f"AFQ is close to the ideal, at most {_NEAR} times it, with any number of senders"
        x = f"{senders} senders"
        yield Row("AFQ", x, "completion time over ideal", "times", over, judge=Shape(over <= _NEAR, statement))
        over = means["AFQ", senders] / means["Ideal-FQ", senders]
        yield Row("AFQ", x, "completion time over Ideal-FQ", "times", over, 1.0, judge=Exact(0.15))


def _degrades(means: dict[tuple[str, int], float]) -> Iterator[Row]:
    most = SENDERS[-1]
    for name in ("TCP", "DCTCP"):
        over = means[name, most] / means["AFQ", most]
        statement = f"with {most} senders TCP is slower than DCTCP, and DCTCP slower than AFQ"
        holds = means["TCP", most] > means["DCTCP", most] > means["AFQ", most]
        metric = "completion time, over AFQ"
        yield Row(name, f"{most} senders", metric, "times", over, judge=Shape(holds, statement))


@exhibit("afq/fig12", title="Drops, retransmissions and buffer during an incast of 1.5 MB")
class Figure12(_Incast):
    """For each query."""

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        drops = {(c.scheme.name, c.senders): _for_each_query(runs[c.key], dropped(runs[c.key])) for c in self._cases()}
        yield from _orderings(drops)
        for case in self._cases():
            run, x = runs[case.key], f"{case.senders} senders"
            again = int(run.table("flows")["packets_retransmitted"].sum())
            timeouts = int(run.table("flows")["timeouts"].sum())
            yield Row(case.scheme.name, x, "packets dropped for each query", "", drops[case.scheme.name, case.senders])
            metric = "packets retransmitted for each query"
            yield Row(
                case.scheme.name, x, metric, "", _for_each_query(run, again), note=f"{timeouts:,} timeouts in all"
            )

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        x = [str(senders) for senders in SENDERS]
        for title, count in (("dropped", dropped), ("retransmitted", _retransmitted)):
            series = []
            for scheme in _COMPARED:
                picked = [runs[Case(scheme, senders).key] for senders in SENDERS]
                series.append(Series(scheme.name, x, [_for_each_query(run, count(run)) for run in picked]))
            yield Plot(f"Packets {title} for each query", "senders", f"packets {title}", series)


def _retransmitted(run: Run) -> int:
    return int(run.table("flows")["packets_retransmitted"].sum())


def _for_each_query(run: Run, count: int) -> float:
    """Over the queries that had an answer."""
    return count / run.completed_messages()["query"].n_unique()


def _orderings(drops: dict[tuple[str, int], float]) -> Iterator[Row]:
    most = SENDERS[-1]
    statement = "AFQ drops fewer packets than DCTCP, and DCTCP fewer than TCP"
    holds = drops["AFQ", most] < drops["DCTCP", most] < drops["TCP", most]
    for name in ("AFQ", "DCTCP", "TCP"):
        metric, value = "packets dropped for each query, ordering", drops[name, most]
        yield Row(name, f"{most} senders", metric, "", value, judge=Shape(holds, statement))
    few = [senders for senders in SENDERS if senders * MSS_BYTES < 300_000]
    statement = "DCTCP drops nothing until there are more senders than the buffer holds packets"
    lost = sum(drops["DCTCP", senders] for senders in few)
    yield Row("DCTCP", f"up to {few[-1]} senders", "packets dropped for each query", "", lost,
              judge=Shape(lost == 0, statement))  # fmt: skip
