"""The tail of completion times without and with a system, from autopsies made up here."""

import importlib
import linecache
import sys
from dataclasses import replace

import polars as pl
import pytest

from hitless.outcome.autopsy import PARTS, WHOLE
from hitless.runs.keeping import source_of
from hitless.runs.point import MissingRun, Point, Runs
from hitless.simulation import Run, Summary
from hitless_papers import Tail
from hitless_papers.tails import (
    ALL,
    METRIC,
    TAIL,
    ToTail,
    is_tail,
    sentence,
    tail_of,
    tail_plot,
    tail_rows,
    with_autopsies,
    words_of,
)

US = 1_000_000
PAIR = Tail("flows", ("bare", "no"), ("system", "yes"))


def autopsies(*rows, lost_at="", because=""):
    """Return messages with these parts in microseconds; a message with a timeout has lost a packet."""
    made = []
    for flow, parts_us in enumerate(rows):
        times = {f"{part.name}_ps": parts_us.get(part.name, 0) * US for part in PARTS}
        is_lost = "timeout" in parts_us
        loss = {"lost_at": lost_at if is_lost else "", "lost_because": because if is_lost else ""}
        ends = {"started_ps": flow, "delivered_ps": flow + sum(times.values())}
        made.append({"flow": flow, "group": "f", "number": 0, **ends, **times, **loss})
    return pl.DataFrame(made)


def messages(found):
    return found.select("flow", "number", "started_ps", "delivered_ps")


def run(found, **tables):
    return Run("", Summary({}), {"autopsy": found, "messages": messages(found), **tables})


def tails(count=1_000, slow=20):
    """Return both sides: a fiftieth of the messages waits for a timeout, which the system turns into a recovery."""
    bare = [{"propagation": 10}] * (count - slow) + [{"propagation": 10, "timeout": 2_000}] * slow
    helped = [{"propagation": 10}] * (count - slow) + [{"propagation": 10, "link_recovery": 5}] * slow
    return autopsies(*bare, lost_at="a->b", because="corrupted"), autopsies(*helped)


def test_a_sentence_says_what_a_system_removes_and_adds_and_why():
    sides = dict(zip(("bare", "system"), map(tail_of, tails()), strict=True))
    assert sentence(sides) == (
        "At p99.9 system takes 15 us instead of 2,010 us: it removes 2,000 us (retransmission timeout). With bare, "
        "100 % of these messages had lost a packet, most often at a->b (corrupted). At p50 both take 10 us"
    )
    losing = dict(reversed(sides.items()))
    assert "it adds 2,000 us (retransmission timeout)" in sentence(losing)


@pytest.mark.parametrize(
    ("before", "after", "clause"),
    [
        ({"queue": 100}, {"queue": 60, "mechanism": 30}, "it removes 40 us (queues), and adds 30 us (mechanisms)"),
        ({"queue": 100, "card": 9}, {"queue": 50}, "it removes 50 us (queues) and 9 us (network card)"),
        ({"queue": 100}, {"queue": 97}, "no part differs by 5 %"),
        ({"queue": 100}, {"queue": 100, "pacing": 50}, "it adds 50 us (pacing)"),
    ],
)
def test_clauses(before, after, clause):
    sides = {"a": tail_of(autopsies(*[before] * 10), [50.0]), "b": tail_of(autopsies(*[after] * 10), [50.0])}
    assert clause in sentence(sides)


def test_the_sentence_about_the_median_names_the_side():
    few, many = autopsies(*[{"queue": 20}] * 100), autopsies(*[{"queue": 10}] * 100)
    told = sentence({"bare": tail_of(few, [50.0, 99.0]), "system": tail_of(many, [50.0, 99.0])})
    assert told.endswith("At p50 system takes 10 us instead of 20 us")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_too_few_messages_are_counted_and_have_neither_a_sentence_about_parts_nor_a_picture(count):
    few = tail_of(autopsies({"queue": 1}, {"queue": 2}, {"queue": 6}).head(count), [99.9])
    assert few["percentile"].to_list() == [ALL]
    assert few["time_us"].to_list() == [{0: None, 1: 1.0, 3: 3.0}[count]]
    runs = Runs({"no": run(autopsies({}), tail=few), "yes": run(autopsies({}), tail=few)})
    rows = list(tail_rows(PAIR, runs))
    assert [row.note for row in rows] == ["too few messages for a percentile on both sides"] * 2
    assert [row.measured for row in rows] == [count] * 2
    assert tail_plot(PAIR, runs) is None


