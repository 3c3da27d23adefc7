"""The exhibits of today's transports, on invented results."""

import math

import numpy as np
import polars as pl
import pytest

from hitless.numbers import NOTHING
from hitless.simulation import Run, Summary
from hitless_papers import Context, Finding, Runs
from hitless_papers.field import answer, one_bad_link, validation
from hitless_papers.field.fabric import BASE_RTT_US, BUFFER_BYTES, Fabric
from hitless_papers.field.one_bad_link import ALL_TO_ALL, LAST, PERMUTATION, Scale, metric
from hitless_papers.field.transports import TRANSPORTS
from hitless_papers.field.troubles import CUT, HEALTHY, REROUTED, SLOW, Cell
from hitless_papers.seeds import over_seeds
from hitless_papers.summary.document import Summary as Kept
from hitless_papers.summary.document import SummaryExhibit, SummaryRow

QUICK = Context(effort="quick")
PS_PER_US = 10**6


def flows(times_us, unfinished=0):
    """Messages that start at 0 and take these times, and some that never end."""
    ends = [round(PS_PER_US * time) for time in times_us] + [-1] * unfinished
    messages = pl.DataFrame({"started_ps": [0] * len(ends), "delivered_ps": ends})
    return Run("", Summary({}), {"messages": messages})


def rows_of(make):
    """The rows of an exhibit, with invented runs for each cell and workload."""
    exhibit = one_bad_link.OneBadLink()
    found = {point.key: None for point in exhibit.points(QUICK)}
    cells = [(workload, cell) for workload in one_bad_link.WORKLOADS for cell in Scale.of(QUICK).cells()]
    runs = Runs({key: make(cell, workload) for key, (workload, cell) in zip(found, cells, strict=True)})
    return list(exhibit.rows(runs, QUICK))


