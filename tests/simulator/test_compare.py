"""`hitless compare` and the answer of `hitless run`, with the real simulator."""

import json
import signal
import subprocess
import time
from html import escape
from pathlib import Path

import pytest

import hitless as hl
from hitless.comparison.pairs import PairedRuns
from hitless.comparison.sides import Addition, Asked, one_file
from hitless.outcome.losses import needs_order_checker
from hitless.prototype.kinds import load
from hitless.runs.study import Study
from warm import PROGRAM, hitless
from worlds import flows, leaf_spine, tcp, websearch, world

LOSSY = Path(__file__).parents[2] / "examples" / "leaf-spine-lossy.toml"


@pytest.fixture
def lossy(tmp_path):
    text = LOSSY.read_text().replace('duration = "20 ms"', 'duration = "4 ms"').replace('warmup = "2 ms"', "")
    (tmp_path / "lossy.toml").write_text(text)
    return tmp_path


def metric(document, of, name):
    return next(row for row in document["metrics"] if (row["of"], row["metric"]) == (of, name))


def test_linkguardian_beside_none_in_one_command(lossy):
    done = hitless("compare", "lossy.toml", "--with", "linkguardian", "--seeds", "3", "--json", cwd=lossy)
    document = json.loads(done.stdout)
    assert (document["a"], document["b"], len(document["seeds"])) == ("none", "linkguardian", 3)
    assert document["same_arrivals"]
    lost = metric(document, "all", "packets lost to hosts")
    assert lost["a"] > 5
    assert (lost["b"], lost["finding"]) == (0.0, "lower")
    assert metric(document, "rpc, all sizes", "p99.9 FCT")["kind"] == "ratio"
    assert "spine0->leaf0" in done.stderr
    again = hitless("compare", "lossy.toml", "--with", "linkguardian", "--seeds", "3", cwd=lossy)
    assert "the same arrivals on both sides" in again.stdout
    assert max(map(len, again.stdout.splitlines())) <= 80


def test_a_seed_of_a_comparison_is_a_run_that_the_user_can_repeat(lossy):
    done = hitless(
        "compare", "lossy.toml", "--set", "flows.rpc.load=0.5", "--seeds", "1", "--seed", "4", "--json", cwd=lossy
    )
    document = json.loads(done.stdout)
    alone = json.loads(hitless("run", "lossy.toml", "--seed", "4", "--json", cwd=lossy).stdout)
    rows = {(row["series"], row["x"], row["metric"]): row["measured"] for row in alone["rows"]}
    assert metric(document, "all", "packets lost to hosts")["a"] == rows["all", "hosts", "packets lost to hosts"]
    assert not document["same_arrivals"]
    assert document["conclusion"] == ["One seed tells nothing of chance: run 10 seeds."]


EVERY_NTH = LOSSY.parent / "mechanisms" / "every_nth.py"


def test_python_compares_like_the_command_line_and_draws(lossy, monkeypatch):
    monkeypatch.chdir(lossy)
    made = hl.compare("lossy.toml", with_="linkguardian", seeds=3)
    done = hitless("compare", "lossy.toml", "--with", "linkguardian", "--seeds", "3", "--json", cwd=lossy)
    document = json.loads(done.stdout)
    folder = Path(document.pop("folder"))
    assert made.as_json() == document
    assert repr(made).startswith("Comparison('linkguardian' vs. 'none', 3 seeds: ")
    assert made.notes == ["linkguardian is on spine0->leaf0: the links that corrupt frames in this scenario"]
    lost = made.intervals("packets lost to hosts").row(0, named=True)
    assert (lost["b"], lost["finding"]) == (0.0, "lower")
    assert lost["ci_high"] < 0.0
    pairs = made.runs.filter(metric="packets lost to hosts")
    assert pairs["seed"].to_list() == list(made.seeds)
    assert pairs["a"].mean() == pytest.approx(lost["a"])
    html = made._repr_html_()
    assert all(escape(text) in html for text in made.conclusion)
    drawn = made.save("ratios.svg").read_text()
    assert "linkguardian (b) vs. none (a)" in drawn
    assert drawn.strip() == (folder / "pictures" / "compare-lossy-1.svg").read_text().strip()
    assert (
        made.plot("p99 FCT").plot.series[0].y == made.runs.filter(metric="p99 FCT", of="rpc, all sizes")["a"].to_list()
    )
    with pytest.raises(hl.BadInput, match="did you mean p99 FCT"):
        made.plot("p99FCT")


