"""The command line for users: processes, exit codes, and streams."""

import functools
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import warm
from hitless.cli.main import COMMANDS
from waiting import wait_until

HERE = Path(__file__).parent
FAKE = [sys.executable, str(HERE / "fake_hitless.py")]


@pytest.fixture
def hitless(tmp_path):
    return functools.partial(warm.fake_hitless, cwd=tmp_path)


def test_reproduce_prints_a_table_and_leaves_a_folder(hitless, tmp_path):
    done = hitless("reproduce", "--quick")
    assert "Against the papers" in done.stdout
    assert "demo/fig1: 2,000 messages instead of 300,000" in done.stdout
    assert len(done.stdout.splitlines()) <= 45
    assert max(map(len, done.stdout.splitlines())) <= 80
    [folder] = (tmp_path / "results").iterdir()
    assert folder.name.endswith("-reproduce")
    assert f"results/{folder.name}/report.html" in done.stderr
    assert {"manifest.json", "summary.json", "report.html", "rows.parquet"} <= {p.name for p in folder.iterdir()}
    assert {path.name for path in (folder / "pictures").iterdir()} == {"demo-fig1-1.svg", "demo-fig1-2.svg"}
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["seed"] == 1
    assert manifest["effort"] == "quick"
    assert manifest["drops"] == {"corruption": 180}
    names = {f"demo/fig1 seed {seed} {scheme}" for seed in (1, 2, 3) for scheme in ("none", "LG", "loss")}
    assert {run["name"] for run in manifest["runs"]} == names
    assert all((folder / run["scenario"]).is_file() for run in manifest["runs"])
    assert len({run["scenario"] for run in manifest["runs"]}) == len(names)


def test_the_next_commands_name_files_that_the_user_has(hitless, tmp_path):
    assert "hitless scenario example lossy-link --write" in hitless("reproduce", "--quick", "--out", "a").stdout
    (tmp_path / "hitless").touch()  # the program of a checkout
    assert "./hitless lab up examples/lossy-link.toml" in hitless("reproduce", "--quick", "--out", "b").stdout


def test_a_single_exhibit_shows_its_rows_and_several_only_when_asked(hitless):
    single = hitless("reproduce", "demo/fig1", "--quick").stdout
    assert "p99.9 FCT, loss / LG" in single
    assert "Against the papers" in single
    assert "p99.9 FCT, loss / LG" not in hitless("reproduce", "--quick").stdout
    assert "p99.9 FCT, loss / LG" in hitless("reproduce", "--quick", "--tables").stdout


def test_ids_are_forgiving(hitless):
    for typed in ("fig1", "DEMO/Fig1", "demo/fig1"):
        document = json.loads(hitless("reproduce", typed, "--quick", "--json").stdout)
        assert [exhibit["id"] for exhibit in document["exhibits"]] == ["demo/fig1"]


def test_out_overwrites_silently(hitless, tmp_path):
    hitless("reproduce", "demo/tab2", "--out", "out")
    before = (tmp_path / "out/summary.json").read_text()
    refused = hitless("reproduce", "demo/fig1", "--out", "out", code=2)
    assert "already results of another command: hitless reproduce demo/tab2 --out out" in refused.stderr
    assert (tmp_path / "out/summary.json").read_text() == before
    again = hitless("reproduce", "demo/tab2", "--out", "out")
    assert "are replaced" in again.stderr


def test_reproduce_json_is_one_document(hitless):
    done = hitless("reproduce", "demo/tab2", "demo/fig1", "--json", "--seed", "7", "--out", "out")
    document = json.loads(done.stdout)
    assert [(exhibit["id"], exhibit["seed"]) for exhibit in document["exhibits"]] == [
        ("demo/tab2", 7),
        ("demo/fig1", 7),
    ]
    assert {
        "series",
        "x",
        "metric",
        "unit",
        "paper",
        "measured",
        "seeds",
        "ci_low",
        "ci_high",
        "judge",
        "verdict",
        "note",
    } == set(document["exhibits"][1]["rows"][0])
    assert "3,000 messages instead of 300,000" in document["exhibits"][1]["rows"][0]["note"]


