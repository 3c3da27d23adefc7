"""Parameters of AFQ in the cluster, enterprise workload: figure 17 (appendices C, D and E)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from hitless.exhibits import Context, Exhibit, Factor, Point, Row, Runs, Shape, exhibit
from hitless.exhibits.afq import cluster, schemes, statistics
from hitless.exhibits.afq.cluster import Case
from hitless.exhibits.afq.counters import misestimated_percent
from hitless.exhibits.afq.flows import Compared
from hitless.exhibits.afq.schemes import Scheme
from hitless.exhibits.afq.sizes import ENTERPRISE
from hitless.plot import Plot, Series

_LOAD = 70
"""The text gives none; that of the size buckets of figures 8 and 9."""
_QUEUES = (4, 8, 12, 16, 20, 24, 32)
_PLATEAU = 16
_SKETCHES = ((1, 1_024), (2, 128), (2, 512), (2, 1_024), (2, 2_048), (4, 512), (4, 1_024), (2, 16_384))
_PAPER_SKETCH = (2, 1_024)
_PAPER_PERCENT = 1.0

_END_HOSTS = (
    Scheme("TCP+AFQ", schemes.TCP, afq=schemes.AFQ),
    Scheme("DCTCP+AFQ", schemes.DCTCP, afq=schemes.AFQ),
    replace(schemes.PAIR_AFQ, name="packet-pair+AFQ"),
    replace(schemes.DROP_TAIL, name="TCP+drop-tail"),
    replace(schemes.IDEAL, name="packet-pair+Ideal-FQ"),
)


def _queues(number: int) -> Scheme:
    """Marking from 8 rounds on, or below the last when there are fewer queues."""
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
            yield case.point(length_ms, keep=("mechanisms",))

    def _cases(self, *of: Scheme) -> list[Case]:
        return [Case(ENTERPRISE, _LOAD, scheme) for scheme in of]

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        compared = cluster.compared(runs, self._cases(*_schemes()))
        yield from _queue_rows(compared)
        yield from _host_rows(compared)
        yield from _sketch_rows({sketch: _misestimated(runs, sketch) for sketch in _SKETCHES})

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        compared = cluster.compared(runs, self._cases(*_schemes()))
        means = [_slowdown(compared, _queues(number)) for number in _QUEUES]
        values = Series("AFQ", [float(number) for number in _QUEUES], means)
        yield Plot("Mean FCT by number of queues", "queues", "FCT over that in an idle network (times)", [values])
        names = [scheme.name for scheme in _END_HOSTS]
        hosts = Series("AFQ", names, [_slowdown(compared, scheme) for scheme in _END_HOSTS], style="bars")
        yield Plot("Mean FCT by transport", "transport and switch", "FCT over that in an idle network (times)", [hosts])
        shares = [_misestimated(runs, sketch) for sketch in _SKETCHES]
        sketches = Series("AFQ", [_title(*sketch) for sketch in _SKETCHES], shares, style="bars")
        yield Plot(
            "Packets queued too late", "sketch: rows x columns", "share of packets (%)", [sketches], y_scale="log"
        )


def _schemes() -> list[Scheme]:
    return [*map(_queues, _QUEUES), *_END_HOSTS, *(_sketch(*size) for size in _SKETCHES)]


def _title(rows: int, columns: int) -> str:
    return f"{rows} x {columns:,}"


def _slowdown(compared: Compared, scheme: Scheme) -> float:
    return statistics.mean_ratio(compared.all, scheme.name, "idle_us")[0]


def _queue_rows(compared: Compared) -> Iterator[Row]:
    means = {number: _slowdown(compared, _queues(number)) for number in _QUEUES}
    most = means[_QUEUES[-1]]
    plateau = [mean for number, mean in means.items() if number >= _PLATEAU]
    holds = max(plateau) <= 1.1 * most and means[_QUEUES[0]] > 1.1 * most
    statement = f"no gain beyond 16 to 20 queues (within 10 %), a loss with {_QUEUES[0]}"
    for number in _QUEUES:
        value, interval = statistics.mean_ratio(compared.all, _queues(number).name, "idle_us")
        judge = Shape(holds, statement)
        yield Row("AFQ", f"{number} queues", "mean FCT, normalized", "times", value, interval=interval, judge=judge)


def _host_rows(compared: Compared) -> Iterator[Row]:
    means = [_slowdown(compared, scheme) for scheme in _END_HOSTS[:3]]
    holds = means[0] > means[1] > means[2]
    statement = "with AFQ in the switches DCTCP is better than TCP, and packet pair better than DCTCP"
    for scheme in _END_HOSTS:
        value, interval = statistics.mean_ratio(compared.all, scheme.name, "idle_us")
        row = Row(scheme.name, f"{_LOAD} %", "mean FCT, normalized", "times", value, interval=interval)
        yield replace(row, judge=Shape(holds, statement)) if scheme in _END_HOSTS[:3] else row
    gain, interval = statistics.mean_ratio(compared.all, "TCP+drop-tail", "TCP+AFQ")
    judge = Shape(gain > 1.1, "TCP gains significantly, a tenth or more, when switches change from drop-tail to AFQ")
    metric = "mean FCT, TCP with drop-tail over it"
    yield Row("TCP+AFQ", f"{_LOAD} %", metric, "times", gain, interval=interval, judge=judge)


def _misestimated(runs: Runs, sketch: tuple[int, int]) -> float:
    """Percent of packets."""
    return misestimated_percent(runs[Case(ENTERPRISE, _LOAD, _sketch(*sketch)).key])


def _sketch_rows(shares: Mapping[tuple[int, int], float]) -> Iterator[Row]:
    metric = "packets queued later than their bid asks for"
    for sketch, share in shares.items():
        judged = sketch == _PAPER_SKETCH
        row = Row("AFQ", _title(*sketch), metric, "%", share)
        note = "paper: below 1 %"
        yield replace(row, paper=_PAPER_PERCENT, judge=Factor(1.0, better="lower"), note=note) if judged else row
    columns, rows = shares[2, 2_048], shares[4, 1_024]
    statement = "twice the columns reduce mis-estimation more than twice the rows"
    x = f"{_title(2, 2_048)} and {_title(4, 1_024)}"
    ratio = rows / columns if columns else float("inf")
    yield Row("AFQ", x, f"{metric}: twice the rows over twice the columns", "times", ratio,
              judge=Shape(columns < rows, statement))  # fmt: skip
