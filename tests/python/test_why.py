"""Explanations of completion times, from autopsies made up here."""

import polars as pl
import pytest

from hitless.drawing.palette import Palette
from hitless.drawing.svg import draw
from hitless.errors import BadInput
from hitless.outcome.around import PERCENTILES, around, changes_between, counts_at, parts_at, parts_plot, sentences_at
from hitless.outcome.autopsy import PARTS, Why, explained, slowest, why
from hitless.outcome.queries import HAVE_QUERIES, queries_of, unanswered, why_query
from hitless.outcome.schema import TYPES, declared_tables

US = 1_000_000


def autopsy(flow: int, number: int = 0, *, told: dict[str, object] | None = None, **parts_us: int) -> dict[str, object]:
    """A row: the parts in microseconds, and further columns."""
    assert parts_us.keys() <= {part.name for part in PARTS}
    times = {f"{part.name}_ps": parts_us.get(part.name, 0) * US for part in PARTS}
    blank = {"round_trips": 0, "earlier_rounds_ps": 0, "longest_queue": "", "longest_queue_ps": 0, "recoveries": 0}
    loss = {"longest_recovery": "", "longest_recovery_ps": 0, "lost_at": "", "lost_because": ""}
    return {"flow": flow, "group": "f", "number": number, "bytes": 1_000, **times, **blank, **loss, **(told or {})}


def lost(by: str, at: str, because: str, count: int = 1) -> dict[str, object]:
    return {"recoveries": count, "longest_recovery": by, "lost_at": at, "lost_because": because}


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (
            autopsy(0, timeout=2_064, propagation=122, told=lost("timeout", "sw2->sw6", "corrupted")),
            "2,186 us: 2,064 us waiting for the retransmission timer, because a packet was corrupted on sw2->sw6",
        ),
        (
            autopsy(0, queue=80, propagation=20, told={"longest_queue": "leaf0->h1", "longest_queue_ps": 60 * US}),
            "100 us: 80 us in queues (60 us at leaf0->h1) and 20 us in propagation",
        ),
        (
            autopsy(0, propagation=90, serialisation=10, told={"round_trips": 3, "earlier_rounds_ps": 70 * US}),
            "100 us: 90 us in propagation; it took 3 more round trips",
        ),
        (
            autopsy(0, fast_recovery=90, queue=10, told=lost("acknowledgement", "s->h", "queue full", 2)),
            "100 us: 90 us waiting until acknowledgements made the sender repeat a lost packet, because a packet was "
            "dropped at s->h (queue full), the longest of 2 recoveries",
        ),
        (
            autopsy(0, fast_recovery=90, queue=10, told=lost("acknowledgement", "s->h", "trimmed")),
            "100 us: 90 us waiting until acknowledgements made the sender repeat a lost packet, because a packet was "
            "trimmed at s->h",
        ),
        (
            autopsy(0, probe=90, queue=10, told=lost("probe", "", "")),
            "100 us: 90 us waiting for the tail loss probe, because acknowledgements were late or lost (no packet was)",
        ),
        (
            autopsy(0, timeout=5, told=lost("timeout", "a->b", "link down")),
            "5 us: 5 us waiting for the retransmission timer, because a packet was lost on a->b, which was down",
        ),
    ],
)
def test_a_sentence_names_the_longest_parts_and_their_causes(row: dict[str, object], sentence: str) -> None:
    assert str(why(pl.DataFrame([row]), 0)) == sentence


def front(flow: int, kind: str = "data", **columns: object) -> dict[str, object]:
    """A row of frames in front of flow 0's packet."""
    known = {"flow": 0, "number": 0, "kind": kind, "front_group": "", "front_flow": flow, "front_flows": 0}
    rest = {"mechanism": "", "frames": 1, "bytes": 1_000, "time_ps": US}
    assert columns.keys() <= {*known, *rest}
    return {**known, **rest, **columns}


def test_a_sentence_names_the_frames_in_front() -> None:
    rows = [
        front(0, front_group="f", front_flows=1, bytes=9_000),
        front(7, front_group="incast", front_flows=1, bytes=40_000),
        front(9, front_group="incast", front_flows=30, bytes=172_000),
        front(3, front_group="lone", front_flows=1, bytes=20_000),
        front(0, "copies", mechanism="linkguardian", bytes=18_000),
        front(0, "control", bytes=64),
        {**front(5, front_flows=1, bytes=1_000_000), "number": 1},
    ]
    queued = autopsy(0, queue=80, propagation=20, told={"longest_queue": "leaf0->h1", "longest_queue_ps": 60 * US})
    found = why(pl.DataFrame([queued]), 0, fronts=pl.DataFrame(rows))
    behind = "behind 212 KB of 31 flows (incast), 20 KB of flow 3 (lone) and 18 KB of copies by linkguardian"
    assert str(found) == f"100 us: 80 us in queues (60 us at leaf0->h1, {behind}) and 20 us in propagation"
    assert found.front["bytes"].to_list() == [172_000, 40_000, 20_000, 18_000, 9_000, 64]
    own = [front(0, front_group="f", front_flows=1), front(0, "acknowledgements", front_group="f", front_flows=1)]
    told = str(why(pl.DataFrame([queued]), 0, fronts=pl.DataFrame(own)))
    assert "behind 1 KB of its own flow and 1 KB of acknowledgements" in told


