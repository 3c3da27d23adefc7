"""Parameters of AFQ in the cluster, enterprise workload: figure 17 (appendices C, D and E)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from hitless.analysis import proportion_interval
from hitless.drawing.plot import Plot, Series
from hitless_papers import (
    Context,
    Exact,
    Exhibit,
    Point,
    Range,
    Row,
    Runs,
    Shape,
    Unjudged,
    above_one,
    at_most,
    exhibit,
)
from hitless_papers.afq import cluster, ratios, schemes
from hitless_papers.afq.cluster import ClusterCase
from hitless_papers.afq.flows import ALL_FLOWS, Compared, misestimated
from hitless_papers.afq.load_sweep import TOLERANCE
from hitless_papers.afq.schemes import Scheme
from hitless_papers.afq.sizes import ENTERPRISE

_LOAD = 70
"""An assumption: the load of the size buckets of figures 8 and 9."""
_QUEUES = (4, 8, 12, 16, 20, 24, 32)
_PLATEAU = 16
_LEVEL = 0.1
"""What "no gain" may be."""
_SKETCHES = ((1, 128), (2, 64), (2, 128), (4, 64), (2, 512), (4, 512), (2, 1_024), (2, 16_384))
_PAPER_SKETCH = (2, 1_024)
_PAPER_PERCENT = 1.0
_WIDER, _DEEPER = (2, 128), (4, 64)
"""Twice the columns, and twice the rows, of a sketch so small that both are wrong at times."""

_AFQ_HOSTS = (
    Scheme("TCP+AFQ", schemes.TCP, afq=schemes.AFQ),
    Scheme("DCTCP+AFQ", schemes.DCTCP, afq=schemes.AFQ),
    replace(schemes.PAIR_AFQ, name="packet-pair+AFQ"),
)
_DROP_TAIL = replace(schemes.DROP_TAIL, name="TCP+drop-tail")
_IDEAL_HOSTS = replace(schemes.IDEAL, name="packet-pair+Ideal-FQ")
_END_HOSTS = (*_AFQ_HOSTS, _DROP_TAIL, _IDEAL_HOSTS)


def _queues(number: int) -> Scheme:
    """Mark in 8 or more rounds, or below the last round if there are fewer queues."""
    made = schemes.PAIR_AFQ.with_afq(queues=number, ecn_rounds=min(8, number - 1))
    return replace(made, name=f"{number} queues")


def _sketch(rows: int, columns: int) -> Scheme:
    made = schemes.PAIR_AFQ.with_afq(sketch={"rows": rows, "columns": columns}, measure_estimation=True)
    return replace(made, name=f"sketch {rows} x {columns}")


@exhibit("afq/fig17", title="Number of queues, transports at the hosts, and size of the sketch")
class Figure17(Exhibit):
    """Mean completion times of all flows, and how often a packet is queued later than its bid asks for."""

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = cluster.duration_ms(context, 10)
        for case in self._cases(*_schemes()):
            yield case.point(length_ms, keep=("mechanisms", "links"))

    def _cases(self, *of: Scheme) -> list[ClusterCase]:
        return [ClusterCase(ENTERPRISE, _LOAD, scheme) for scheme in of]

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        compared = cluster.compared(runs, self._cases(*_schemes()))
        used = 100 * cluster.utilization(runs[ClusterCase(ENTERPRISE, _LOAD, _queues(_QUEUES[-1])).key])
        reached = f"core links used to {used:.0f} %"
        yield from _queue_rows(compared, f"{reached}; {schemes.PAIR_NOTE}")
        yield from _host_rows(compared, f"{reached}; {schemes.TCP_NOTE}; packet pair: {schemes.PAIR_NOTE}")
        yield from _sketch_rows({sketch: _misestimated(runs, sketch) for sketch in _SKETCHES})

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        compared = cluster.compared(runs, self._cases(*_schemes()))
        means = [ratios.normalized_mean(compared, _queues(number).name).value for number in _QUEUES]
        values = Series("AFQ", [float(number) for number in _QUEUES], means)
        yield Plot("Mean FCT by number of queues", "queues", "FCT over that in an idle network (times)", [values])
        names = [scheme.name for scheme in _END_HOSTS]
        means = [ratios.normalized_mean(compared, name).value for name in names]
        hosts = Series("AFQ", names, means, style="bars")
        yield Plot("Mean FCT by transport", "transport and switch", "FCT over that in an idle network (times)", [hosts])
        counts = [_misestimated(runs, sketch) for sketch in _SKETCHES]
        shares = [100 * later / checked if checked else None for later, checked in counts]
        sketches = Series("AFQ", [_title(*sketch) for sketch in _SKETCHES], shares, style="bars")
        yield Plot(
            "Packets queued too late", "sketch: rows x columns", "share of packets (%)", [sketches], y_scale="log"
        )


def _schemes() -> list[Scheme]:
    return [*map(_queues, _QUEUES), *_END_HOSTS, *(_sketch(*size) for size in _SKETCHES)]


def _title(rows: int, columns: int) -> str:
    return f"{rows} x {columns:,}"


def _queue_rows(compared: Compared, note: str) -> Iterator[Row]:
    metric = f"mean FCT of {ALL_FLOWS}, over"
    most, least = _queues(_QUEUES[-1]).name, _queues(_QUEUES[0]).name
    enough = _queues(_PLATEAU).name
    statement = f"with {_QUEUES[0]} queues flows take longer than with {_QUEUES[-1]}"
    loss = ratios.mean(compared, least, most)
    slower = above_one(statement, nothing="no flow finished")
    yield loss.row("AFQ", least, f"{metric} {most}", judge=slower, note=note)
    gain = ratios.mean(compared, enough, most)
    words = "no gain beyond 16 to 20 queues"
    yield gain.row("AFQ", enough, f"{metric} {most}", 1.0, Exact(_LEVEL), note=f"{words}; {note}")
    ideal = ratios.mean(compared, enough, _IDEAL_HOSTS.name)
    judge = Exact(TOLERANCE, better="lower")
    yield ideal.row("AFQ", enough, f"{metric} {_IDEAL_HOSTS.name}", 1.0, judge, note=f"near ideal; {note}")
    for number in _QUEUES:
        name = _queues(number).name
        yield ratios.normalized_mean(compared, name).row("AFQ", name, f"mean FCT of {ALL_FLOWS}, normalized")


def _host_rows(compared: Compared, note: str) -> Iterator[Row]:
    tcp, dctcp, pair = (scheme.name for scheme in _AFQ_HOSTS)
    for slower, faster, statement in (
        (tcp, dctcp, "with AFQ in the switches DCTCP is better than TCP"),
        (dctcp, pair, "with AFQ in the switches packet pair is better than DCTCP"),
        (_DROP_TAIL.name, tcp, "TCP gains when switches change from drop-tail to AFQ"),
    ):
        ratio = ratios.mean(compared, slower, faster)
        judge = above_one(statement, nothing="no flow finished")
        yield ratio.row(faster, f"{_LOAD} %", f"mean FCT of {ALL_FLOWS}, {slower} over it", judge=judge, note=note)
    for scheme in _END_HOSTS:
        ratio = ratios.normalized_mean(compared, scheme.name)
        yield ratio.row(scheme.name, f"{_LOAD} %", f"mean FCT of {ALL_FLOWS}, normalized")


def _misestimated(runs: Runs, sketch: tuple[int, int]) -> tuple[int, int]:
    """Count the packets in a later queue than their bid asks for, and all checked packets."""
    return misestimated(runs[ClusterCase(ENTERPRISE, _LOAD, _sketch(*sketch)).key])


def _sketch_rows(counts: Mapping[tuple[int, int], tuple[int, int]]) -> Iterator[Row]:
    metric = "packets queued later than their bid asks for"
    for sketch, (later, checked) in counts.items():
        x, note = _title(*sketch), f"{later:,} of {checked:,} packets"
        if checked == 0:
            yield Row("AFQ", x, metric, "%", None, judge=Unjudged("0 of 0 packets"))
            continue
        interval = proportion_interval(later, checked).scaled(100)
        row = Row("AFQ", x, metric, "%", 100 * later / checked, interval=interval, note=note)
        judge = at_most(_PAPER_PERCENT, f"below {_PAPER_PERCENT:g} %")
        yield replace(row, paper=Range(high=_PAPER_PERCENT), judge=judge) if sketch == _PAPER_SKETCH else row
    yield _columns_or_rows(counts[_WIDER], counts[_DEEPER], metric)


def _columns_or_rows(wider: tuple[int, int], deeper: tuple[int, int], metric: str) -> Row:
    statement = "twice the columns reduce mis-estimation more than twice the rows"
    x = f"{_title(*_WIDER)} and {_title(*_DEEPER)}"
    (columns, of_columns), (rows, of_rows) = wider, deeper
    note = f"{rows:,} of {of_rows:,} and {columns:,} of {of_columns:,} packets"
    metric = f"{metric}: twice the rows over twice the columns"
    if not (rows or columns) or not (of_rows and of_columns):
        return Row("AFQ", x, metric, "times", None, judge=Unjudged("neither sketch was wrong"), note=note)
    first, second = proportion_interval(rows, of_rows), proportion_interval(columns, of_columns)
    judge: Shape | Unjudged = Unjudged("the intervals of the two shares overlap")
    if first.low > second.high or first.high < second.low:
        judge = Shape(first.low > second.high, statement)
    ratio = rows / of_rows / (columns / of_columns) if columns else None
    return Row("AFQ", x, metric, "times", ratio, judge=judge, note=note)