def test_python_compares_two_scenarios_and_own_classes(lossy, monkeypatch):
    monkeypatch.chdir(lossy)
    load([EVERY_NTH])
    scenario = hl.Scenario.from_file("lossy.toml")
    own = {"kind": "every-nth-py", "ports": ["spine0->leaf0"], "drop_every": 50}
    added = hl.compare(scenario, with_=own, seeds=1)
    both = hl.compare(scenario, scenario.with_("mechanism", [own]), seeds=1)
    assert (both.a, both.b) == ("lossy.toml (a)", "lossy.toml (b)")
    assert added.runs.equals(both.runs)
    assert added.intervals("packets dropped").row(0, named=True)["b"] > 10
    assert added.conclusion == ["One seed tells nothing of chance: run 10 seeds."]
    changed = hl.compare(scenario, settings={"flows.rpc.load": 0.5}, seeds=1)
    assert changed.b == "flows.rpc.load=0.5"
    for nothing in ({}, {"with_": []}):
        with pytest.raises(hl.BadInput, match="nothing to compare it with"):
            hl.compare(scenario, **nothing)
    with pytest.raises(hl.BadInput, match="did you mean linkguardian"):
        hl.compare(scenario, with_="linkgardian")


def test_a_comparison_frees_the_tables_of_complete_pairs(lossy):
    added = Asked([Addition.of("linkguardian")])
    sides = one_file(str(lossy / "lossy.toml"), (lossy / "lossy.toml").read_text(), added)
    pairs = PairedRuns(sides, 3)
    study = Study("compare/lossy", "lossy", pairs.points(), pairs.work_out, take=pairs.take, jobs=1)
    [result] = study.results()
    assert not any(task.run.tables for task in study.tasks)
    assert len(pairs.outcome.seeds) == 3
    assert len(result.rows) > 5


def loop(name, source, destination, **gap):
    return flows("sequence", [source], [destination], name=name, sizes=websearch("100 KB"), **gap)


LOOPS = world(
    "loops",
    leaf_spine(2, 2),
    tcp(),
    loop("hasty", "h0", "h1", gap="20 us"),
    loop("steady", "h2", "h3"),
    duration="2 ms",
)


def test_a_closed_loop_that_goes_faster_leaves_the_pairs_of_flows(tmp_path):
    (tmp_path / "loops.toml").write_text(LOOPS)
    command = ("compare", "loops.toml", "--set", "flows.hasty.gap=1 us", "--seeds", "2")
    document = json.loads(hitless(*command, "--json", cwd=tmp_path).stdout)
    assert (document["same_arrivals"], document["same_flows"]) == (False, True)
    of_steady = [row for row in document["metrics"] if row["of"].startswith("steady")]
    assert len(of_steady) > 2
    assert {row["finding"] for row in of_steady} == {"equal"}
    shown = " ".join(hitless(*command, cwd=tmp_path).stdout.split())
    assert "(equal sizes and hosts), with other starts in hasty" in shown
    larger = (*command[:2], "--set", "flows.hasty.sizes.largest=50 KB", *command[4:])
    assert not json.loads(hitless(*larger, "--json", cwd=tmp_path).stdout)["same_flows"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to compare it with"),
        (("--with", "linkgardian"), "did you mean linkguardian"),
        (("--with", "sqr"), "say which: --with 'sqr,links="),
        (("--with", "bolt"), "--with bolt,FIELD=VALUE or --set PATH=VALUE"),
        (("--with", "linkguardian,link=spine0-"), "the shell took the text after >"),
        (("--without", "afq"), "it has no mechanism"),
        (("lossy.toml", "--with", "afq"), "two files are given"),
    ],
)
def test_what_cannot_be_compared_says_what_to_type(lossy, arguments, message):
    done = hitless("compare", "lossy.toml", *arguments, cwd=lossy, code=2)
    assert message in done.stderr
    assert not (lossy / "results").exists()


