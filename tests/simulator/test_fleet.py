"""Years of a small fleet with the real simulator, on the command line."""

import functools
import json
import re
import signal
import subprocess
import time

import polars as pl
import pytest

from hitless import _native
from hitless.fleet.year import SCHEMA
from hitless.simulation import Simulation
from hitless_papers.campaign import Campaign
from hitless_papers.linkguardian import fleet as exhibits
from hitless_papers.linkguardian import testbed
from hitless_papers.linkguardian.basis import speed_percent
from hitless_papers.registry import select
from waiting import wait_until
from warm import PROGRAM, hitless

SMALL = "fabric:pods=6,tors=16"


def run_year(folder, *arguments):
    done = hitless("fleet", "run", "--out", str(folder), "--json", *arguments)
    return json.loads(done.stdout)


def test_a_year_leaves_its_series_in_the_published_columns(tmp_path):
    facts = run_year(tmp_path / "year", "-t", SMALL, "-p", "lg+corropt", "--capacity", "0.75")
    series = pl.read_csv(tmp_path / "year" / "series.tsv", separator="\t", schema=SCHEMA)
    events = facts["failures"] + facts["links_taken_down"]
    assert series.height == 2 + 2 * events
    assert series["min_per_tor_paths"].min() == facts["min_tor_paths"] == 48
    assert series["time"].is_sorted()
    # Two rows for each event: the state before and the state after, at the same time.
    assert (series["time"][1:-1].gather_every(2) == series["time"][2:].gather_every(2)).all()
    before, after = series[1:-1].gather_every(2).drop("time"), series[:-2].gather_every(2).drop("time")
    assert before.equals(after)
    assert pl.read_parquet(tmp_path / "year" / "series.parquet").equals(series)


def test_a_written_trace_and_written_repairs_repeat_a_year(tmp_path):
    trace = tmp_path / "trace.json"
    done = hitless("fleet", "trace", "-t", SMALL, "--seed", "5", "--out", str(trace), "--json")
    assert json.loads(done.stdout)["failures"] == len(json.loads(trace.read_text())["failure_events_list"])
    run_year(tmp_path / "drawn", "-t", SMALL, "-p", "corropt", "--seed", "5")
    run_year(tmp_path / "read", "--trace", str(trace), "-p", "corropt", "--seed", "5")
    repairs = str(tmp_path / "drawn" / "repairs.tsv")
    run_year(tmp_path / "replayed", "--trace", str(trace), "-p", "corropt", "--seed", "6", "--repairs", repairs)
    series = {name: (tmp_path / name / "series.tsv").read_bytes() for name in ("drawn", "read", "replayed")}
    assert series["drawn"] == series["read"] == series["replayed"]


def test_a_year_that_fails_on_the_way_leaves_no_folder(tmp_path):
    repairs = tmp_path / "repairs.tsv"
    repairs.write_text("sequence\tdisable_time_s\tlink\tdelay_s\n0\t1\t2\t3\n")
    arguments = ["-t", SMALL, "-p", "corropt", "--repairs", str(repairs), "--out", str(tmp_path / "year")]
    done = hitless("fleet", "run", *arguments, code=2)
    assert f"{repairs}:2" in done.stderr
    assert not (tmp_path / "year").exists()


def test_years_do_not_depend_on_the_number_of_cores(tmp_path):
    tables = []
    for jobs in ("1", "2", "5"):
        folder = tmp_path / jobs
        arguments = ["-t", SMALL, "--years", "5", "--capacity", "0.75", "-j", jobs, "--out", str(folder), "--json"]
        hitless("fleet", "compare", *arguments)
        tables.append([pl.read_parquet(folder / f"{name}.parquet") for name in ("years", "gains")])
    for other in tables[1:]:
        assert all(one.equals(another) for one, another in zip(tables[0], other, strict=True))