def answers(*rows: tuple[int, str, int, int, int]) -> dict[str, pl.DataFrame]:
    """Tables of messages with flow, group, query, start and end in microseconds; an end below 0 is in flight."""
    messages, autopsies = [], []
    for flow, group, query, start, end in rows:
        times = {"started_ps": start * US, "delivered_ps": max(end * US, -1)}
        messages.append({"flow": flow, "group": group, "number": 0, "query": query, **times})
        if end >= 0:
            queue = 1
            autopsies.append({**autopsy(flow, queue=queue, stack=end - start - queue), "group": group, **times})
    return {"messages": pl.DataFrame(messages), "autopsy": pl.DataFrame(autopsies)}


def test_a_query_has_the_parts_of_its_last_answer() -> None:
    tables = answers(
        (0, "incast", 0, 10, 90),
        (1, "incast", 0, 10, 99),
        (2, "incast", 1, 20, 50),
        (3, "incast", 1, 25, 60),
        (4, "incast", 2, 30, 70),
        (5, "incast", 2, 30, -1),
        (6, "other", 0, 0, 500),
        (7, "second", 1, 0, 7),
    )
    found = queries_of(tables)
    assert found.select("group", "query", "flow").rows() == [("incast", 0, 1), ("incast", 1, 3), ("second", 1, 7)], (
        "query 2 lacks an answer, and `other` has no queries"
    )
    total = found.select(pl.sum_horizontal(f"{part.name}_ps" for part in PARTS)).to_series()
    assert total.to_list() == (found["delivered_ps"] - found["started_ps"]).to_list() == [89 * US, 40 * US, 7 * US]
    one = why_query(tables, 1, "incast")
    # The last answer started 5 us after its query.
    assert (one.flow, one.query, one.parts_us["application"]) == (3, 1, 5.0)
    for query, group, rule in [(1, None, "several groups"), (2, None, "no autopsy of query 2"), (0, "other", "other")]:
        with pytest.raises(BadInput, match=rule):
            why_query(tables, query, group)


def test_a_flow_is_explained_by_its_slowest_message_or_by_the_one_asked_for() -> None:
    autopsies = pl.DataFrame([autopsy(3, 0, queue=5), autopsy(3, 1, queue=9, stack=1), autopsy(4, 0, queue=99)])
    found = why(autopsies, 3)
    assert (found.number, found.total_us, found.parts_us) == (1, 10.0, {"queues": 9.0, "host stack": 1.0})
    assert found.table["share"].to_list() == [0.9, 0.1]
    assert why(autopsies, 3, 0).total_us == 5.0
    assert [(one.flow, one.number) for one in slowest(autopsies, 2)] == [(4, 0), (3, 1)]
    for flow, number in [(5, None), (3, 2)]:
        with pytest.raises(BadInput, match=f"flow {flow}"):
            why(autopsies, flow, number)


def test_the_parts_around_a_percentile_add_up_to_its_mean() -> None:
    autopsies = pl.DataFrame([autopsy(flow, queue=flow, propagation=10) for flow in range(1, 1_001)])
    found = parts_at(autopsies)
    assert found["part"].to_list() == ["propagation", "queues", "completion time"]
    # Ranks 251 to 750, 986 to 995, and 999 to 1,000.
    assert found["p50"].to_list() == [10.0, 500.5, 510.5]
    assert found["p99"].to_list() == [10.0, 990.5, 1000.5]
    assert found["p99.9"].to_list() == [10.0, 999.5, 1009.5]
    assert parts_at(autopsies.head(99)).columns == ["part", "p50"], "99 messages have no p99"
    assert parts_at(autopsies.clear()).columns == ["part"]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            # Three corrupted packets on two links, and another loss; 20 us are too short for the sentence.
            [
                autopsy(flow, timeout=900, propagation=20, told=lost("timeout", at, because))
                for flow, (at, because) in enumerate(
                    [("a->b", "corrupted"), ("b->c", "corrupted"), ("b->c", "corrupted"), ("c->d", "link down")]
                )
            ],
            "920 us: 900 us waiting for the retransmission timer "
            "(3 of 4 messages: a packet was corrupted on b->c in 2, at 1 other place in the rest)",
        ),
        (
            [
                autopsy(0, queue=40, pacing=30, told={"longest_queue": "b->c"}),
                autopsy(1, queue=60, pacing=50, told={"longest_queue": "a->b"}),
            ],
            "90 us: 50 us in queues (1 of 2 messages: longest at a->b; the others at 1 more port) "
            "and 40 us between packets that the sender paced",
        ),
        (
            [autopsy(0, probe=9, told=lost("probe", "", "")), autopsy(1, probe=1, told=lost("probe", "", ""))],
            "5 us: 5 us waiting for the tail loss probe "
            "(2 of 2 messages: acknowledgements were late or lost (no packet was))",
        ),
        ([autopsy(0), autopsy(1)], "0 us: 0 us for the application"),
    ],
)
def test_a_sentence_about_a_percentile_has_the_most_frequent_cause(
    rows: list[dict[str, object]], sentence: str
) -> None:
    # The half around the median are these rows, because a quarter is faster and a quarter is slower.
    faster, slower = autopsy(0), autopsy(0, stack=1_000_000)
    quarter = len(rows) // 2
    autopsies = pl.DataFrame([faster] * quarter + rows + [slower] * quarter)
    assert sentences_at(autopsies, percents=[50.0]) == {"p50": sentence}


