"""The command line with the real simulator, as users call it."""

import json
import os
import re
import subprocess
import sys

import pytest

from warm import PROGRAM, hitless


def test_it_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "hitless", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("hitless ")


def test_reproduce_prints_one_json_document_and_writes_a_folder(tmp_path):
    done = hitless("reproduce", "lg/overhead", "--quick", "--json", "--out", str(tmp_path / "out"))
    (exhibit,) = json.loads(done.stdout)["exhibits"]
    header = next(row for row in exhibit["rows"] if (row["series"], row["metric"]) == ("LG", "header"))
    assert (header["measured"], header["paper"], header["verdict"]) == (3.0, 3.0, "match")
    assert "instead of" in header["note"]
    written = {path.name for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {"manifest.json", "summary.json", "report.html"} <= written
    manifest = json.loads(next((tmp_path / "out").rglob("manifest.json")).read_text())
    assert manifest["seed"] == 1


def test_an_example_scenario_can_be_printed_checked_and_run(tmp_path):
    scenario = tmp_path / "mine.toml"
    scenario.write_text(hitless("scenario", "example", "linkguardian-testbed").stdout)
    hitless("scenario", "check", str(scenario))
    done = hitless("run", str(scenario), "--json", "--out", str(tmp_path / "out"))
    assert json.loads(done.stdout)["summary"]["flows"]["completed"] == 1
    assert list((tmp_path / "out").rglob("*.parquet"))


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("bash", "complete -o default -F _hitless_completion hitless"),
        ("zsh", "compdef _hitless_completion hitless"),
        ("fish", "complete --command hitless"),
    ],
)
def test_a_shell_gets_its_completion(shell, line):
    done = subprocess.run(
        [PROGRAM],
        env=os.environ | {"_HITLESS_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert line in done.stdout


def test_bash_completes_commands_options_and_examples(tmp_path):
    (tmp_path / "hitless").symlink_to(PROGRAM)
    asked = [("hitless sc", 1), ("hitless scenario example du", 3), ("hitless run --mem", 2)]
    script = f"PATH={tmp_path}:$PATH\n" + 'eval "$(_HITLESS_COMPLETE=source_bash hitless)"\n'
    for words, number in asked:
        script += f'COMP_WORDS=({words}); COMP_CWORD={number}; _hitless_completion hitless; echo "${{COMPREPLY[@]}}"\n'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["scenario", "dumbbell", "--memory"]


@pytest.mark.parametrize(
    ("line", "wanted"), [('kind = "no-such-thing"', "kind"), ('laodd = "50 ns"', "laodd"), ("gap = 10", "gap")]
)
def test_a_bad_scenario_is_refused_with_its_place_and_nothing_runs(tmp_path, line, wanted):
    text = hitless("scenario", "example", "linkguardian-testbed").stdout
    field = line.split(" = ")[0]
    bad = tmp_path / "bad.toml"
    old = next((known for known in text.splitlines() if known.startswith(f"{field} =")), None)
    bad.write_text(text.replace(old, line) if old else f"{line}\n{text}")
    done = hitless("run", str(bad), "--out", str(tmp_path / "out"), code=2)
    assert wanted in done.stderr
    assert "bad.toml" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_wrong_scenario_is_told_before_what_runs_it_is_loaded(tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text("sed = 1\n")
    command = [sys.executable, "-X", "importtime", "-m", "hitless", "run", bad]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    loaded = set(re.findall(r"\| +(\w+)$", done.stderr, flags=re.MULTILINE))
    assert "typer" in loaded
    assert loaded.isdisjoint({"polars", "numpy", "jinja2"})


def test_the_engine_benchmark_prints_its_keys():
    done = hitless("bench", "engine", "C", "--json")
    measured = json.loads(done.stdout)
    keys = "work transmissions events cpu_s transmissions_per_cpu_s instructions_per_transmission peak_rss_bytes"
    assert set(f"{keys} flows_done drops simulated_s".split()) <= set(measured)
    assert measured["flows_done"] == 64


def test_the_schema_documents_every_field():
    schema = json.loads(hitless("scenario", "schema", "--json").stdout)
    assert "topology" in json.dumps(schema)
    assert "linkguardian" in hitless("scenario", "schema").stdout.lower()