@pytest.mark.parametrize("hazard", [[], ["--hours", "20000"]])
def test_a_run_with_the_seed_of_a_row_of_years_repeats_the_row(tmp_path, hazard):
    arguments = ["-t", SMALL, "--capacity", "0.75", *hazard]
    hitless("fleet", "compare", *arguments, "--years", "1", "--out", str(tmp_path / "compare"), "--json")
    years = pl.read_parquet(tmp_path / "compare" / "years.parquet")
    assert years.height == 3
    for row in years.to_dicts():
        folder = tmp_path / f"{row['policy']}-{row['seed']}"
        facts = run_year(folder, *arguments, "-p", row["policy"], "--seed", str(row["seed"]))
        assert facts["links_taken_down"] == row["repairs"]
        same = [name for name in row if name in facts]
        assert "mean_effective_penalty" in same
        assert {name: row[name] for name in same} == {name: facts[name] for name in same}


def test_what_is_averaged_grows_with_the_hours(tmp_path):
    days = []
    for hours in ("300", "9000", "20000"):
        facts = run_year(tmp_path / hours, "-t", SMALL, "--hours", hours)
        days.append(facts["days"])
    assert days[0] == pytest.approx(300 / 24, rel=0.05)
    assert days[1:] == [365.0, 2 * 365.0]


def test_traces_without_time_to_take_a_mean_over_are_refused(tmp_path):
    rare = ["-t", "fabric:pods=2", "--hours", "100", "--mttf-hours", "100000000"]
    done = hitless("fleet", "compare", *rare, "--years", "2", "--out", "out", cwd=tmp_path, code=2)
    assert "needs two or more" in done.stderr
    assert "--hours 100, --mttf-hours 1e+08" in done.stderr
    assert not (tmp_path / "out").exists()
    # A single year must work, too.
    facts = run_year(tmp_path / "year", *rare)
    assert (facts["failures"], facts["days"], facts["mean_penalty"]) == (1, 0.0, None)


def test_a_trace_without_failures_is_refused(tmp_path):
    hitless("fleet", "trace", "-t", SMALL, "--out", "trace.json", cwd=tmp_path)
    trace = json.loads((tmp_path / "trace.json").read_text())
    (tmp_path / "trace.json").write_text(json.dumps(trace | {"failure_events_list": []}))
    done = hitless("fleet", "run", "--trace", "trace.json", "--out", "out", cwd=tmp_path, code=2)
    assert "no link fails" in done.stderr
    assert "where: trace.json" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_topology_from_a_file_runs(tmp_path):
    lines = [f"switch t{tor} 0" for tor in range(4)] + [f"switch s{spine} 1" for spine in range(4)]
    lines += [f"link t{tor} s{spine} 100" for tor in range(4) for spine in range(4)]
    (tmp_path / "net.txt").write_text("\n".join(lines))
    facts = run_year(tmp_path / "year", "-t", str(tmp_path / "net.txt"), "--capacity", "0.5", "--mttf-hours", "200")
    assert facts["min_tor_paths"] == 2
    # 16 links that fail every 200 hours, for 9,000 hours.
    assert facts["failures"] == pytest.approx(16 * 45, rel=0.1)
    assert facts["links_taken_down"] > 500


