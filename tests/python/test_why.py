"""Explanations of completion times, from autopsies made up here."""

import polars as pl
import pytest

from hitless.drawing.palette import Palette
from hitless.drawing.svg import draw
from hitless.errors import BadInput
from hitless.outcome.autopsy import PARTS, Why, parts_at, parts_plot, slowest, why

US = 1_000_000


def autopsy(flow: int, number: int = 0, *, told: dict[str, object] | None = None, **parts_us: int) -> dict[str, object]:
    """A row: the parts in microseconds, and further columns."""
    assert parts_us.keys() <= {part.name for part in PARTS}
    times = {f"{part.name}_ps": parts_us.get(part.name, 0) * US for part in PARTS}
    blank = {"round_trips": 0, "earlier_rounds_ps": 0, "longest_queue": "", "longest_queue_ps": 0, "recoveries": 0}
    loss = {"longest_recovery": "", "longest_recovery_ps": 0, "lost_at": "", "lost_because": ""}
    return {"flow": flow, "group": "f", "number": number, **times, **blank, **loss, **(told or {})}


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
    svg = draw(plot, Palette([plot]))
    [low, high] = [float(part.partition('y="')[2].partition('"')[0]) for part in svg.split("<rect")[1:4:2]]
    assert high < low, "the second part is above the first"
    assert parts_plot({"a": fast.clear()}) is None
