"""Completion time against flow size at 70 % load: figure 15 (appendix B)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from hitless.drawing.plot import Plot, Series
from hitless_papers import Context, Exhibit, Point, Row, Runs, Shape, Unjudged, exhibit
from hitless_papers.afq import cluster, ratios, schemes
from hitless_papers.afq.cluster import ClusterCase
from hitless_papers.afq.flows import Compared
from hitless_papers.afq.sizes import ENTERPRISE

_LOAD = 70
_EDGES_BYTES = tuple(float(edge) for edge in np.round(np.geomspace(1e2, 1e7, 11)))
"""Two ranges of size for each power of ten."""
_LEAST_FLOWS = 30
"""A range with fewer flows says little."""


@exhibit("afq/fig15", title="Completion time against flow size at 70 % load")
class Figure15(Exhibit):
    """The ideal is a straight line: the time in an idle network, times a factor independent of the size."""

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = cluster.duration_ms(context, 20)
        for case in self._cases():
            yield case.point(length_ms)

    def _cases(self) -> list[ClusterCase]:
        return [ClusterCase(ENTERPRISE, _LOAD, scheme) for scheme in schemes.COMPARED]

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        compared = cluster.compared(runs, self._cases())
        ranges = _ranges(compared)
        complete = {title: flows for title, flows in ranges.items() if all(share.is_complete for share in flows.shares)}
        yield from _spreads(complete, [title for title in ranges if title not in complete])
        for name in compared.names:
            for title, flows in ranges.items():
                yield ratios.normalized_mean(flows, name).row(name, title, "mean FCT, normalized")

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        compared = cluster.compared(runs, self._cases())
        ranges = _ranges(compared)
        sizes = [_mean(flows, "bytes") for flows in ranges.values()]
        series = [Series(name, sizes, [_mean(flows, name) for flows in ranges.values()]) for name in compared.names]
        series.append(Series("idle network", sizes, [_mean(flows, "idle_us") for flows in ranges.values()]))
        yield Plot("Mean FCT by size", "size (B)", "FCT (us)", series, x_scale="log", y_scale="log")


def _spreads(ranges: Mapping[str, Compared], left_out: Sequence[str]) -> Iterator[Row]:
    metric = "FCT over that in an idle network: largest range over least"
    names = [scheme.name for scheme in schemes.COMPARED]
    if not ranges:
        reason = "no range of sizes of which 95 % finished under every scheme"
        yield from (Row(name, f"{_LOAD} %", metric, "times", None, judge=Unjudged(reason)) for name in names)
        return
    slowdowns = {
        name: [ratios.normalized_mean(flows, name).value or 0.0 for flows in ranges.values()] for name in names
    }
    spreads = {name: max(values) / min(values) for name, values in slowdowns.items()}
    statement = "closer to a straight line with AFQ than with TCP, DCTCP and SFQ"
    judge = Shape(all(spreads["AFQ"] < spreads[name] for name in ("TCP", "DCTCP", "SFQ")), statement)
    x = f"{_LOAD} %, {next(iter(ranges))} to {list(ranges)[-1]}"
    without = f"; without {', '.join(left_out)}, of which less finished" if left_out else ""
    note = f"{schemes.TCP_NOTE}; {schemes.PAIR_NOTE}; ranges of which 95 % finished under every scheme{without}"
    for name, spread in spreads.items():
        yield Row(name, x, metric, "times", spread, judge=judge if name == "AFQ" else Unjudged(), note=note)


def _ranges(compared: Compared) -> Mapping[str, Compared]:
    groups = {f"{_short(low)}-{_short(high)}": compared.of_sizes(low, high) for low, high in pairwise(_EDGES_BYTES)}
    return {title: flows for title, flows in groups.items() if len(flows.table) >= _LEAST_FLOWS}


def _short(size_bytes: float) -> str:
    for unit, factor in (("MB", 1e6), ("KB", 1e3)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.3g} {unit}"
    return f"{size_bytes:.3g} B"


def _mean(flows: Compared, column: str) -> float:
    return float(flows.table[column].mean())  # type: ignore[arg-type]
