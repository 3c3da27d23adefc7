"""Exhibits of several cases along an axis, with the paper's sentences about them as rows."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

from hitless.drawing.plot import Plot, Series
from hitless.runs.point import MissingRun
from hitless_papers import Context, Exhibit, Gain, Point, Row, Runs, Unjudged
from hitless_papers.deflection import metrics
from hitless_papers.deflection.metrics import Measured, Metric, Timed
from hitless_papers.deflection.schemes import FAIR, PAPER, under
from hitless_papers.deflection.setting import DURATION_MS, FabricCase
from hitless_papers.judge import Direction, Paper
from hitless_papers.statements import above_one

Position: TypeAlias = Callable[[FabricCase], float | str]

_LIGHT_PERCENT, _LIGHT_FACTOR = 60, 2
"""Maximum load of longer runs, and their factor; full runs keep their length."""

QCT: Sequence[Metric] = (metrics.MEAN_QCT, metrics.P99_QCT)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper: the ratio of a metric between two cases."""

    metric: Metric
    above: FabricCase
    below: FabricCase
    paper: Paper
    """The quotient that the sentence gives, above 1 where ``above`` is the larger."""
    note: str = ""
    better: Direction | None = None
    """Direction that the paper claims as good, for its own schemes against rivals only."""

    def rows(self, measured: Measured) -> Iterator[Row]:
        """Yield the measured quotient, and the quotient with unfinished queries counted.

        The first has a verdict if nearly all queries were complete. In shorter runs it says little, because only quick
        queries have finished. Then the second is judged, if the run was long enough for it.
        """
        row = quotient(measured, self.metric, self.above, self.below, self._other)
        yield self._judged(row)
        if not isinstance(self.metric, Timed):
            return
        whole = self.metric.whole
        other = quotient(measured, whole, self.above, self.below, self._other)
        if all(share.is_complete for share in row.completed):
            yield replace(other, judge=Unjudged("that of complete ones is judged"))
        elif all(measured.reaches(whole, case) for case in (self.above, self.below)):
            yield self._judged(other)
        else:
            yield replace(other, judge=Unjudged("what lasts longer than the run decides it"), note=self.note)

    def _judged(self, row: Row) -> Row:
        return replace(row, paper=self.paper, judge=Gain(better=self.better), note=self.note)

    @property
    def _other(self) -> str:
        return self.below.title if self.below.title != self.above.title else f"{self.below.title} at {self.below.x}"


class Sweep(Exhibit):
    """Cases by effort; claims about those that ran; values of all of them."""

    quick_ms: ClassVar[int] = 25
    normal_ms: ClassVar[int] = 100
    shown: ClassVar[Sequence[Metric]] = QCT
    """Metrics with a plot, and with a row for each case."""
    axis: ClassVar[str] = "load (%)"
    keep: ClassVar[Sequence[str]] = ()
    """Further tables that the metrics need."""

    @abstractmethod
    def cases(self, context: Context) -> Sequence[FabricCase]:
        """Return the runs."""

    def claims(self) -> Iterable[Claim]:
        """Return the paper's claims about them."""
        return ()

    def further_rows(self, measured: Measured, ran: Mapping[str, FabricCase]) -> Iterable[Row]:
        """Return further rows, such as shapes."""
        return ()

    def points(self, context: Context) -> Iterable[Point]:
        self._ran = {case.key: case for case in self.cases(context)}
        # The longest first, so that all cores have work to the end.
        for case in sorted(self._ran.values(), key=lambda case: -case.percent):
            yield case.point(self._length_ms(case, context), self.keep)

    def _length_ms(self, case: FabricCase, context: Context) -> int:
        """A light load costs less to simulate, and is simulated for longer."""
        factor = _LIGHT_FACTOR if case.percent <= _LIGHT_PERCENT else 1
        quick, normal = factor * self.quick_ms, min(DURATION_MS, factor * self.normal_ms)
        return context.length("ms of traffic", full=DURATION_MS, normal=normal, quick=quick)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        measured = self._measured = Measured(runs)
        self._ran = {key: case for key, case in self._ran.items() if key in runs}
        for claim in self.claims():
            if claim.above.key in self._ran and claim.below.key in self._ran:
                yield from claim.rows(measured)
        with suppress(MissingRun):  # of a comparison with a point that was not chosen, or was stopped
            yield from self.further_rows(measured, self._ran)
        for case in self._ran.values():
            yield from self._values(measured, case)

    def _values(self, measured: Measured, case: FabricCase) -> Iterator[Row]:
        whole = (metric.whole for metric in self.shown if isinstance(metric, Timed))
        for metric in (*self.shown, *whole, metrics.COMPLETE, metrics.DROPPED):
            yield of_case(measured, metric, case)

    def position(self, case: FabricCase) -> float | str:
        """Return the position of a case on the axis."""
        return float(case.percent)

    def panel(self, case: FabricCase) -> str:
        """Name the plot of a case."""
        return " ".join(part for part in (case.transport, case.fabric.name, case.preset.note) if part)

    def _panels(self, case: FabricCase) -> set[str]:
        """Return its panel, and the panel of preset "fair" if that does not change the scheme."""
        is_fair = case.preset is PAPER and under(case.scheme, FAIR) == case.scheme
        return {self.panel(case), self.panel(replace(case, preset=FAIR))} if is_fair else {self.panel(case)}

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        measured = self._measured
        for panel in dict.fromkeys(self.panel(case) for case in self._ran.values()):
            cases = [case for case in self._ran.values() if panel in self._panels(case)]
            for metric in self.shown:
                series = list(_series(measured, metric, cases, self.position))
                title = f"{metric.name[0].upper()}{metric.name[1:]}, {panel}"
                yield Plot(title, self.axis, f"{metric.name} ({metric.unit})", series, y_scale="log")


def quotient(measured: Measured, metric: Metric, above: FabricCase, below: FabricCase, name: str) -> Row:
    """Return the ratio of a metric as a row of ``above`` without a verdict."""
    return measured.ratio(metric, above, below).row(above.title, above.x, f"{metric.name}, over {name}")


def judgeable(measured: Measured, metric: Timed, above: FabricCase, below: FabricCase, name: str) -> Row:
    """The quotient of complete queries, or where too many are left out, that with unfinished ones if runs reach it."""
    row = quotient(measured, metric, above, below, name)
    whole = metric.whole
    if all(share.is_complete for share in row.completed):
        return row
    reaches = all(measured.reaches(whole, case) for case in (above, below))
    return quotient(measured, whole, above, below, name) if reaches else row


def of_case(measured: Measured, metric: Metric, case: FabricCase) -> Row:
    """A metric of a run, as a row that nobody judges."""
    return measured.estimate(metric, case).row(case.title, case.x, metric.name, unit=metric.unit)


def before(measured: Measured, metric: Metric, better: FabricCase, worse: FabricCase) -> Row:
    """Is one case faster than another? The paper shows so."""
    row = quotient(measured, metric, worse, better, better.title)
    statement = f"{better.title} is before {worse.title} at {worse.x}"
    return replace(row, judge=above_one(statement))


def _series(measured: Measured, metric: Metric, cases: Sequence[FabricCase], position: Position) -> Iterator[Series]:
    for name in dict.fromkeys(case.scheme.name for case in cases):
        of = [case for case in cases if case.scheme.name == name]
        yield Series(name, [position(case) for case in of], [measured.value(metric, case) for case in of])
