"""Outcomes of a run of all systems: durations of flows and queries, losses by place, and buffer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.analysis import enough_for, jain_index, percentile
from hitless.outcome.losses import CORRUPTED, LINK_DOWN
from hitless.simulation import Run
from hitless_papers.deflection.outcomes import IN_HOSTS
from hitless_papers.model import Share
from hitless_papers.together import schemes

CORRUPTING = "spine1->leaf1"
CHEAT = "cheat"
SHARERS = ("fair", CHEAT)
"""Groups of the flows that share one link with the cheat."""
_SHARED_S = 0.055
"""How long they send."""
_SHORT_BYTES = 100_000
_LONG_BYTES = 1_000_000
"""Bounds that figures of web-search flows are usually cut at (deflection, AFQ)."""
_TAIL = 99.0
_ELSEWHERE = (*IN_HOSTS, CORRUPTED, LINK_DOWN)
"""Reasons of drops outside switches."""

Times = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Timed:
    """Flows or queries of one kind."""

    name: str
    """As rows name it: "web-search flows below 100 KB"."""
    what: str
    """Unit: flows, queries."""
    of: Callable[[Run], pl.DataFrame]
    """With ``took_ms``, which unfinished ones have until the end of the run, and ``is_done``."""
    few: bool = False
    """Are there too few in a run for the percentile of its tail?"""

    def times_ms(self, run: Run) -> Times:
        """Return the times of all that began; an unfinished one took at least until the end of the run."""
        return self.of(run)["took_ms"].to_numpy().astype(np.float64)

    def share(self, series: str, runs: Sequence[Run]) -> Share:
        done = [self.of(run)["is_done"] for run in runs]
        return Share(series, sum(int(each.sum()) for each in done), sum(map(len, done)), self.what)

    @property
    def tail(self) -> str:
        return "slowest" if self.few else f"p{_TAIL:g}"

    def tail_ms(self, run: Run) -> float:
        """Return the tail of one run. Raises `ValueError` if there are too few times for its percentile."""
        times = self.times_ms(run)
        if self.few:
            return float(times.max())
        if not enough_for(_TAIL, times.size):
            raise ValueError(f"{times.size} {self.what} of a run are too few for p{_TAIL:g}")
        return percentile(times, _TAIL)


def _flows(least: int = 0, below: int | None = None) -> Callable[[Run], pl.DataFrame]:
    def of(run: Run) -> pl.DataFrame:
        is_asked = (pl.col("group") == "web-search") & (pl.col("bytes") >= least)
        found = run.table("messages").filter(is_asked if below is None else is_asked & (pl.col("bytes") < below))
        return _timed(run, found.with_columns(is_done=pl.col("delivered_ps") >= 0))

    return of


def _queries(group: str) -> Callable[[Run], pl.DataFrame]:
    def of(run: Run) -> pl.DataFrame:
        answers = run.table("messages").filter(pl.col("group") == group)
        done = (pl.col("delivered_ps") >= 0).sum() == schemes.fan_in(group)
        of_query = answers.group_by("query", maintain_order=True).agg(
            pl.col("started_ps").min(), pl.col("delivered_ps").max(), is_done=done
        )
        return _timed(run, of_query)

    return of


def _timed(run: Run, table: pl.DataFrame) -> pl.DataFrame:
    end_ps = round(float(run.summary["simulated_s"]) * 1e12)
    ended = pl.when(pl.col("is_done")).then("delivered_ps").otherwise(end_ps)
    return table.with_columns(took_ms=(ended - pl.col("started_ps")) / 1e9)


WEB_SEARCH = Timed("web-search flows", "flows", _flows())
SHORT = Timed("web-search flows below 100 KB", "flows", _flows(below=_SHORT_BYTES))
LONG = Timed("web-search flows from 1 MB on", "flows", _flows(_LONG_BYTES))
QUERIES = Timed("queries", "queries", _queries("queries"))
BURSTS = Timed("bursts", "bursts", _queries("bursts"), few=True)


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of a whole run."""

    name: str
    unit: str
    of: Callable[[Run], float]


def _dropped(run: Run, groups: pl.Expr) -> int:
    is_of_switch = ~pl.col("reason").is_in(_ELSEWHERE)
    return int(run.table("drops").filter(is_of_switch & groups)["packets"].sum())


def _lost_on_links(run: Run) -> int:
    """Of what hosts sent: lost on the way, and dropped by no switch."""
    lost = int(run.summary["order.packets_lost"])
    in_switches = sum(n for reason, n in run.summary.drops.items() if reason not in _ELSEWHERE)
    return lost - in_switches


def _lost_to_corruption(run: Run) -> int:
    """Of packets: with LinkGuardian those that it found missing and could not recover."""
    missing = run.counter("packets_missing", default=-1)
    if missing >= 0:
        return missing - run.counter("packets_recovered")
    link = run.table("links").filter(pl.col("link") == CORRUPTING)
    return int(link["frames_corrupted"].sum())


def _fairness(run: Run) -> float:
    shares = run.table("flows").filter(pl.col("group").is_in(SHARERS))["delivered_bytes"].to_numpy()
    return jain_index(shares)


def _goodput_gbps(run: Run) -> float:
    flows = run.table("flows").filter(pl.col("group") == "fair")
    return float(flows["delivered_bytes"].sum()) * 8 / 1e9 / _SHARED_S


def _most_queued_kb(run: Run) -> float:
    return float(run.table("queues")["value_bytes"].max() or 0) / 1e3  # type: ignore[arg-type]


LOST_TO_CORRUPTION = Counted("packets lost to corruption", "", _lost_to_corruption)
LOST_TO_FAILURES = Counted("packets lost to failures", "", lambda run: _lost_on_links(run) - _lost_to_corruption(run))
DROPPED = Counted(
    "packets dropped in switches, the cheat's not counted", "", lambda run: _dropped(run, pl.col("group") != CHEAT)
)
DROPPED_OF_BURSTS = Counted(
    "packets of bursts dropped in switches", "", lambda run: _dropped(run, pl.col("group") == "bursts")
)
REORDERED = Counted("packets reordered in the network", "", lambda run: float(run.summary["order.packets_reordered"]))
FAIRNESS = Counted("Jain's index beside the cheat", "", _fairness)
GOODPUT = Counted("goodput of the three fair flows", "Gbps", _goodput_gbps)
MOST_QUEUED = Counted("most queued at a port", "KB", _most_queued_kb)
COUNTED = (LOST_TO_FAILURES, LOST_TO_CORRUPTION, DROPPED, DROPPED_OF_BURSTS, REORDERED, FAIRNESS, GOODPUT, MOST_QUEUED)
PERCENTILES: Mapping[Timed, Sequence[float]] = {
    WEB_SEARCH: (50, 99, 99.9),
    SHORT: (99,),
    LONG: (99,),
    QUERIES: (50, 99, 99.9),
    BURSTS: (50, 99),
}
"""Percentiles with a row."""


TABLES = ("messages", "flows", "drops", "links", "mechanisms", "queues")
"""Tables that the rows need."""


def reduced(run: Run) -> Run:
    """Replace the samples of each queue by their maximum."""
    most = run.table("queues").group_by("port", maintain_order=True).agg(pl.col("value_bytes").max())
    return replace(run, tables={**run.tables, "queues": most})