def test_some_points_of_an_exhibit(hitless):
    done = hitless("reproduce", "demo/long", "--points", "point 0", "--points", "point 2", "--json")
    [made] = json.loads(done.stdout)["exhibits"]
    assert [row["note"] for row in made["rows"]] == ["2 of 6 points"]
    refused = hitless("reproduce", "demo/long", "--points", "nothing", code=2)
    assert "'point 0', 'point 1'" in refused.stderr


def test_a_failed_run_is_exit_1_with_the_rest_intact(hitless):
    done = hitless("reproduce", "demo/failing", "demo/broken", "demo/tab2", "--json", code=1)
    assert [len(exhibit["rows"]) for exhibit in json.loads(done.stdout)["exhibits"]] == [1, 1, 1]
    assert "3 packets are missing" in done.stderr


def test_debug_shows_where_an_error_came_from(hitless):
    assert "Traceback" in hitless("--debug", "reproduce", "demo/broken", code=1, traceback=True).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "demo/fig2"], "did you mean demo/fig1"),
        (["reproduce", "--quick", "--full"], "exclude each other"),
        (["reproduce", "--seed", "-1"], "--seed"),
        (["reproduce", "--jobs", "0"], "--jobs"),
        (["reproduce", "--sed", "1"], "--sed"),
        (["run"], "FILE"),
        (["run", "missing.toml"], "missing.toml"),
        (["run", "unknown.toml"], "unknown field 'sed'"),
        (["run", "binary.toml"], "UTF-8"),
        (["run", "."], "cannot read"),
        (["run", "unknown.toml", "--out", ""], "a name must not be empty: give one"),
        (["scenario", "check", ""], "a name must not be empty"),
        (["scenario", "check", "unknown.toml"], "unknown field 'sed'"),
        (["sweep", "missing.toml"], "missing.toml"),
        (["sweep", "unknown.toml"], "unknown field 'sed'"),
        (["compare", "missing.toml", "--without", "linkguardian"], "missing.toml"),
        (["envelope", "no-such-mechanism"], "there is no mechanism"),
        (["scenario", "example", "one-lnik"], "did you mean one-link"),
        (["bench", "engine", "G"], "one of A, B, C"),
        (["bench", "switch", "wfq"], "one of fifo, sfq"),
        (["fly"], "fly"),
    ],
)
def test_wrong_usage_and_bad_input_are_exit_2(hitless, tmp_path, arguments, message):
    (tmp_path / "unknown.toml").write_text("sed = 1\n")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    done = hitless(*arguments, code=2)
    assert message in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "results").exists()


def test_run_keeps_all_tables(hitless, tmp_path):
    (tmp_path / "mine.toml").write_text(hitless("scenario", "example", "one-link").stdout)
    done = hitless("run", "mine.toml", "--out", "out", "--json")
    document = json.loads(done.stdout)
    assert document["seed"] == 5
    assert document["summary"]["transmissions"] == 10_000
    assert document["rows"][0]["metric"] == "p50 FCT"
    assert {"messages.parquet", "queues.parquet", "mine.toml"} <= {
        p.name for p in (tmp_path / "out/run-mine").iterdir()
    }


def test_run_reads_standard_input_and_takes_a_seed(hitless):
    done = hitless("run", "-", "--seed", "9", "--json", input="messages = 50\n")
    assert json.loads(done.stdout)["seed"] == 9
    assert "standard input" in hitless("run", "-", input="sed = 1", code=2).stderr


def test_a_run_that_fails_says_so(hitless, tmp_path):
    (tmp_path / "bad.toml").write_text("fails = true\n")
    done = hitless("run", "bad.toml", "--json", code=1)
    assert json.loads(done.stdout)["summary"] is None


def test_scenario_check_prints_every_default(hitless, tmp_path):
    (tmp_path / "mine.toml").write_text("messages = 5\n")
    done = hitless("scenario", "check", "mine.toml")
    assert 'scheme = "none"' in done.stdout
    assert "valid; effective" in done.stderr