@pytest.fixture(scope="module")
def good_trace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trace")
    hitless("fleet", "trace", "-t", "fabric:pods=1,tors=2", "--out", "good.json", cwd=folder)
    return (folder / "good.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["-t", "fabirc"], "there is no topology 'fabirc'"),
        (["-t", "fabric:pods=0"], "pods=0"),
        (["-p", "corrupt"], "there is no policy"),
        (["--trace", "nowhere.json"], "cannot read"),
        (["--trace", "bad.json"], "bad.json:3:"),
        (["--trace", "good.json", "-t", "fat-tree:ports=4"], "made for"),
        (["-t", SMALL, "--repairs", "bad.tsv"], "bad.tsv:2"),
        (["--weibull-shape", "-1"], "Weibull"),
        (["-t", "x" * 300], "no such file"),
        (["-t", "fabric:pods=1, tors=2, gbps=1.5e6"], "1000000 Gb/s at most"),
        (["--trace", "empty.json"], "empty.json, topo_params"),
        (["--trace", "good.json", "-t", "fabric:pods=1,tors=2,gbps=400"], "links of 100 Gb/s"),
        (["--trace", "good.json", "--hours", "9000"], "--hours is for drawing"),
        (["--trace", "good.json", "--mttf-hours", "5", "--weibull-shape", "1"], "--mttf-hours, --weibull-shape"),
        (["-p", "corropt", "--deployment", "0.5"], "no LinkGuardian in corropt"),
        (["-p", "corropt", "--protection", "non-blocking"], "no LinkGuardian in corropt"),
        (["--protection", "fast"], "there is no protection 'fast', and no such file"),
        (["--protection", "bad.csv"], "bad.csv:3"),
        (["-t", SMALL, "--protection", "short.csv"], "the table ends at 1e-5"),
        (["-t", "leaf-spine:leaves=4,spines=4,gbps=1600"], "unknown on a link of 1600 Gb/s"),
        (["--trace", "good.json", "--repairs", "more.tsv"], "more.tsv:"),
    ],
)
def test_bad_input_is_refused_with_its_place(tmp_path, good_trace, arguments, wanted):
    (tmp_path / "good.json").write_text(good_trace)
    good = json.loads(good_trace)
    empty = good | {"topo_params": good["topo_params"] | {"num_pods": 0}}
    (tmp_path / "empty.json").write_text(json.dumps(empty))
    if "more.tsv" in arguments:
        run_year(tmp_path / "year", "--trace", str(tmp_path / "good.json"))
        repairs = (tmp_path / "year" / "repairs.tsv").read_text()
        (tmp_path / "more.tsv").write_text(f"{repairs}{len(repairs.splitlines()) - 1}\t99999999\t0\t1\n")
    (tmp_path / "bad.json").write_text('{\n"name": "t",\n"topo_type": "x"}')
    header = "gbps,loss_rate,effective_loss_rate,speed_percent\n100,1e-5,1e-10,99\n"
    (tmp_path / "bad.csv").write_text(f"{header}100,1e-4,0,99\n")
    (tmp_path / "short.csv").write_text(header)
    (tmp_path / "bad.tsv").write_text("sequence\tdisable_time_s\tlink\tdelay_s\n0\t1\t2\n")
    done = hitless("fleet", "run", *arguments, cwd=tmp_path, code=2)
    assert wanted in done.stderr


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--weibull-shape", "-1"], "Weibull"),
        (["--hours", "900000000"], "end of time"),
        (["-t", "x" * 300], "no such file"),
        (["--capacity", "0.5", "--capacity", "0.75", "--capacity", "0.50"], "a capacity is given twice"),
        (["-p", "none", "-p", "corropt", "--deployment", "0.5"], "no LinkGuardian in none, corropt"),
        (["-t", "leaf-spine:leaves=4,spines=4,gbps=1600"], "unknown on a link of 1600 Gb/s"),
    ],
)
def test_a_comparison_refuses_bad_input_before_it_makes_its_folder(tmp_path, arguments, wanted):
    done = hitless("fleet", "compare", "--years", "1", "--out", "out", *arguments, cwd=tmp_path, code=2)
    assert wanted in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_comparison_can_be_read_in_80_columns(tmp_path):
    years = ["-t", SMALL, "--years", "3", "-p", "lg+corropt", "-p", "corropt", "--deployment", "0.9"]
    done = hitless("fleet", "compare", *years, "--capacity", "0.75", "--out", str(tmp_path))
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert max(map(len, lines)) <= 80
    assert "…" not in done.stdout
    number = r"\d\S*"
    # Others are compared with the first, so its ratio is 1 in each year, without an interval.
    for policy, interval in ((r"lg\+corropt", ""), ("corropt", rf" \[{number}, {number}\]")):
        row = rf" *75% +{policy} +{number} +{number}{interval}"
        assert [line for line in lines if re.fullmatch(row, line)], done.stdout


def test_an_interrupt_keeps_the_years_that_are_done(tmp_path):
    command = [PROGRAM, "fleet", "compare", "-t", "fabric:pods=4", "--years", "9999", "--out", "out", "-j", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "out").exists():
        time.sleep(0.1)
    time.sleep(2)  # some of the years
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=300)
    assert process.returncode == 130, told
    assert "interrupted" in told
    assert pl.read_parquet(tmp_path / "out" / "years.parquet").height > 0


