"""`hitless why` and autopsies, with the real simulator."""

import json
import math
import re

import polars as pl
import pytest

import hitless as hl
from hitless.outcome.autopsy import PARTS
from hitless.outcome.queries import HAVE_QUERIES
from hitless.outcome.times import times_of
from warm import hitless

LOST = """
name = "lost"
duration = "1 s"
until = "all-flows-done"
clocks = "ideal"
[topology]
kind = "graph"
hosts = ["h0", "h1"]
switches = ["s"]
links = [{ ends = ["h0", "s"], rate = "10 Gbps", delay = "25 us" },
         { ends = ["h1", "s"], rate = "10 Gbps", delay = "25 us" }]
[switch]
preset = "ideal"
[[transport]]
name = "t"
kind = "tcp"
congestion = "newreno"
rack_tlp = false
rto_min = "5 ms"
rto_initial = "5 ms"
[[flows]]
name = "f"
kind = "requests"
transport = "t"
sources = ["h0"]
destinations = ["h1"]
size = "1000 B"
count = 3
[[link]]
name = "h0->s"
loss = { kind = "periodic", every = 1000000, first = 1 }
"""
MEASURED = LOST + "[measure]\nautopsy = true\n"


INCAST = """
name = "incast"
duration = "1 s"
until = "all-flows-done"
[topology]
kind = "leaf-spine"
leaves = 3
spines = 1
hosts_per_leaf = 2
host_link = { rate = "10 Gbps", delay = "1 us" }
core_link = { rate = "10 Gbps", delay = "1 us" }
[[transport]]
name = "t"
kind = "tcp"
[[flows]]
name = "senders"
kind = "requests"
transport = "t"
sources = ["h2", "h3", "h4", "h5"]
destinations = ["h0", "h0", "h0", "h0"]
size = "60 KB"
count = 1
[measure]
autopsy = true
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("why")
    (folder / "lost.toml").write_text(MEASURED)
    hitless("run", "lost.toml", "--out", "out", cwd=folder)
    return folder / "out"


def test_the_slowest_flow_and_its_loss_come_first(out):
    first, *others = hitless("why", out).stdout.splitlines()
    assert first.startswith("flow 0 (f, 1 KB): ")
    assert "us waiting for the retransmission timer, because a packet was corrupted on h0->s" in first
    assert any(line.split()[:1] == ["retransmission"] for line in others), "the table of percentiles"


def test_all_parts_of_a_flow_add_up(out):
    document = json.loads(hitless("why", out, "0", "--json").stdout)
    assert sum(document["parts_us"].values()) == pytest.approx(document["fct_us"], abs=1e-6)
    assert "100.0%" in hitless("why", out, "0").stdout
    assert "no autopsy of flow 99" in hitless("why", out, "99", code=2).stderr


def test_the_report_shows_the_parts(out):
    assert "Parts of completion times" in (out / "report.html").read_text()


def test_a_folder_without_an_autopsy_says_how_to_get_one(tmp_path):
    assert "autopsy = true" in hitless("why", tmp_path, code=2).stderr


def test_a_run_in_python_explains_itself_and_has_the_same_results():
    run, plain = hl.run(MEASURED), hl.run(LOST)
    assert run.summary["trace_hash"] == plain.summary["trace_hash"]
    table = run.table("autopsy")
    total = table.select(pl.sum_horizontal(f"{part.name}_ps" for part in PARTS)).to_series()
    assert total.to_list() == (table["delivered_ps"] - table["started_ps"]).to_list()
    assert len(table) == len(run.messages) == 3
    assert run.why(0).table["part"][0] == "retransmission timeout"
    with pytest.raises(hl.BadInput, match="no autopsy"):
        plain.why(0)


def test_the_frames_in_front_are_named_and_take_the_wait(tmp_path):
    (tmp_path / "incast.toml").write_text(INCAST)
    hitless("run", "incast.toml", "--out", "out", cwd=tmp_path)
    sentence = hitless("why", "out", cwd=tmp_path).stdout.splitlines()[0]
    assert re.search(
        r" us at spine0->leaf0, behind \S+ KB of 3 flows \(senders\) and \S+ KB of its own flow\)", sentence
    )
    document = json.loads(hitless("why", "out", "0", "--json", cwd=tmp_path).stdout)
    run = hl.run(INCAST)
    [row] = run.table("autopsy").filter(pl.col("flow") == 0).iter_rows(named=True)
    assert sum(front["time_ps"] for front in document["front"]) == row["longest_queue_ps"] > 0
    assert sum(front["bytes"] for front in document["front"]) == row["front_bytes"]
    assert run.why(0).front.drop("flow", "number").to_dicts() == document["front"]
    assert "in front of the packet" in hitless("why", "out", "0", cwd=tmp_path).stdout


QUERIES = INCAST.replace(
    INCAST[INCAST.index("[[flows]]") : INCAST.index("[measure]")],
    """[[flows]]
