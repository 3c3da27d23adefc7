"""What waits and what is dropped in the cluster, enterprise workload: figure 10."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from hitless.drawing.plot import Plot, Series, tail_series
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Factor, Point, Row, Runs, Shape, Unjudged, exhibit
from hitless_papers.afq import cluster, schemes
from hitless_papers.afq.cluster import ClusterCase
from hitless_papers.afq.flows import dropped_bytes_per_flow
from hitless_papers.afq.sizes import ENTERPRISE, FRAME_BYTES

_LOADS = (30, 50, 70, 90)
_LOAD = 70
"""Load of the distributions, an assumption."""
_PERIOD_US = 100
"""Between two snapshots of the buffers (section 6.2.3)."""
_DROPS = "bytes dropped per flow"
_QUEUE = "mean queue of a core port"
_FEW_PACKETS = 5
_RARELY_PERCENT = 1.0
"""What "rarely" may be: flows with more than five packets, of all that a snapshot finds in a buffer."""


@exhibit("afq/fig10", title="Drops, queue lengths and packets of a flow in the buffer")
class Figure10(Exhibit):
    """Five schemes at several loads; ports between leaves and spines are sampled."""

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = cluster.duration_ms(context, 10)
        snapshots = {"ports": cluster.core_ports(), "period": f"{_PERIOD_US} us", "per_flow": True}
        for case in self._cases():
            yield case.point(length_ms, {"queue": [snapshots]}, keep=("queues", "queue_flows", "drops", "links"))

    def _cases(self) -> list[ClusterCase]:
        return [ClusterCase(ENTERPRISE, load, scheme) for load in _LOADS for scheme in schemes.COMPARED]

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        drops = {case: dropped_bytes_per_flow(runs[case.key]) for case in self._cases()}
        queues = {case: _mean_queue_kb(runs[case.key]) for case in self._cases()}
        yield from _judged_drops({(case.scheme.name, case.load): value for case, value in drops.items()})
        yield _judged_queue({(case.scheme.name, case.load): value for case, value in queues.items()})
        for case in self._cases():
            x = f"{case.load} %"
            note = f"core links used to {100 * cluster.utilization(runs[case.key]):.0f} %"
            yield Row(case.scheme.name, x, _DROPS, "B", drops[case], note=note)
            yield Row(case.scheme.name, x, _QUEUE, "KB", queues[case], note=note)
        yield from self._packets_per_flow(runs)

    def _packets_per_flow(self, runs: Runs) -> Iterator[Row]:
        counts = {case.scheme.name: packets_of_flows(runs[case.key]) for case in self._cases() if case.load == _LOAD}
        metric = f"flows with more than {_FEW_PACKETS} packets in a core port's buffer"
        above = {name: (int((sample > _FEW_PACKETS).sum()), sample.size) for name, sample in counts.items()}
        shares = {name: 100 * many / size if size else 0.0 for name, (many, size) in above.items()}
        statement = (
            f"rarely (at most {_RARELY_PERCENT:g} %) more than five packets with AFQ; TCP and DCTCP have many more"
        )
        holds = shares["AFQ"] <= _RARELY_PERCENT and min(shares["TCP"], shares["DCTCP"]) >= 5 * shares["AFQ"]
        for name, (many, size) in above.items():
            if size == 0:
                yield Row(name, f"{_LOAD} %", metric, "%", None, judge=Unjudged("no packet was seen"))
                continue
            note = f"{many:,} of {size:,} counts, most {counts[name].max():,.0f} packets"
            judge = Shape(holds, statement) if name == "AFQ" else Unjudged()
            note = f"{note}; {schemes.PAIR_NOTE}" if name == "AFQ" else note
            yield Row(name, f"{_LOAD} %", metric, "%", shares[name], judge=judge, note=note)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for title, unit, value in (
            ("Bytes dropped per flow", "B", dropped_bytes_per_flow),
            ("Mean queue of a core port", "KB", _mean_queue_kb),
        ):
            series = [
                Series(
                    scheme.name,
                    [float(load) for load in _LOADS],
                    [value(runs[ClusterCase(ENTERPRISE, load, scheme).key]) for load in _LOADS],
                )
                for scheme in schemes.COMPARED
            ]
            yield Plot(title, "load (%)", f"{title.lower()} ({unit})", series)
        series = [
            tail_series(case.scheme.name, packets_of_flows(runs[case.key]))
            for case in self._cases()
            if case.load == _LOAD
        ]
        title = f"Packets of one flow in a core port's buffer, {_LOAD} % load"
        yield Plot(title, "packets of the flow", "share of flows at or above", series, y_scale="log")


def _mean_queue_kb(run: Run) -> float:
    return float(run.table("queues")["value_bytes"].mean()) / 1e3  # type: ignore[arg-type]


def packets_of_flows(run: Run) -> np.typing.NDArray[np.float64]:
    """Packets of each flow that has any, over all snapshots of all sampled buffers."""
    bars = run.table("queue_flows")
    return np.repeat(bars["packets"].to_numpy().astype(np.float64), bars["count"].to_numpy().astype(np.int64))


def _judged_drops(drops: Mapping[tuple[str, int], float]) -> Iterator[Row]:
    note = f"paper: one packet on average, at a load that it does not give; {schemes.TCP_NOTE}"
    yield Row("TCP", f"{_LOAD} %", _DROPS, "B", drops["TCP", _LOAD], FRAME_BYTES, judge=Factor(), note=note)
    low = drops["DCTCP", _LOADS[0]]
    statement = "DCTCP drops next to nothing at low load: less than one packet of a hundred flows"
    judge = Shape(low < FRAME_BYTES / 100, statement)
    yield Row("DCTCP", f"{_LOADS[0]} %", _DROPS, "B", low, judge=judge, note=schemes.TCP_NOTE)
    most = _LOADS[-1]
    yield _fewer_drops(drops, "TCP", most)
    yield _fewer_drops(drops, "DCTCP", most)


def _fewer_drops(drops: Mapping[tuple[str, int], float], rival: str, load: int) -> Row:
    """Section 6.2.3: "suffering fewer drops"."""
    ours, theirs = drops["AFQ", load], drops[rival, load]
    statement = f"AFQ drops less than {rival} at the highest load"
    judge = Shape(ours < theirs, statement) if ours or theirs else Unjudged(f"neither AFQ nor {rival} dropped a packet")
    note = f"{rival}: {theirs:.3g} B, {schemes.TCP_NOTE}; AFQ: {schemes.PAIR_NOTE}"
    return Row("AFQ", f"{load} %, beside {rival}", _DROPS, "B", ours, judge=judge, note=note)


def _judged_queue(queues: Mapping[tuple[str, int], float]) -> Row:
    load = _LOADS[-1]
    ours, dctcp, tcp = (queues[name, load] for name in ("AFQ", "DCTCP", "TCP"))
    statement = (
        "DCTCP and AFQ with packet pair keep queues a fifth of TCP's or shorter at the highest load, AFQ the shortest"
    )
    judge = Shape(ours < dctcp <= tcp / 5, statement)
    note = f"DCTCP {dctcp:.3g} KB, TCP {tcp:.3g} KB, {schemes.TCP_NOTE}; AFQ: {schemes.PAIR_NOTE}"
    return Row("AFQ", f"{load} %", _QUEUE, "KB", ours, judge=judge, note=note)
