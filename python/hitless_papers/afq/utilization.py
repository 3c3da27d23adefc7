"""Figure 9 where the links between leaves and spines are used as much as the load says.

In a run of 20 ms a load of 90 % uses the core links to 61 %. The rate of arrivals is computed as if each flow had its
host's link to itself; but the run begins empty, large flows come faster than they end, and several of them share a
host's link. Max-min fair rates on the same links, without packets and transports, give 58 %
(tests/validation/afq_load.py). The loads here were
chosen so that the core links are used to 70 and 90 % with Ideal-FQ, over the run as a whole.
"""

from collections.abc import Iterable, Mapping

from hitless_papers import Context, Exhibit, Point, Row, Runs, exhibit
from hitless_papers.afq import cluster, schemes
from hitless_papers.afq.cluster import ClusterCase
from hitless_papers.afq.load_sweep import beside_ideal, gains
from hitless_papers.afq.schemes import Scheme
from hitless_papers.afq.sizes import ENTERPRISE

MS = 20
"""At every effort: the loads were found for this length."""
OFFERED: Mapping[int, int] = {70: 113, 90: 212}
"""By the percent of the time in which the core links are used; found with seed 1."""
_SCHEMES: tuple[Scheme, ...] = (schemes.DROP_TAIL, schemes.DCTCP_MARKING, schemes.PAIR_AFQ, schemes.IDEAL)


@exhibit("afq/utilization", title="Figure 9 where the core links are used as much as the load says")
class Utilization(Exhibit):
    """Short flows at 70 and 90 % of the core links used; DCTCP with ten segments too."""

    def points(self, context: Context) -> Iterable[Point]:
        for used in OFFERED:
            for case in self._cases(used):
                yield case.point(MS, keep=("links",))

    def _cases(self, used: int) -> list[ClusterCase]:
        return [ClusterCase(ENTERPRISE, OFFERED[used], scheme) for scheme in (*_SCHEMES, schemes.DCTCP_WINDOW_10)]

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for used, offered in OFFERED.items():
            cases = self._cases(used)
            percent = {case.scheme.name: 100 * cluster.utilization(runs[case.key]) for case in cases}
            reached = f"AFQ used the core links to {percent['AFQ']:.0f} %, offered {offered} % in {MS} ms"
            flows, x = cluster.compared(runs, cases), f"{used} % used"
            yield from beside_ideal(x, flows, reached)
            yield from gains(x, flows, reached)
            for name, value in percent.items():
                yield Row(name, x, "utilization of the core links", "%", value, note=f"offered {offered} %")
