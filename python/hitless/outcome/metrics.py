"""Named metrics of a run, for comparisons."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hitless.outcome.losses import losses_of
from hitless.outcome.run import Run
from hitless.outcome.tables import columns_of
from hitless.outcome.times import ALL_SIZES, PERCENTILES, Times, goodputs_gbps, times_of

Kind: TypeAlias = Literal["ratio", "difference"]
"""How to compare two values: times and rates by ratio; counts, which can be zero, by difference."""

TABLES = ("messages", "flows", "links", "mechanisms")
"""The tables of a run that metrics read."""
_COUNTED = (("timeouts", "timeouts"), ("packets_retransmitted", "packets retransmitted"))


@dataclass(frozen=True, slots=True)
class Metric:
    """A named value of a run."""

    of: str
    """The scope: "web-search, below 100 KB", or "all" for the whole run."""
    name: str
    unit: str
    kind: Kind
    more_is_better: bool = False


def measured(run: Run) -> dict[Metric, float]:
    """Return every metric of the run, except those with too few values and those that are unknown."""
    found = {metric: value for times in times_of(run) for metric, value in _of_times(times) if value is not None}
    for group, _, gbps in goodputs_gbps(run):
        found[Metric(group, "goodput", "Gb/s", "ratio", more_is_better=True)] = gbps
    found.update(_counts(run))
    return found


def _of_times(times: Times) -> Iterator[tuple[Metric, float | None]]:
    of = f"{times.group}, {times.sizes}" if times.what == "messages" else f"{times.group}, {times.what}"
    short = "FCT" if times.what == "messages" else "QCT"
    yield Metric(of, f"mean {short}", "us", "ratio"), times.mean_us
    for percent, us in zip(PERCENTILES, times.percentiles_us(), strict=True):
        yield Metric(of, f"p{percent:g} {short}", "us", "ratio"), us
    if times.slowdowns.size:
        percents = PERCENTILES[:2]
        for percent, slowdown in zip(percents, times.slowdowns_at(percents), strict=True):
            yield Metric(of, f"p{percent:g} slowdown", "", "ratio"), slowdown
    if times.sizes == ALL_SIZES:
        yield Metric(of, "unfinished at the end", times.what, "difference"), float(times.unfinished)


def _counts(run: Run) -> Iterator[tuple[Metric, float]]:
    flows = columns_of(run, "flows")
    for column, name in _COUNTED:
        if column in flows:
            yield Metric("all", name, "", "difference"), float(flows[column].sum())
    losses = losses_of(run)
    yield Metric("all", "packets dropped", "", "difference"), float(sum(losses.dropped.values()))
    if losses.lost_to_hosts is not None:
        yield Metric("all", "packets lost to hosts", "", "difference"), float(losses.lost_to_hosts)