def test_scenario_schema_and_examples(hitless):
    assert "the seed" in hitless("scenario", "schema").stdout
    assert json.loads(hitless("scenario", "schema", "--json").stdout)["title"] == "Scenario"
    assert "leaf-spine" in hitless("scenario", "example").stdout
    assert hitless("scenario", "example", "--list").stdout == hitless("scenario", "example").stdout


def test_an_example_is_written_into_the_current_folder_and_replaces_nothing(hitless, tmp_path):
    printed = hitless("scenario", "example", "one-link").stdout
    assert "next: hitless run one-link.toml" in hitless("scenario", "example", "one-link", "--write").stderr
    assert (tmp_path / "one-link.toml").read_text() == printed
    (tmp_path / "one-link.toml").write_text("mine")
    refused = hitless("scenario", "example", "one-link", "--write", code=2).stderr
    assert "already exists" in refused
    assert "hitless scenario example one-link > mine.toml" in refused
    assert (tmp_path / "one-link.toml").read_text() == "mine"
    assert "which example?" in hitless("scenario", "example", "--write", code=2).stderr
    assert "did you mean one-link" in hitless("scenario", "example", "one-lnik", "--write", code=2).stderr


def test_bench_json(hitless):
    one = json.loads(hitless("bench", "engine", "b", "--json").stdout)
    assert one["work"] == "B"
    assert one["instructions_per_transmission"] is None
    works = [item["work"] for item in json.loads(hitless("bench", "engine", "--json").stdout)]
    small = ["A", "B", "C", "fat-tree-128", "fat-tree-1024", "F", "strict", "linkguardian", "afq", "deflection"]
    small += ["linkguardian-64", "sqr-64", "autopsy"]
    assert works == small, "the large ones are run when they are named"
    assert "per CPU second" in hitless("bench", "engine", "A").stdout


def test_bench_compares_with_b_and_with_a_peer_round_by_round(hitless):
    one, two = json.loads(hitless("bench", "engine", "d", "a", "--json").stdout)
    assert (one["work"], round(one["ratio_to_base"], 6)) == ("D", 3.0)
    assert one["ratio_to_base_interval"] is None, "the fake takes as long in each round"
    assert (two["work"], round(two["ratio_to_base"], 6), "peer_ratio" in two) == ("A", 1.0, False)
    busy = "python3 -c 'sum(range(3_000_000))'"
    done = hitless("bench", "engine", "A", "--rounds", "3", "--beside", busy, "--json")
    measured = json.loads(done.stdout)
    assert 0.0 < measured["peer_cpu_s"] < 60.0
    low, high = measured["peer_ratio_interval"]
    assert low <= measured["peer_ratio"] <= high
    assert "CPU s of the peer" in hitless("bench", "engine", "A", "--rounds", "1", "--beside", busy).stdout


def test_bench_compares_threads_with_one_and_their_traces(hitless):
    one, two = json.loads(hitless("bench", "engine", "d", "a", "--threads", "4", "--json").stdout)
    assert (one["threads"], one["threads_speedup"], two["threads_speedup"]) == (4, 4.0, 4.0)
    assert round(one["threads_ratio"], 6) == 4.0
    done = hitless("bench", "engine", "C", "--threads", "2", code=1)
    assert "workload C produced another trace on 2 threads" in done.stderr


def test_a_run_has_the_threads_that_were_asked_for(hitless, tmp_path):
    (tmp_path / "quick.toml").write_text("seconds = 0.0\n")
    told = tmp_path / "threads"
    plain = {name: value for name, value in os.environ.items() if name != "HITLESS_THREADS"}
    for arguments, asked, threads in (
        ([], {}, 1),
        (["--threads", "3"], {"HITLESS_THREADS": "5"}, 3),
        ([], {"HITLESS_THREADS": "5"}, 5),
    ):
        environment = plain | asked | {"HITLESS_FAKE_THREADS": str(told)}
        hitless("run", "quick.toml", *arguments, env=environment)
        assert told.read_text() == str(threads)
    hitless("reproduce", "demo/fig1", "--quick", env=plain | {"HITLESS_FAKE_THREADS": str(told)})
    assert told.read_text() == "1"
    for nonsense in ("0", "many", "-1", "", "9999"):
        refused = hitless("run", "quick.toml", env=plain | {"HITLESS_THREADS": nonsense}, code=2)
        assert "HITLESS_THREADS" in refused.stderr


