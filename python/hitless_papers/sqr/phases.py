"""When in a flow the link fails, and what that adds to its completion time with SB'+SQR: which flows figure 11 is of.

Figures 8 and 11 of the paper do not fit together if both are of flows that were in progress when the link failed.
Section IV-B: 90 % of the recovery times are longer than 760 us. Section IV-C: the median FCT is only about 200 us above
that without a failure, because packets that "arrive after the link has failed" wait for less. A packet that arrives so
and so long after the failure waits for the rest of the 760 us: so much is added to a flow that begins then. These rows
have the flows by that moment.
"""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from hitless.analysis import Interval, percentile
from hitless_papers import Row, Unjudged
from hitless_papers.estimates import Estimate, percentile_of
from hitless_papers.sqr import fct, testbed

_STEPS = 4
_JUDGED_ABOVE = Unjudged("the paper gives 200 us, and not when the link failed: see the median of all sizes")


def rows(table: pl.DataFrame, clean_us: fct.Times) -> Iterator[Row]:
    """What is added to the median FCT, by the moment of the failure; ``table`` has all flows (`fct.all_flows`)."""
    for x, part in _parts(table):
        if part.height == 0:
            continue
        note = f"{part.height:,} flows"
        metric = "median FCT above no failure, by when the link failed"
        yield _added(fct.times_us(part), clean_us).row("SB'+SQR", x, metric, None, _JUDGED_ABOVE, unit="us", note=note)


def _parts(table: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Group the flows that met a failure by its moment."""
    hit = pl.col("is_hit") & ~pl.col("starts_in_outage")
    own = pl.col("until_down_us")
    for low, high in ((0, 50), (50, 100), (100, 150), (150, 1_000)):
        name = f"{low} to {high} us after the start" if high < 1_000 else f"{low} us after the start or later"
        yield name, table.filter(hit & (own >= low) & (own < high))
    late = pl.col("starts_in_outage")
    step = testbed.ROUTE_FAILURE_US / _STEPS
    for number in range(_STEPS):
        low_us, high_us = number * step, (number + 1) * step
        name = f"{low_us:.0f} to {high_us:.0f} us before the start"
        yield name, table.filter(late & (-own >= low_us) & (-own < high_us))
    yield "any time, flows in progress", table.filter(hit)
    yield "any time, flows that begin before the repair", table.filter(late)
    yield "any time, both", table.filter(hit | late)


def _added(times_us: fct.Times, clean_us: fct.Times) -> Estimate:
    middle = percentile(clean_us, 50)
    median = percentile_of(times_us, 50)
    if median.value is None:
        return median
    interval = median.interval and Interval(median.interval.low - middle, median.interval.high - middle)
    return replace(median, value=median.value - middle, interval=interval)