def test_with_switches_on_what_the_scenario_leaves_off(tmp_path):
    text = (LOSSY.parent / "lossy-link.toml").read_text().replace('duration = "1 s"', 'duration = "300 ms"')
    (tmp_path / "lossy.toml").write_text(text)
    done = hitless("compare", "lossy.toml", "--with", "linkguardian", "--seeds", "2", "--json", cwd=tmp_path)
    assert "on from the start" in done.stderr
    lost = metric(json.loads(done.stdout), "all", "packets lost to hosts")
    assert lost["a"] > 0.0
    assert lost["b"] == 0.0


def test_dummies_and_copies_of_linkguardian_are_no_lost_packets(lossy):
    """Regression: "packets lost" grew from 759 to 1,515 with LinkGuardian, because of its own dummies."""
    with (lossy / "lossy.toml").open("a") as file:
        file.write('\n[[mechanism]]\nkind = "linkguardian"\nlink = "spine0->leaf0"\n')
    counted = hitless("run", "lossy.toml", "--json", cwd=lossy)
    rows = {(row["x"], row["metric"]): row["measured"] for row in json.loads(counted.stdout)["rows"]}
    assert rows["hosts", "packets lost to hosts"] == 0.0
    assert rows["corrupted on a link", "frames lost, those of mechanisms counted"] > 0.0
    with (lossy / "lossy.toml").open("a") as file:
        file.write("\n[measure]\norder = true\n")
    summary = json.loads(hitless("run", "lossy.toml", "--json", cwd=lossy).stdout)["summary"]
    assert summary["order"]["packets_lost"] == 0


@pytest.mark.parametrize("order", ["false", "true"])
def test_what_hosts_lose_is_the_same_by_counters_and_by_the_order_checker(lossy, order):
    with (lossy / "lossy.toml").open("a") as file:
        file.write(f"\n[measure]\norder = {order}\n")
    document = json.loads(hitless("run", "lossy.toml", "--json", cwd=lossy).stdout)
    rows = {(row["x"], row["metric"]): row["measured"] for row in document["rows"]}
    assert rows["hosts", "packets lost to hosts"] == document["summary"]["drops"]["corrupted on a link"]


def test_run_answers_on_one_screen(lossy):
    done = hitless("run", "lossy.toml", cwd=lossy)
    lines = done.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    for wanted in ("slowdown", "below 100 KB", "retransmitted", "timeouts", "goodput", "packets lost to hosts"):
        assert wanted in done.stdout


def test_a_mechanism_that_the_screen_does_not_know_is_shown_by_its_own_counters(lossy):
    with (lossy / "lossy.toml").open("a") as file:
        file.write('\n[[mechanism]]\nkind = "every-nth"\nports = ["spine0->leaf0"]\ndrop_every = 100\n')
    done = hitless("run", "lossy.toml", cwd=lossy)
    line = next(line for line in done.stdout.splitlines() if "every-nth: " in line)
    dropped = int(line.split("every-nth: ")[1].split(" packets dropped")[0].replace(",", ""))
    assert dropped > 0


@pytest.mark.parametrize(("kind", "is_unknown"), [("mine", True), ("bolt", True), ("rimm", True), ("dibs", False)])
def test_only_the_order_checker_tells_whose_frames_are_lost_beside_a_mechanism_that_may_send_its_own(kind, is_unknown):
    link = {"name": "a->b", "loss": {"kind": "bernoulli", "rate": 1e-3}}
    assert needs_order_checker({"mechanism": [{"kind": kind}], "link": [link]}) is is_unknown


def test_ctrl_c_keeps_the_pairs_that_are_done_and_the_same_command_goes_on(lossy):
    command = [PROGRAM, "compare", "lossy.toml", "--with", "linkguardian", "--seeds", "300", "--json", "--out", "out"]
    points = lossy / "out" / "points"
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=lossy) as process:
        while not points.is_dir() or len(list(points.glob("[0-9a-f]*"))) < 8:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130
    document = json.loads(stdout)
    done = len(document["seeds"])
    assert 2 <= done < 300
    assert metric(document, "all", "packets lost to hosts")["seeds"] == done
    assert f"interrupted: {done} of 300 seeds are done on both sides; the same command continues from there" in stderr
