"""Figure 15: the relative priority of the last packet of figure 2, by quantile and by distribution (appendix C).

The figures are lost, but the text determines them. The last two of six packets are 3 and 2 (section 3). Two others are
5 and 4. All but 5 and 4 fit in four places, and a single packet is more urgent than the last. So the first four are 1,
2, 4 and 5. Their order matters only if 1 comes first and has left the window of four.
"""

from collections.abc import Iterable

from hitless.deflection import RelativePriorities
from hitless_papers import Context, Exact, Exhibit, Point, Row, Runs, exhibit

EARLIER = (4, 1, 5, 2, 3)
LAST = 2
WINDOW = 4
QUEUE = 6
"""Packets that fit in the queue."""
_KEY = "six packets"


@exhibit("pd/fig15", title="Relative priority of a packet, by quantile and by distribution")
class Figure15(Exhibit):
    """By the code that decides about packets in a switch."""

    def points(self, context: Context) -> Iterable[Point]:
        yield Point(_KEY, RelativePriorities((*EARLIER, LAST), WINDOW, QUEUE))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        x = f"packet {LAST} behind {', '.join(map(str, EARLIER))}"
        ideal = sum(rank < LAST for rank in EARLIER) / len(EARLIER)
        _, quantile, distribution = runs[_KEY].table("relative_priorities").row(-1)
        metric = "relative priority"
        yield Row("quantile", x, metric, "", quantile, paper=0.25, judge=Exact(), note=f"window of {WINDOW}")
        yield Row("distribution", x, metric, "", distribution, paper=0.49, judge=Exact(), note="exact mean")
        metric = "relative priority, over that among all five"
        yield Row("quantile", x, metric, "times", quantile / ideal, paper=1.25, judge=Exact())
        metric = "relative priority, over that by quantile"
        yield Row("distribution", x, metric, "times", distribution / quantile, paper=0.49 / 0.25, judge=Exact())