@pytest.mark.parametrize("command", ["no-such-program-here", "false", "an 'open quote"])
def test_a_peer_that_cannot_run_is_told(hitless, command):
    done = hitless("bench", "engine", "A", "--beside", command, code=1)
    assert command.split()[0] in done.stderr


def test_bench_switch_compares_with_a_plain_queue(hitless):
    measured = json.loads(hitless("bench", "switch", "sfq", "--json").stdout)
    assert [(item["discipline"], item["load"]) for item in measured] == [
        ("fifo", "high"),
        ("fifo", "over"),
        ("sfq", "high"),
        ("sfq", "over"),
    ]
    assert [round(item["ratio_to_base"], 6) for item in measured] == [1.0, 1.0, 1.5, 1.5]
    shown = hitless("bench", "switch").stdout
    assert "1.50 x" in shown
    assert "150 %" in shown
    assert "…" not in shown


def test_bench_says_how_to_get_valgrind(hitless, tmp_path):
    done = hitless("bench", "engine", "A", "--instructions", env=os.environ | {"PATH": str(tmp_path)}, code=1)
    assert "apt-get install valgrind" in done.stderr


@pytest.mark.parametrize(
    ("command", "text"),
    [("trace", "[[measure.capture]] with"), ("trace", "samples of [measure]:"), ("lab", "as set in [recovery].")],
)
def test_help_shows_the_brackets_of_scenario_files(hitless, command, text):
    shown = " ".join(hitless(command, "--help").stdout.replace("│", " ").split())
    assert text in shown


def test_list_and_help(hitless):
    assert "demo/failing" in hitless("reproduce", "--list").stdout
    assert json.loads(hitless("reproduce", "--list", "--json").stdout)[0]["id"] == "demo/broken"
    assert "hitless reproduce lg/fig8 --quick" in hitless("--help").stdout
    for command in (["reproduce"], ["run"], ["bench", "engine"]):
        assert "Examples:" in hitless(*command, "--help").stdout


