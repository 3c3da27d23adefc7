"""Exhibits of several cases along an axis, with the paper's sentences about them as rows."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from hitless.exhibits import Context, Exhibit, Factor, Point, Row, Runs, Shape
from hitless.exhibits.deflection import metrics
from hitless.exhibits.deflection.metrics import Measured, Metric
from hitless.exhibits.deflection.setting import DURATION_MS, Case
from hitless.plot import Plot, Series

Position: TypeAlias = Callable[[Case], float | str]

QCT: Sequence[Metric] = (metrics.MEAN_QCT, metrics.P99_QCT)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper: by how much a metric of one case is above that of another."""

    metric: Metric
    above: Case
    below: Case
    paper: float
    """The quotient that the sentence gives, above 1 where ``above`` is the larger."""
    note: str = ""
    better: Literal["lower", "higher"] | None = None
    """Which direction is better for the paper's own scheme."""

    def row(self, measured: Measured) -> Row:
        """The quotient that was measured, judged."""
        value = measured.ratio(self.metric, self.above, self.below)
        interval = measured.ratio_interval(self.metric, self.above, self.below)
        judge = Factor(better=self.better, winner_above=1.0)
        metric = f"{self.metric.name}, over {self._other}"
        return Row(self.above.title, self.above.x, metric, "times", value, self.paper, interval, judge, self.note)

    def whole_row(self, measured: Measured) -> Row | None:
        """The same with unfinished queries counted, beside the paper's and not judged by it."""
        metric = metrics.WHOLE.get(self.metric.name)
        if metric is None:
            return None
        value = measured.ratio(metric, self.above, self.below)
        interval = measured.ratio_interval(metric, self.above, self.below)
        return Row(
            self.above.title, self.above.x, f"{metric.name}, over {self._other}", "times", value, interval=interval
        )

    @property
    def _other(self) -> str:
        """What the two cases differ in."""
        return self.below.title if self.below.title != self.above.title else f"{self.below.title} at {self.below.x}"


class Sweep(Exhibit):
    """Cases by effort; claims about those that ran; values of all."""

    quick_ms: ClassVar[int] = 25
    normal_ms: ClassVar[int] = 100
    shown: ClassVar[Sequence[Metric]] = QCT
    """What is plotted, and has a row for each case."""
    axis: ClassVar[str] = "load (%)"

    @abstractmethod
    def cases(self, context: Context) -> Sequence[Case]:
        """The runs."""

    def claims(self) -> Iterable[Claim]:
        """What the paper says of them."""
        return ()

    def further_rows(self, measured: Measured, ran: Mapping[str, Case]) -> Iterable[Row]:
        """Shapes, and what else there is to say."""
        return ()

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = context.length("ms of traffic", full=DURATION_MS, normal=self.normal_ms, quick=self.quick_ms)
        self._ran = {case.key: case for case in self.cases(context)}
        # The longest first, so that all cores have work to the end.
        for case in sorted(self._ran.values(), key=lambda case: -case.percent):
            yield case.point(length_ms)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        measured = self._measured = Measured(runs)
        for claim in self.claims():
            if claim.above.key in self._ran and claim.below.key in self._ran:
                yield claim.row(measured)
                whole = claim.whole_row(measured)
                if whole is not None:
                    yield whole
        yield from self.further_rows(measured, self._ran)
        for case in self._ran.values():
            yield from self._values(measured, case)

    def _values(self, measured: Measured, case: Case) -> Iterator[Row]:
        for metric in (*self.shown, *(metrics.WHOLE[m.name] for m in self.shown if m.name in metrics.WHOLE)):
            value, interval = measured.value(metric, case), measured.interval(metric, case)
            yield Row(case.title, case.x, metric.name, metric.unit, value, interval=interval)
        queries = measured.sample(metrics.MEAN_QCT, case)
        note = f"of {queries.is_complete.size:,}"
        yield Row(case.title, case.x, "queries complete", "%", 100 * queries.complete_share, note=note)
        yield Row(case.title, case.x, metrics.DROPPED.name, "%", measured.value(metrics.DROPPED, case))

    def position(self, case: Case) -> float | str:
        """Where a case is on the axis."""
        return float(case.percent)

    def panel(self, case: Case) -> str:
        """Which plot a case is in."""
        return " ".join(part for part in (case.transport, case.fabric.name, case.preset.note) if part)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        measured = self._measured
        for panel in dict.fromkeys(self.panel(case) for case in self._ran.values()):
            cases = [case for case in self._ran.values() if self.panel(case) == panel]
            for metric in self.shown:
                series = list(_series(measured, metric, cases, self.position))
                title = f"{metric.name[0].upper()}{metric.name[1:]}, {panel}"
                yield Plot(title, self.axis, f"{metric.name} ({metric.unit})", series, y_scale="log")


def before(measured: Measured, metric: Metric, better: Case, worse: Case) -> Row:
    """Is one case faster than another? The paper shows so."""
    value = measured.ratio(metric, worse, better)
    judge = Shape(value is not None and value > 1, f"{better.title} is before {worse.title}")
    interval = measured.ratio_interval(metric, worse, better)
    name = f"{metric.name} of {worse.title} over it"
    return Row(better.title, better.x, name, "times", value, interval=interval, judge=judge)


def _series(measured: Measured, metric: Metric, cases: Sequence[Case], position: Position) -> Iterator[Series]:
    for name in dict.fromkeys(case.scheme.name for case in cases):
        of = [case for case in cases if case.scheme.name == name]
        yield Series(name, [position(case) for case in of], [measured.value(metric, case) for case in of])
