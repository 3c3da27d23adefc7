"""The tail of completion times without and with a system, divided into parts by autopsies: a picture and a sentence.

An exhibit declares its `Tail`. A quick campaign adds autopsies to the runs that it names, which does not change them.
Longer efforts run these quick ones in addition: autopsies of millions of messages need gigabytes. A finished run keeps
the table of `tail_of` instead of its autopsies, which take 90 MB for 300,000 flows; pooled runs have few messages, and
keep the autopsies of the chosen ones.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import polars as pl

from hitless.drawing.plot import Plot
from hitless.outcome import around as around_percentiles
from hitless.outcome import autopsy
from hitless.outcome.around import MEANS, PERCENTILES, around, bars_plot, change_at, parts_at
from hitless.outcome.autopsy import PS_PER_US, TABLE, TOTAL_PS, WHOLE, in_us
from hitless.outcome.front import FRONT_TABLE
from hitless.runs.keeping import source_of
from hitless.runs.point import MissingRun, Point, Reduction, Runs
from hitless.simulation import Run
from hitless_papers.model import Row, Tail

TAIL = "tail"
"""The table of `tail_of`."""
EXTRA = "tail: "
"""Beginning of the key of a quick run next to longer ones."""
METRIC = "messages divided into parts"
ALL = "all"
"""The percentile of the means over all messages."""
TITLE = "The tail, explained"
"""Beginning of the title of every such picture."""
_MESSAGES = "messages"
_OF_MESSAGE = ["flow", "number"]


def with_autopsies(tail: Tail, points: Iterable[Point]) -> Iterator[Point]:
    """Yield the points of an exhibit; the points of both sides get an autopsy."""
    for point in points:
        keys = [key for _, key in (tail.without, tail.with_it) if fnmatchcase(point.key, key)]
        yield _autopsied(point, tail, is_pooled="*" in keys[0]) if keys else point


def with_quick_runs(tail: Tail, points: Iterable[Point], quick: Iterable[Point]) -> Iterator[Point]:
    """Yield the points of a longer effort, and the ``quick`` points of both sides with an autopsy."""
    yield from points
    for point in with_autopsies(tail, quick):
        if isinstance(point.reduce, ToTail):
            yield replace(point, key=f"{EXTRA}{point.key}")


def tail_rows(tail: Tail, runs: Runs) -> Iterator[Row]:
    """Yield the number of messages on each side, with the sentence as a note."""
    sides = _sides(tail, runs)
    for label, found in sides.items():
        yield Row(label, tail.title, METRIC, "messages", float(found["messages"][0]), note=sentence(sides))


def tail_plot(tail: Tail, runs: Runs) -> Plot | None:
    """Plot the parts of both sides; None without enough messages."""
    sides = _sides(tail, runs)
    bars: dict[str, dict[str, float]] = {}
    for label, found in sides.items():
        bars |= {f"{percentile}, {label}": _times(found, percentile) for percentile in _percentiles(found)}
    return bars_plot(bars, f"{TITLE}: {tail.title}", sentence(sides))


def is_tail(plot: Plot) -> bool:
    """Return whether a plot is a picture of a tail."""
    return plot.title.startswith(f"{TITLE}: ")


def words_of(plot: Plot) -> tuple[str, str]:
    """Return the title of a tail, and its sentence, from its picture: rows of incomplete exhibits lack them."""
    return plot.title.removeprefix(f"{TITLE}: "), plot.caption.partition(f". {MEANS}")[0]


def _sides(tail: Tail, runs: Runs) -> dict[str, pl.DataFrame]:
    return {label: _side(tail, runs, key) for label, key in (tail.without, tail.with_it)}


def _side(tail: Tail, runs: Runs, key: str) -> pl.DataFrame:
    table = TABLE if "*" in key else TAIL
    own = {name.removeprefix(EXTRA): run for name, run in runs.items() if table in run.tables}
    found = [run.table(table) for name, run in own.items() if fnmatchcase(name, key)]
    if not found:
        raise MissingRun(key)
    return tail_of(pl.concat(found), tail.percents) if table == TABLE else found[0]


@dataclass(frozen=True, slots=True)
class ToTail:
    """Reduction of a run with an autopsy, followed by the exhibit's reduction."""

    tail: Tail
    is_pooled: bool
    then: Reduction | None
    keeps_messages: bool = True
    """Does the exhibit need the table ``messages``?"""

    def __call__(self, run: Run) -> Run:
        """Replace the autopsy by `tail_of`, or by the chosen messages if several runs are pooled."""
        found = _chosen(run, self.tail)
        kept = {TABLE: found} if self.is_pooled else {TAIL: tail_of(found, self.tail.percents)}
        dropped = {TABLE, FRONT_TABLE} if self.keeps_messages else {TABLE, FRONT_TABLE, _MESSAGES}
        others = {name: run.tables[name] for name in run.tables if name not in dropped}
        reduced = replace(run, tables=others)
        reduced = self.then(reduced) if self.then is not None else reduced
        return replace(reduced, tables={**reduced.tables, **kept})

    def source(self) -> str:
        """Return the code that its results depend on."""
        files = [Path(str(module)) for module in (__file__, autopsy.__file__, around_percentiles.__file__)]
        digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
        then = self.then and source_of(self.then)
        return f"{digest} {self.tail} {self.is_pooled} {self.keeps_messages} {then}"