def test_completion_knows_the_exhibits():
    environment = {
        "_HITLESS_COMPLETE": "complete_bash",
        "COMP_WORDS": "hitless reproduce demo/f",
        "COMP_CWORD": "2",
        "_TYPER_COMPLETE_TESTING": "1",
    }
    program = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(HERE)!r}); import fake_hitless;"]
    program[-1] += "sys.argv[0] = 'hitless'; from hitless.cli.main import app; app(prog_name='hitless')"
    done = subprocess.run(program, env=os.environ | environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["demo/failing", "demo/fig1"]


def test_a_full_disk_behind_standard_output_is_said_as_such():
    with Path("/dev/full").open("w") as full:
        command = [*FAKE, "reproduce", "--list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: there is no space for the data\n  where: standard output")
    assert "internal" not in done.stderr


def test_a_reader_who_leaves_early_costs_neither_the_report_nor_the_exit_code(tmp_path):
    command = [*FAKE, "reproduce", "demo/fig1", "--quick"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        process.stdout.close()
        stderr = process.stderr.read()
    assert (process.returncode, "report: results/" in stderr) == (0, True), stderr


def test_ctrl_c_keeps_what_is_done(tmp_path):
    command = [*FAKE, "reproduce", "demo/tab2", "demo/slow", "--json", "--jobs", "2", "--out", "out"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    # An exhibit without points is written at once; the two short points of the other take a tenth of a second.
    wait_until((tmp_path / "out" / "demo-tab2").exists)
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130
    assert [len(exhibit["rows"]) for exhibit in json.loads(stdout)["exhibits"]] == [1, 2]
    assert "1 of 2 exhibits are complete; the 3 rows done are kept" in stderr
    assert "the same command goes on from here" in stderr
    assert json.loads((tmp_path / "out/manifest.json").read_text())["interrupted"] is True


@pytest.mark.parametrize(
    "numbers", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGTERM), (signal.SIGHUP,)]
)
@pytest.mark.parametrize("command", ["run", "compare", "sweep"])
def test_a_second_ctrl_c_or_a_hangup_leaves_a_manifest_that_says_interrupted(tmp_path, command, numbers):
    (tmp_path / "slow.toml").write_text("seconds = 300.0\n")
    (tmp_path / "sweep.toml").write_text('scenario = "slow.toml"\nseeds = 2\n[axes]\nmedian_us = [1.0, 2.0]\n')
    arguments = {"run": ["slow.toml"], "compare": ["slow.toml", "--set", "median_us=2.0"], "sweep": ["sweep.toml"]}
    words = [*FAKE, command, *arguments[command], "--out", "out"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        wait_until((tmp_path / "out/manifest.json").exists, process=process)
        for number in numbers:
            process.send_signal(number)
            time.sleep(0.01)
        stderr = process.communicate(timeout=300)[1]
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert json.loads((tmp_path / "out/manifest.json").read_text())["interrupted"] is True


def test_a_closed_terminal_stops_a_run_with_its_results_and_nohup_lets_it_go_on(tmp_path):
    (tmp_path / "slow.toml").write_text("seconds = 4.0\n")
    for prefix, code in (([], 130), (["nohup"], 0)):
        out = tmp_path / f"out{code}"
        process, ours = pty.fork()
        if process == 0:
            os.chdir(tmp_path)
            os.execvp("env", ["env", *prefix, *FAKE, "run", "slow.toml", "--out", str(out)])  # noqa: S606
        wait_until((out / "manifest.json").exists)
        time.sleep(2.5)  # a bar is on the terminal
        os.close(ours)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == code
        assert json.loads((out / "manifest.json").read_text())["interrupted"] is (code == 130)
        assert (out / "report.html").exists()


def test_ctrl_c_prints_no_empty_tables_and_says_how_to_go_on(tmp_path):
    command = [*FAKE, "reproduce", "demo/endless", "--quick", "--jobs", "1", "--out", "out"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    wait_until((tmp_path / "out").exists)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130
    assert stdout == ""
    assert "to go on with what is missing: hitless reproduce demo/endless --quick" in stderr


def test_a_terminal_sees_a_bar(tmp_path):
    (tmp_path / "slow.toml").write_text("seconds = 4.0\n")
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "120"}
    with subprocess.Popen(
        [*FAKE, "run", "slow.toml"], stdout=subprocess.DEVNULL, stderr=theirs, cwd=tmp_path, env=environment
    ) as process:
        assert process.wait(timeout=300) == 0
    os.close(theirs)
    shown = os.read(ours, 100_000).decode(errors="replace")  # a pty gives 4096 bytes, wherever they end
    os.close(ours)
    assert "left" in shown
    assert "%" in shown


def test_a_closed_pipe_is_no_error(tmp_path):
    command = " ".join([*FAKE, "reproduce", "--list"]) + " | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "Traceback" not in done.stderr


def test_the_real_module_is_there(tmp_path):
    real = functools.partial(warm.hitless, cwd=tmp_path)
    assert real("--version").stdout.startswith("hitless 0.")
    real("run", "-", input="no_such_field = 1\n", code=2)
    real("reproduce", "zz/fig99", code=2)


def test_a_memory_limit_that_is_no_size_is_refused(hitless):
    assert "is not a size" in hitless("run", "-", "--memory", "much", code=2).stderr


def test_the_table_of_commands_says_what_each_says_of_itself():
    for name, command in COMMANDS.items():
        loaded = command.load(name)
        summary = " ".join(loaded.help.split("\n\n")[0].split())
        assert (loaded.name, summary) == (name, command.summary)


def test_help_of_all_commands_loads_none_of_them():
    code = "import sys; sys.argv = ['hitless', '--help']; from hitless.cli.main import app\n"
    code += "try: app()\nfinally: print([name for name in sys.modules if name.endswith('_app') or 'papers' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")