def test_both_sides_get_an_autopsy_and_keep_only_their_tail():
    scenario = {"name": "s", "measure": {"order": True}}
    points = list(with_autopsies(PAIR, [Point("no", scenario, keep=("flows",)), Point("other", scenario)]))
    assert points[1] == Point("other", scenario)
    assert points[0].what["measure"] == {"order": True, "autopsy": True}
    assert scenario["measure"] == {"order": True}
    assert set(points[0].keep) == {"flows", "messages", "autopsy"}
    others = {"flows": pl.DataFrame(), "autopsy_front": pl.DataFrame()}
    reduced = points[0].reduce(run(tails()[0], **others))
    assert set(reduced.tables) == {"flows", TAIL}, "the exhibit keeps no messages"
    assert reduced.table(TAIL).filter(pl.col("part") == WHOLE)["time_us"].to_list() == [50.0, 10.0, 2_010.0, 2_010.0]
    for keep in (None, ("messages",)):
        [point] = with_autopsies(PAIR, [Point("no", scenario, keep=keep)])
        assert set(point.reduce(run(tails()[0], **others)).tables) == {"flows", "messages", TAIL}


def test_a_cached_run_does_not_survive_a_change_of_its_reduction(tmp_path, monkeypatch):
    def written(text):
        (tmp_path / "reductions_of_tails.py").write_text(f"def few(run):\n    return {text}\n")
        importlib.invalidate_caches()
        linecache.clearcache()
        sys.modules.pop("reductions_of_tails", None)
        return ToTail(PAIR, is_pooled=False, then=importlib.import_module("reductions_of_tails").few)

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setitem(sys.modules, "reductions_of_tails", None)
    first, again, changed = (source_of(written(text)) for text in ("run", "run", "run.tables"))
    assert first == again != changed
    assert source_of(replace(written("run"), keeps_messages=False)) != first


def test_parts_that_do_not_add_up_fail():
    found = tails()[0].with_columns(queue_ps=pl.when(pl.col("flow") == 7).then(1).otherwise("queue_ps"))
    with pytest.raises(AssertionError, match="do not add up"):
        ToTail(PAIR, is_pooled=False, then=None)(run(found))


def test_an_autopsy_of_another_completion_time_fails():
    found = tails()[0]
    other = messages(found).with_columns(delivered_ps=pl.col("delivered_ps") + 1)
    with pytest.raises(AssertionError, match="do not add up"):
        ToTail(PAIR, is_pooled=False, then=None)(Run("", Summary({}), {"autopsy": found, "messages": other}))


def test_the_exhibits_reduction_runs_afterwards_and_does_not_see_the_autopsy():
    def only_names(run):
        return Run("", Summary({}), {"names": pl.DataFrame({"name": sorted(run.tables)})})

    reduced = ToTail(PAIR, is_pooled=False, then=only_names)(run(tails()[0]))
    assert reduced.table("names")["name"].to_list() == ["messages"]
    assert set(reduced.tables) == {"names", TAIL}


def test_only_the_group_and_sizes_of_a_tail_count():
    found = pl.concat([tails()[0], tails()[0].with_columns(pl.col("flow") + 1_000, group=pl.lit("g"))])
    sized = found.with_columns(bytes=pl.col("flow"))
    chosen = Tail("few", ("bare", "no"), ("system", "yes"), group="g", bytes_below=1_100)
    reduced = ToTail(chosen, is_pooled=False, then=None)(run(sized))
    assert reduced.table(TAIL)["messages"].unique().to_list() == [100]


def test_runs_with_few_messages_each_are_pooled():
    pooled = Tail("events", ("bare", "no *"), ("system", "yes *"), percents=(50.0,))
    one = autopsies({"queue": 10})
    points = list(
        with_autopsies(pooled, [Point(f"{side} {number}", {}) for side in ("no", "yes") for number in (0, 1)])
    )
    runs = Runs({point.key: point.reduce(run(one)) for point in points})
    assert [row.measured for row in tail_rows(pooled, runs)] == [2.0, 2.0]
    with pytest.raises(MissingRun):
        list(tail_rows(pooled, Runs({})))


def test_the_picture_has_a_bar_for_each_side_and_percentile():
    runs = Runs({key: run(found, tail=tail_of(found)) for key, found in zip(("no", "yes"), tails(), strict=True)})
    plot = tail_plot(PAIR, runs)
    names = ["p50, bare", "p50, system", "p99, bare", "p99, system", "p99.9, bare", "p99.9, system"]
    assert list(plot.series[0].x) == names
    heights = [sum(series.y[place] for series in plot.series) for place in range(len(names))]
    assert heights == pytest.approx([10, 10, 2_010, 15, 2_010, 15])
    assert plot.caption.startswith("At p99.9 system takes 15 us")
    assert is_tail(plot)
    with_more = replace(plot, caption=f"{plot.caption} Runs with seed 1.")
    sides = {"bare": tail_of(tails()[0]), "system": tail_of(tails()[1])}
    assert words_of(with_more) == ("flows", sentence(sides))
    assert not is_tail(replace(plot, title="The tail"))
    assert [(row.series, row.metric, row.measured, row.verdict) for row in tail_rows(PAIR, runs)] == [
        ("bare", METRIC, 1_000.0, "unjudged"),
        ("system", METRIC, 1_000.0, "unjudged"),
    ]