def tail_of(autopsies: pl.DataFrame, percents: Sequence[float] = PERCENTILES) -> pl.DataFrame:
    """Return the mean parts around each percentile, and the commonest loss, after a row for `ALL` messages.

    Columns: ``percentile``, ``part`` (`WHOLE` for the FCT), ``time_us``, ``messages`` (of all, not only around the
    percentile), ``lost_share`` (messages around it with a lost packet on their path) and ``lost`` (its commonest place
    and reason).
    """
    found = parts_at(autopsies, percents)
    whole = autopsies.select(pl.lit(WHOLE).alias("part"), time_us=TOTAL_PS.mean() / PS_PER_US)
    means = {ALL: (whole, autopsies)}
    for name in found.columns[1:]:
        means[name] = found.select("part", time_us=name), around(autopsies, float(name[1:]))
    return pl.concat(
        times.select(
            pl.lit(name).alias("percentile"),
            pl.all(),
            pl.lit(len(autopsies)).alias("messages"),
            *_commonest_loss(messages),
        )
        for name, (times, messages) in means.items()
    )


def sentence(sides: Mapping[str, pl.DataFrame]) -> str:
    """Describe the parts that the second side removes and adds at the highest common percentile."""
    (without, first), (with_it, second) = sides.items()
    common = [name for name in _percentiles(first) if name in _percentiles(second)]
    if not common:
        return "too few messages for a percentile on both sides"
    name = common[-1]
    rows = first.filter(pl.col("percentile") == name)
    before, after = (_times(tail, name) for tail in (first, second))
    told = [change_at(name, with_it, before, after)]
    if rows["lost"][0]:
        told.append(f"With {without}, {100 * rows['lost_share'][0]:.0f} % of these messages {rows['lost'][0]}")
    if name != common[0]:
        median, bare = (in_us(_times(tail, common[0])[WHOLE] * PS_PER_US) for tail in (second, first))
        clause = f"both take {bare}" if median == bare else f"{with_it} takes {median} instead of {bare}"
        told.append(f"At {common[0]} {clause}")
    return ". ".join(told)


def _percentiles(tail: pl.DataFrame) -> list[str]:
    return [name for name in tail["percentile"].unique(maintain_order=True) if name != ALL]


def _times(tail: pl.DataFrame, percentile: str) -> dict[str, float]:
    return dict(tail.filter(pl.col("percentile") == percentile).select("part", "time_us").iter_rows())


def _commonest_loss(messages: pl.DataFrame) -> tuple[pl.Expr, pl.Expr]:
    lost = messages.filter(pl.col("lost_at") != "")
    share, words = 0.0, ""
    if not lost.is_empty():
        places = lost.group_by("lost_at", "lost_because").len().sort("len", "lost_at", descending=[True, False])
        at, because, _ = places.row(0)
        share, words = len(lost) / len(messages), f"had lost a packet, most often at {at} ({because})"
    return pl.lit(share).alias("lost_share"), pl.lit(words).alias("lost")


def _autopsied(point: Point, tail: Tail, *, is_pooled: bool) -> Point:
    assert isinstance(point.what, Mapping), f"{point.key} has no scenario to measure"
    measure = {**point.what.get("measure", {}), "autopsy": True}
    keep = None if point.keep is None else {*point.keep, _MESSAGES, TABLE}
    reduce = ToTail(tail, is_pooled, point.reduce, keeps_messages=point.keep is None or _MESSAGES in point.keep)
    return replace(point, what={**point.what, "measure": measure}, keep=keep, reduce=reduce)


def _chosen(run: Run, tail: Tail) -> pl.DataFrame:
    """Return the autopsies of the messages of a tail. All autopsies of the run must add up to the completion times."""
    autopsies = run.table(TABLE)
    columns = [*_OF_MESSAGE, pl.col("started_ps", "delivered_ps").name.suffix("_of_message")]
    found = autopsies.join(run.table(_MESSAGES).select(columns), on=_OF_MESSAGE, maintain_order="left")
    ends = ["started_ps", "delivered_ps"]
    is_same = pl.all_horizontal(pl.col(end) == pl.col(f"{end}_of_message") for end in ends)
    adds_up = pl.col("delivered_ps") - pl.col("started_ps") == TOTAL_PS
    assert len(found) == len(autopsies), "an autopsy has no message"
    assert found.select((is_same & adds_up).all()).item(), "the parts of a message do not add up to its completion time"
    if tail.group is not None:
        found = found.filter(pl.col("group") == tail.group)
    return found if tail.bytes_below is None else found.filter(pl.col("bytes") < tail.bytes_below)