def test_a_single_year_tells_its_progress_at_sigquit_and_leaves_no_folder_after_a_hangup(tmp_path):
    command = [PROGRAM, "fleet", "run", "-t", "fabric:pods=100,tors=96", "--mttf-hours", "2000", "--out", "out"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until((tmp_path / "out").exists, process=process)
    time.sleep(0.3)
    process.send_signal(signal.SIGQUIT)
    time.sleep(0.2)
    process.send_signal(signal.SIGHUP)
    _, told = process.communicate(timeout=300)
    assert process.returncode == 130, told
    assert "% of the year is done\ninterrupted: keeping" in told
    assert list(tmp_path.iterdir()) == []


def test_protection_changes_the_speed_of_links_only_by_mode_and_both_by_table(tmp_path):
    (tmp_path / "table.csv").write_text("gbps,loss_rate,effective_loss_rate,speed_percent\n400,0.01,1e-11,50\n")
    facts = {}
    for protection in ("blocking", "non-blocking", str(tmp_path / "table.csv")):
        arguments = ["-t", f"{SMALL},gbps=400", "-p", "lg", "--protection", protection]
        facts[protection] = run_year(tmp_path / protection.replace("/", "-"), *arguments)
    blocking, free, table = facts.values()
    penalty, capacity = "mean_effective_penalty", "min_pod_capacity_gbps"
    assert blocking[penalty] == free[penalty] > table[penalty]
    assert free[capacity] > blocking[capacity] > table[capacity]


def test_the_exhibits_of_the_fleet_have_all_their_rows(monkeypatch):
    small = functools.partial(exhibits.Comparison, topology=SMALL)
    monkeypatch.setattr(exhibits, "Comparison", small)
    results = list(Campaign(select(["lg/fig15", "lg/fig16"]), effort="quick").results())
    assert not [failure for result in results for failure in result.failures]
    assert all(result.complete for result in results)
    rows = {(result.id, row.series, row.x, row.metric): row for result in results for row in result.rows}
    assert rows["lg/fig15", "LG+CorrOpt", "75%", "least paths of a ToR in any week"].unit == "%"
    # Seeds are fixed, so these are measurements of four small years, not expected values.
    median = rows["lg/fig16", "LG+CorrOpt", "75%", "median gain by events"]
    assert median.measured == pytest.approx(4_850, abs=1)
    assert (median.interval.low, median.interval.high) == pytest.approx((2_406, 7_260), abs=1)
    own = rows["lg/fig16", "LG+drain", "75%", "mean penalty over that of LG+CorrOpt"]
    assert own.measured == pytest.approx(95.97, abs=0.01)


def test_the_columns_are_those_of_the_published_simulator():
    assert list(SCHEMA) == [
        "time",
        "total_penalty",
        "total_effective_penalty",
        "avg_per_tor_paths",
        "min_per_tor_paths",
        "avg_per_pod_capacity",
        "min_per_pod_capacity",
        "max_link_loss_rate",
        "curr_disabled_links",
        "curr_corrupting_links",
        "max_lg_ports_per_pipe",
    ]


@pytest.mark.parametrize(("rate_gbps", "loss"), [(25, 1e-3), (50, 1e-3), (50, 1e-2), (400, 1e-3), (400, 1e-2)])
def test_the_arithmetic_of_a_protected_link_is_no_faster_than_a_run(rate_gbps, loss):
    shares = {}
    for mode in ("blocking", "non-blocking"):
        scenario = testbed.line_rate(rate_gbps, 60_000, name="saturated", loss=loss)
        scenario["switch"]["recirculation_rate"] = f"{max(100, rate_gbps)} Gbps"
        guardian = {"kind": "linkguardian", "link": testbed.LINK, "mode": mode, "deduplicate": True}
        scenario["mechanism"] = [guardian]
        run = Simulation(scenario, file_name="saturated").run()
        shares[mode] = speed_percent(run, rate_gbps)
        _, gbps = _native.FleetProtection(mode).at(rate_gbps, loss)
        # The start of a short run and the number of its losses make half a percent.
        assert shares[mode] - 5 < 100 * gbps / rate_gbps <= shares[mode] + 0.6, (mode, shares)
    assert shares["blocking"] <= shares["non-blocking"] + 0.1