@pytest.mark.parametrize(("hosts", "k"), [(2, 2), (16, 4), (128, 8), (1_024, 16)])
def test_a_fat_tree_has_k_cubed_over_four_hosts(hosts, k):
    fabric = Fabric.of_hosts(hosts)
    assert (fabric.k, fabric.hosts, len(fabric.switches)) == (k, hosts, 5 * k * k // 4)


def test_no_fat_tree_has_another_number_of_hosts():
    for hosts in (3, 100, 127, 1_000):
        with pytest.raises(ValueError, match=f"no fat tree of {hosts} hosts"):
            Fabric.of_hosts(hosts)


def test_a_buffer_holds_the_packets_of_an_idle_round_trip():
    assert math.ceil(BASE_RTT_US * 1e3 * 100 / 8 / 4_150) * 4_150 == BUFFER_BYTES


def test_all_95_experiments_are_read():
    found = validation.experiments()
    assert len(found) == 95
    keys = [(one.series, one.x) for one in found]
    assert len(set(keys)) == len(keys)
    one = next(one for one in found if "large queues" in one.name and "REPS" in one.name)
    assert (one.series, one.hosts, one.last_us) == ("NSCC", 1_024, 198.246)
    transport = one.transport()
    assert transport["paths"] == 128
    assert transport["path_choice"] == "reps"
    assert transport["acknowledge_bytes"] == "4000 B"
    assert transport["timeout"] == "1011.000 us"
    assert one.scenario()["switch"]["buffer"]["per_port"] == f"{500 * 4_150} B"


@pytest.mark.parametrize(
    ("name", "links", "buffer", "thresholds"),
    [
        ("Small permutation, INC (16 nodes)", ["core0->agg0"], "44612 B", ("9337 B", "36312 B")),
        (
            "Large permutation, bitmap, large queues (1024 nodes), 8 core links running at 10% capacity",
            [f"core{number}->agg0" for number in range(8)],
            "518750 B",
            ("9337 B", "36312 B"),
        ),
    ],
)
def test_links_of_failed_have_a_quarter_of_rate_buffer_and_thresholds(name, links, buffer, thresholds):
    one = next(one for one in validation.experiments() if one.x == name)
    scenario = one.scenario()
    assert scenario["link"] == [{"name": link, "rate": "25 Gbps"} for link in links]
    [port] = scenario["switch"]["ports"]
    assert (port["rate"], port["buffer"]) == ("25 Gbps", buffer)
    assert (port["ecn"]["threshold"], port["ecn"]["maximum"]) == thresholds
    assert scenario["transport"][0]["base_rtt"] == "14022.72 ns"
    whole = scenario["switch"]["ecn"]
    assert (whole["threshold"], whole["maximum"]) == ("37350 B", "145250 B")


def test_the_short_flows_of_the_overlapped_incast_start_later():
    """htsim_uec reads `start 40` in microseconds."""
    lines = (validation.FOLDER / "three_to_one.flows").read_text().splitlines()[1:]
    assert lines == ["127 0 2000000 0", "95 0 250000 40000", "61 0 250000 40000"]


def test_an_experiment_is_judged_by_its_last_and_first_flow():
    one = validation.experiments()[0]
    # The authors give the times at which flows end, not how long they take.
    started_ps, finished_ps = [0, 40_000_000], [170_000_000, 180_000_000]
    ends = pl.DataFrame({"outcome": ["completed"] * 2, "started_ps": started_ps, "finished_ps": finished_ps})
    last, first = validation._rows(one, Run("", Summary({}), {"flows": ends}))
    assert (last.measured, first.measured) == (180.0, 170.0)
    assert (last.verdict, first.verdict) == ("match", "match")
    open_end = ends.with_columns(outcome=pl.Series(["completed", "unfinished"]))
    last, first = validation._rows(one, Run("", Summary({}), {"flows": open_end}))
    assert (last.measured, last.verdict, first.verdict) == (math.inf, "differs", "match")


def test_each_protection_runs_only_where_it_can_act():
    cells = Scale.of(QUICK).cells()
    assert {cell.transport.name for cell in cells if cell.protection is REROUTED} == {"NSCC", "RCCC", "MRC"}
    assert {cell.protection.name for cell in cells if cell.trouble is CUT} == {"", "rerouted", "SQR"}
    assert {cell.protection.name for cell in cells if cell.trouble is SLOW} == {""}
    full = {cell.x for cell in Scale.of(Context(effort="full")).cells()}
    assert {f"loss 1e-{n}, LG_NB" for n in (2, 3, 4, 5)} < full


def test_the_all_to_all_of_the_full_form_has_128_hosts_in_all_pods():
    members = Scale.of(Context(effort="full")).flows(ALL_TO_ALL)["hosts"]
    assert len(members) == 128
    assert {int(name[1:]) // 64 for name in members} == set(range(16))
    assert Scale.of(QUICK).flows(ALL_TO_ALL)["hosts"] == [f"h{number}" for number in range(128)]


def test_a_flow_that_does_not_end_makes_the_last_flow_infinite_and_the_tail_too_if_it_is_one_in_a_hundred():
    def make(cell, workload):
        return flows(np.linspace(100, 200, 400), unfinished=1 if workload == PERMUTATION else 40)

    rows = {(row.metric, row.series, row.x): row for row in rows_of(make)}
    row = rows[metric(LAST, PERMUTATION), "NSCC", "healthy"]
    assert (row.measured, row.verdict, str(row.completed[0])) == (
        math.inf,
        "unjudged",
        "NSCC: 99.7 % of 401 flows finished",
    )
    assert rows[metric("p99", PERMUTATION), "NSCC", "healthy"].measured == pytest.approx(199.2, abs=0.3)
    assert rows[metric("p99", ALL_TO_ALL), "NSCC", "healthy"].measured == math.inf


def summary(make):
    """A summary of three seeds of the exhibit."""
    seeds = (1, 2, 3)
    merged = over_seeds(
        [(seed, rows_of(lambda cell, _, seed=seed: make(cell, seed))) for seed in seeds], takes_one=False
    )
    kept = [
        SummaryRow(seeds=(), **{name: value for name, value in row.as_json().items() if name in _FIELDS})
        for row in merged
    ]
    exhibit = SummaryExhibit(
        id=answer.EXHIBIT, effort="quick", commit="0", seeds=seeds, wall_s=1, not_judged=0, rows=tuple(kept)
    )
    return Kept(exhibits=[exhibit])


_FIELDS = ("series", "x", "metric", "unit", "paper", "judge", "measured", "ci_low", "ci_high", "verdict")


def test_readmes_table_and_sentences_have_the_means_over_seeds():
    def make(cell, seed):
        bad = {"loss 1e-2": 1.5, "loss 1e-2, LLR": 1.02, CUT.name: 2.0, f"{CUT.name}, {REROUTED.name}": 1.1}
        if cell.transport.name == "TCP" and cell.x == CUT.name:
            return flows([100], unfinished=1)
        return flows([200 * bad.get(cell.x, 1.0) + (seed - 2)])

    [exhibit] = summary(make).exhibits
    assert all(row.is_finding for row in exhibit.rows)
    assert exhibit.verdicts == {}
    text = answer.short(exhibit.row, exhibit.effort)
    assert f"| link | {' | '.join(transport.name for transport in TRANSPORTS)} |" in text
    assert "| healthy | 200 | 200 | 200 | 200 | 200 | 200 |" in text
    assert "| cut | 400 | 400 | no end | 400 | 400 | 400 |" in text
    assert f"| cut, rerouted | {NOTHING} | {NOTHING} | {NOTHING} | 220 | 220 | 220 |" in text
    assert "One of 384 links" in text
    assert "NSCC +50 %" in text
    assert "NSCC +100 %, RCCC +100 %, MRC +100 %" in text
    assert "200 [197.5, 202.5]" in answer.whole(exhibit.row, exhibit.effort)


def test_a_finding_has_no_verdict_whatever_its_number():
    assert Finding().judge(1.0, 1.0, None).verdict == "unjudged"
    assert Cell(TRANSPORTS[0], HEALTHY, HEALTHY.protections[0]).x == "healthy"