name = "queries"
kind = "incast"
transport = "t"
fan_in = 3
size = "30 KB"
period = "1 ms"
count = 10
request = { size = "250 B", think = { mean = "20 us", deviation = "3 us" } }
""",
)


def test_queries_are_divided_along_their_last_answers(tmp_path):
    run = hl.run(QUERIES)
    [times] = [one for one in times_of(run) if one.what == "queries"]
    taken_us = [run.why_query(query).total_us for query in range(10)]
    assert sorted(taken_us) == pytest.approx(sorted(times.us))
    (tmp_path / "queries.toml").write_text(QUERIES)
    hitless("run", "queries.toml", "--out", "out", cwd=tmp_path)
    assert "Parts of query completion times" in (tmp_path / "out" / "report.html").read_text()
    assert hitless("why", "out", "--query", "3", cwd=tmp_path).stdout.startswith("query 3 (queries; the last answer is")
    first = hitless("why", "out", "--queries", "--slowest", "1", "--json", cwd=tmp_path).stdout
    [slowest] = json.loads(first)["slowest"]
    assert slowest["qct_us"] == pytest.approx(max(taken_us))
    assert slowest["parts_us"]["application"] > 10, "a server thinks"
    [path] = (tmp_path / "out").rglob("messages.parquet")
    path.write_bytes(b"not a table")
    assert hitless("why", "out", "3", cwd=tmp_path).stdout.startswith("flow 3"), "a flow needs no messages"


CUT = QUERIES.replace('duration = "1 s"\nuntil = "all-flows-done"', 'duration = "5.05 ms"')


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cut")
    (folder / "cut.toml").write_text(CUT)
    hitless("run", "cut.toml", "--out", "out", cwd=folder)
    return folder / "out"


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["3", "--query", "3"], "FLOW and --query exclude each other"),
        (["3", "--queries"], "FLOW and --queries exclude each other"),
        (["--number", "0", "--query", "3"], "--number and --query exclude each other"),
        (["--number", "0", "--queries"], "--number and --queries exclude each other"),
        (["--query", "3", "--queries"], "--query and --queries exclude each other"),
        (["--number", "0"], "--number needs a flow"),
        (["--query", "3", "--group", "quer"], "did you mean queries?"),
        (["--query", "3", "--group", "x"], "known: queries"),
        (["--queries", "--group", "x"], "known: queries"),
        (["--group", "x"], "known: queries"),
    ],
)
def test_arguments_without_effect_and_unknown_groups_are_refused(cut, words, rule):
    assert rule in hitless("why", cut, *words, code=2).stderr


def test_the_table_of_percentiles_says_how_many_messages_it_has_and_how_many_are_missing(cut):
    run = hl.run(CUT)
    missing = run.messages.filter(pl.col("delivered_ps") < 0)
    count = len(run.messages) - len(missing)
    assert len(missing) > 0 < count
    around = [f"p50: {math.ceil(0.75 * count) - count // 4} of {count} messages", "were not delivered and are missing"]
    for words in ([], ["--group", "queries"]):
        assert f"{around[0]}; {len(missing)} {around[1]}" in hitless("why", cut, *words).stdout
    queries, late = run.messages["query"].n_unique(), missing["query"].n_unique()
    assert (
        f" of {queries - late} queries; {late} lack answers and are missing" in hitless("why", cut, "--queries").stdout
    )


def test_parts_on_the_screen_have_four_digits(cut):
    numbers = re.findall(r"\d[\d,.]*", hitless("why", cut, "0").stdout.partition("share")[2])
    assert all(len(re.sub(r"\D", "", number).lstrip("0")) <= 5 for number in numbers), numbers


def test_without_queries_the_condition_for_them_is_told(out):
    told = hitless("why", out, "--queries").stdout
    assert told.startswith("no query to explain: incast groups with two or more queries have autopsies")
    assert HAVE_QUERIES in hitless("why", out, "--query", "0", code=2).stderr.replace("\n", " ")


def test_a_comparison_draws_both_sides(tmp_path):
    (tmp_path / "lost.toml").write_text(MEASURED)
    setting = "link[0].loss.first = 900000"
    done = hitless("compare", "lost.toml", "--set", setting, "--seeds", "3", "--out", "out", cwd=tmp_path)
    told = " ".join(done.stdout.split())
    assert re.search(r"At p50 .* takes .* us instead of .* \(means over all seeds, without an interval\)\.", told), told
    plots = json.loads((tmp_path / "out" / "plots.json").read_text())
    [parts] = [plot for plot in plots.values() if plot["title"] == "Parts of completion times"]
    assert {len(series["x"]) for series in parts["series"]} == {2}


def test_a_comparison_draws_the_queries_of_both_sides(tmp_path):
    (tmp_path / "queries.toml").write_text(QUERIES)
    setting = 'flows[0].size = "10 KB"'
    hitless("compare", "queries.toml", "--set", setting, "--seeds", "2", "--out", "out", cwd=tmp_path)
    plots = json.loads((tmp_path / "out" / "plots.json").read_text())
    [parts] = [plot for plot in plots.values() if plot["title"] == "Parts of query completion times"]
    assert {name.partition(", ")[0] for name in parts["series"][0]["x"]} == {"p50"}
    slow, fast = [sum(series["y"][side] for series in parts["series"]) for side in (0, 1)]
    assert slow > fast