def test_the_counts_of_messages_around_percentiles_are_those_of_their_means() -> None:
    for count in (0, 1, 99, 100, 1_000, 74_083):
        autopsies = pl.DataFrame([autopsy(0, queue=1)]).select(pl.all().repeat_by(count).explode())
        found = {f"p{percent:g}": len(around(autopsies, percent)) for percent in PERCENTILES}
        assert counts_at(count) == {name: around for name, around in found.items() if around}
    assert counts_at(74_083)["p99.9"] == 75


def test_only_the_frames_in_front_of_explained_messages_are_read(tmp_path) -> None:
    fronts = pl.DataFrame([{**front(7, front_group="g", front_flows=1), "flow": flow} for flow in range(3)])
    fronts.write_parquet(tmp_path / "front.parquet")
    queued = [autopsy(flow, queue=9, told={"longest_queue": "s->h", "longest_queue_ps": US}) for flow in range(3)]
    found = pl.DataFrame(queued)
    lazily = explained(found.head(2), pl.scan_parquet(tmp_path / "front.parquet"))
    assert [one.sentence for one in lazily] == [one.sentence for one in explained(found, fronts)][:2]
    assert lazily[1].front.equals(fronts.filter(pl.col("flow") == 1))
    nothing = explained(found)[0].front
    assert nothing.is_empty()
    assert nothing.schema == {column.name: TYPES[column.type] for column in declared_tables()["autopsy_front"].columns}


def test_a_misspelt_group_of_queries_is_refused_with_the_known_ones() -> None:
    tables = answers((0, "incast", 0, 10, 90), (1, "incast", 1, 10, 99), (2, "plain", 0, 0, 1))
    with pytest.raises(BadInput, match="no answered query is of a group 'incst'") as refused:
        why_query(tables, 0, "incst")
    assert "incast" in refused.value.hint
    with pytest.raises(BadInput, match="no autopsy of query 0 of plain") as refused:
        why_query(answers((0, "plain", 0, 0, 1)), 0, "plain")
    assert refused.value.hint == HAVE_QUERIES


def test_queries_with_missing_answers_are_counted() -> None:
    tables = answers((0, "a", 0, 0, 9), (1, "a", 1, 0, -1), (2, "a", 1, 0, 9), (3, "b", 0, 0, -1), (4, "b", 1, 0, -1))
    assert unanswered(tables["messages"]) == 3


def test_a_value_is_shown_as_its_sentence() -> None:
    found = why(pl.DataFrame([autopsy(0, queue=1)]), 0)
    assert isinstance(found, Why)
    assert str(found) in found._repr_html_()


def test_bars_of_parts_stand_on_each_other_and_reach_the_completion_time() -> None:
    fast = pl.DataFrame([autopsy(flow, queue=30, propagation=10) for flow in range(10)])
    slow = pl.DataFrame([autopsy(flow, timeout=160, propagation=40, pipeline=1) for flow in range(10)])
    plot = parts_plot({"a": fast, "b": slow})
    assert plot is not None
    drawn = {one.name: (list(one.base), list(one.y)) for one in plot.series}
    assert drawn == {
        "propagation": ([0.0, 0.0], [10.0, 40.0]),
        "queues": ([10.0, 40.0], [30.0, 0.0]),
        "retransmission timeout": ([40.0, 40.0], [0.0, 160.0]),
        "other parts": ([40.0, 200.0], [0.0, 1.0]),
    }
    assert plot.series[0].x == ["p50, a", "p50, b"]
    parts = "it removes 30 us (queues), and adds 160 us (retransmission timeout) and 30 us (propagation)"
    assert changes_between(fast, slow, "b") == f"At p50 b takes 201 us instead of 40 us: {parts}"
    assert plot.caption.startswith(f"{changes_between(fast, slow, 'b')}. p50, a: 40 us: 30 us in queues")
    assert changes_between(fast, fast, "b") == "At p50 b takes 40 us instead of 40 us: no part differs by 5 %"
    assert changes_between(fast, slow.clear(), "b") == ""
    svg = draw(plot, Palette([plot]))
    [low, high] = [float(part.partition('y="')[2].partition('"')[0]) for part in svg.split("<rect")[1:4:2]]
    assert high < low, "the second part is above the first"
    assert parts_plot({"a": fast.clear()}) is None
