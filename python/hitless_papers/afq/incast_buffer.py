"""Drops, retransmissions and the buffer during an incast: figure 12 (section 6.2.4)."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from hitless.analysis import jain_index, percentile
from hitless.analysis.intervals import Numbers
from hitless.drawing.plot import Plot, Series, tail_series
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Point, Row, Runs, Shape, Unjudged, exhibit
from hitless_papers.afq import schemes
from hitless_papers.afq.buffers import packets_of_flows
from hitless_papers.afq.flows import dropped
from hitless_papers.afq.incast import COMPARED, SENDERS, IncastCase, cases, queries_begun
from hitless_papers.afq.sizes import FRAME_BYTES

_CLIENT, _CLIENT_PORT = "h0", "leaf0->h0"
_SNAPSHOT_US = 10
_BUFFER_BYTES = 300_000
_DROPS, _AGAIN = "packets dropped for each query", "packets retransmitted for each query"
_OF_A_FLOW = "packets of a flow in the buffer"


@exhibit("afq/fig12", title="Drops, retransmissions and buffer during an incast of 1.5 MB")
class Figure12(Exhibit):
    """For each query; the port to the client is sampled."""

    def points(self, context: Context) -> Iterable[Point]:
        queries = context.length("queries for each point", full=200, normal=50, quick=20)
        snapshots = {"ports": [_CLIENT_PORT], "period": f"{_SNAPSHOT_US} us", "per_flow": True}
        tables = ("flows", "messages", "queues", "queue_flows")
        for case in cases():
            yield Point(case.key, case.scenario(queries, _CLIENT, {"queue": [snapshots]}), keep=tables)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        drops = {(c.scheme.name, c.senders): _for_each_query(runs[c.key], dropped) for c in cases()}
        held = {(c.scheme.name, c.senders): packets_of_flows(runs[c.key]) for c in cases()}
        yield from _judged_drops(drops)
        yield _evenness(held)
        for case in cases():
            run, x, name = runs[case.key], f"{case.senders} senders", case.scheme.name
            timeouts = int(run.table("flows")["timeouts"].sum())
            yield Row(name, x, _DROPS, "", drops[name, case.senders])
            again = _for_each_query(run, _retransmitted)
            yield Row(name, x, _AGAIN, "", again, note=f"{timeouts:,} timeouts in all")
            queue = run.table("queues")["value_bytes"].to_numpy()
            note = f"snapshots every {_SNAPSHOT_US} us in which something waited"
            waiting = queue[queue > 0]
            if waiting.size:
                yield Row(name, x, "mean queue of the client's port", "KB", float(waiting.mean()) / 1e3, note=note)
                yield Row(name, x, "longest queue of the client's port", "KB", float(waiting.max()) / 1e3)
            yield from _of_a_flow(name, x, held[name, case.senders])

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        x = [str(senders) for senders in SENDERS]
        for title, count in (("dropped", dropped), ("retransmitted", _retransmitted)):
            series = []
            for scheme in COMPARED:
                picked = [runs[IncastCase(scheme, senders).key] for senders in SENDERS]
                series.append(Series(scheme.name, x, [_for_each_query(run, count) for run in picked]))
            yield Plot(f"Packets {title} for each query", "senders", f"packets {title}", series)
        most = SENDERS[-1]
        series = [tail_series(s.name, packets_of_flows(runs[IncastCase(s, most).key])) for s in COMPARED]
        title = f"Packets of one flow in the client's port, {most} senders"
        yield Plot(title, "packets of the flow", "share of flows at or above", series, y_scale="log")


def _retransmitted(run: Run) -> int:
    return int(run.table("flows")["packets_retransmitted"].sum())


def _for_each_query(run: Run, count: Callable[[Run], int]) -> float:
    return count(run) / queries_begun(run)


def _of_a_flow(name: str, x: str, packets: Numbers) -> Iterator[Row]:
    if packets.size:
        note = f"flows that have any; {packets.size:,} counts"
        yield Row(name, x, f"mean {_OF_A_FLOW}", "", float(packets.mean()), note=note)
        yield Row(name, x, f"p99 {_OF_A_FLOW}", "", percentile(packets, 99))
        yield Row(name, x, f"most {_OF_A_FLOW}", "", float(packets.max()))


def _judged_drops(drops: Mapping[tuple[str, int], float]) -> Iterator[Row]:
    most = SENDERS[-1]
    tcp, dctcp, afq = (drops[name, most] for name in ("TCP", "DCTCP", "AFQ"))
    statement = "AFQ drops fewer packets than DCTCP, and DCTCP fewer than TCP"
    note = f"DCTCP {dctcp:.4g}, TCP {tcp:.4g}; {schemes.TCP_NOTE}; AFQ: {schemes.PAIR_NOTE}"
    judge = Shape(afq < dctcp < tcp, statement) if afq or dctcp or tcp else Unjudged("none of them dropped a packet")
    yield Row("AFQ", f"{most} senders", f"{_DROPS}, ordering", "", afq, judge=judge, note=note)
    yield from (_none_until_full(name, drops) for name in (schemes.DCTCP_MARKING.name, schemes.DCTCP_WINDOW_10.name))


def _none_until_full(name: str, drops: Mapping[tuple[str, int], float]) -> Row:
    """DCTCP "suffers zero packet drops until the number of senders exceeds the link buffer capacity"."""
    holds_packets = _BUFFER_BYTES // FRAME_BYTES
    free = [senders for senders in SENDERS if drops[name, senders] == 0]
    holds = all(senders in free for senders in SENDERS if senders <= holds_packets)
    judge = Shape(holds, f"{name} drops nothing until there are more senders than the buffer holds packets")
    note = f"the buffer holds {holds_packets}; a window of {schemes.INITIAL_WINDOW} was inferred from this statement"
    return Row(
        name, "up to the buffer", "most senders without a drop", "", max(free, default=0), judge=judge, note=note
    )


def _evenness(held: Mapping[tuple[str, int], Numbers]) -> Row:
    """Figure 12 (c): "it distributes the available buffer space in a fair manner among all flows"."""
    most = SENDERS[-1]
    metric = f"1 - Jain's index of the {_OF_A_FLOW}, all snapshots together"
    samples = {name: held[name, most] for name in ("TCP", "DCTCP", "AFQ")}
    if not all(sample.size for sample in samples.values()):
        return Row("AFQ", f"{most} senders", metric, "", None, judge=Unjudged("no packet was seen"))
    uneven = {name: 1 - jain_index(sample) for name, sample in samples.items()}
    statement = "with AFQ flows share the buffer more evenly than with TCP and DCTCP"
    judge = Shape(uneven["AFQ"] < min(uneven["TCP"], uneven["DCTCP"]), statement)
    note = f"TCP {uneven['TCP']:.3g}, DCTCP {uneven['DCTCP']:.3g}; {schemes.TCP_NOTE}; AFQ: {schemes.PAIR_NOTE}"
    return Row("AFQ", f"{most} senders", metric, "", uneven["AFQ"], judge=judge, note=note)
