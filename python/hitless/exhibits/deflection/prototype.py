"""Figure 5: the two experiments in the testbed."""

from collections.abc import Iterable

from hitless.exhibits import Context, Exhibit, Point, Row, Runs, exhibit
from hitless.exhibits.deflection.bursts import Bursts
from hitless.exhibits.deflection.response_times import ResponseTimes
from hitless.plot import Plot


@exhibit("pd/fig5", title="Testbed: response times beside bulk flows, and UDP bursts that arrive")
class Figure5(Exhibit):
    """Section 5.1."""

    def points(self, context: Context) -> Iterable[Point]:
        self._responses, self._bursts = ResponseTimes(), Bursts()
        yield from self._responses.points(context)
        yield from self._bursts.points(context)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        yield from self._responses.rows(runs)
        yield from self._bursts.rows(runs)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        yield from self._responses.plots(runs)
        yield from self._bursts.plots(runs)
