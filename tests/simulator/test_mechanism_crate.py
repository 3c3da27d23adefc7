"""An out-of-tree mechanism, compiled by `hitless mechanism build`, decides like the same one in the tree."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

from hitless.errors import BadInput
from hitless.extend.crates import Crate
from hitless.extend.workspace import write
from hitless.native import LIBRARY, RECORD

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/mechanisms/every-nth-crate"
TRANSPORT = ROOT / "examples/transports/newreno-crate"
IN_PYTHON = ROOT / "examples/mechanisms/every_nth.py"
CACHE = ROOT / "target/mechanism-test"
"""A folder that persists between runs: unchanged crates are not compiled again."""

needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is missing")


def hitless(*arguments, **environment):
    program = "from hitless.cli.main import main; main()"
    variables = {name: value for name, value in os.environ.items() if name != "HITLESS_MECHANISMS"}
    variables |= {"XDG_CACHE_HOME": str(CACHE), "PYTHONPATH": str(ROOT / "python"), **environment}
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def built():
    # In a folder that persists, like the cache.
    shutil.rmtree(CACHE / "short-queue", ignore_errors=True)
    assert hitless("transport", "new", "short-queue", "--path", CACHE / "short-queue").returncode == 0
    done = hitless("transport", "build", "--quick", EXAMPLE, TRANSPORT, CACHE / "short-queue")
    assert done.returncode == 0, done.stderr
    assert 'kind = "every-nth-crate"' in done.stderr
    return done


def run(kind, folder):
    """Run the example's scenario with this kind: return its summary, its flows, and the mechanism's counters."""
    folder.mkdir()
    path = folder / "scenario.toml"
    path.write_text((EXAMPLE / "scenario.toml").read_text().replace('"every-nth-crate"', f'"{kind}"'))
    python = ["--mechanism", IN_PYTHON] if kind.endswith("-py") else []
    done = hitless("run", path, "--json", "--out", folder / "results", *python)
    assert done.returncode == 0, done.stderr
    counted = pl.read_parquet(folder / "results/run-scenario/mechanisms.parquet").select("scope", "counter", "value")
    counted = [row for row in counted.rows() if not row[1].startswith("resources_")]
    flows = pl.read_parquet(folder / "results/run-scenario/flows.parquet").rows()
    return json.loads(done.stdout)["summary"], flows, counted


@needs_cargo
def test_the_folder_the_crate_and_the_class_make_the_same_decisions(built, tmp_path):
    kinds = ("every-nth", "every-nth-crate", "every-nth-py")
    (of_folder, *rest), *others = (run(kind, tmp_path / kind) for kind in kinds)
    for of_other, *other_rest in others:
        assert of_other["trace_hash"] == of_folder["trace_hash"]
        assert of_other["drops"] == of_folder["drops"]
        assert other_rest == rest
    _, counted = rest
    assert all(value > 20 for _, counter, value in counted if counter in ("packets_dropped", "packets_marked"))
    assert {counter for _, counter, _ in counted} >= {"packets_dropped", "packets_marked"}
    own = json.loads((tmp_path / "every-nth-crate/results/manifest.json").read_text())["own_mechanisms"]
    [recorded] = [each for each in own if each["kind"] == "every-nth-crate"]
    # A copied target folder has the records of its former place too.
    record = max((CACHE / "hitless/mechanisms").glob(f"*/{RECORD}"), key=lambda path: path.stat().st_mtime_ns)
    library = record.parent / "libraries" / json.loads(record.read_text())["library"] / LIBRARY
    digest = hashlib.sha256(library.read_bytes()).hexdigest()
    expected = {"kind": "every-nth-crate", "crate": "every-nth-crate", "path": str(EXAMPLE), "module_sha256": digest}
    assert recorded == expected


@needs_cargo
def test_a_transport_of_a_crate_and_of_a_class_gives_the_packaged_trace(built, tmp_path):
    scenario = (CACHE / "short-queue/scenario.toml").read_text()
    written = '{ kind = "short-queue", target = "20 us" }'
    assert written in scenario
    hashes = {}
    for kind in ("newreno", "newreno-crate", "newreno-py", "short-queue"):
        path = tmp_path / f"{kind}.toml"
        path.write_text(scenario.replace(written, f'"{kind}"'))
        file = ROOT / "examples/transports/newreno.py"
        done = hitless("run", path, "--json", "--out", tmp_path / kind, "--transport", file)
        assert done.returncode == 0, done.stderr
        hashes[kind] = json.loads(done.stdout)["summary"]["trace_hash"]
    assert hashes["newreno"] == hashes["newreno-crate"] == hashes["newreno-py"] != hashes["short-queue"]
    listed = hitless("transport", "list").stdout
    assert "short-queue" in listed
    assert "cubic" in listed


@needs_cargo
def test_a_built_kind_is_known_everywhere_and_the_packaged_module_does_without(built):
    listed = hitless("mechanism", "list").stdout
    assert [line.split()[1] for line in listed.splitlines() if line.startswith("every-nth-crate ")] == [str(EXAMPLE)]
    assert "every-nth-crate" in hitless("scenario", "schema").stdout
    checked = hitless("scenario", "check", EXAMPLE / "scenario.toml")
    assert checked.returncode == 0, checked.stderr
    refused = hitless("scenario", "check", EXAMPLE / "scenario.toml", HITLESS_MECHANISMS="none")
    assert refused.returncode == 2
    assert "every-nth-crate" in refused.stderr


@needs_cargo
def test_what_did_not_change_is_not_compiled_again(built):
    again = hitless("mechanism", "build", "--quick")
    assert again.returncode == 0
    assert "compiling" not in again.stderr


@needs_cargo
def test_errors_are_cargos_own_and_what_was_built_stays(built, tmp_path):
    done = hitless("mechanism", "new", "sketchy", "--path", tmp_path / "sketchy")
    assert done.returncode == 0, done.stderr
    source = tmp_path / "sketchy/src/lib.rs"
    sound = source.read_text()
    source.write_text(sound.replace("Verdict::Continue\n", "Verdict::Contine\n"))
    broken = hitless("mechanism", "build", "--quick", tmp_path / "sketchy")
    assert broken.returncode == 1
    assert "Contine" in broken.stderr
    assert "error[E0599]" in broken.stderr
    assert f"--> {source}:" in broken.stderr
    assert "sketchy" not in hitless("mechanism", "list").stdout
    source.write_text(sound.replace('NAME: &\'static str = "sketchy"', 'NAME: &\'static str = "wharf"'))
    taken = hitless("mechanism", "build", "--quick", tmp_path / "sketchy")
    assert taken.returncode == 2
    assert "two kinds of mechanisms are called wharf" in taken.stderr
    assert hitless("scenario", "check", EXAMPLE / "scenario.toml").returncode == 0


def test_a_crate_that_is_elsewhere_uses_the_simulators_crates_of_the_workspace(tmp_path):
    for name, uses in (
        ("one", 'two = { path = "../two" }'),
        ("two", 'serde = { version = "1.0", features = ["derive"] }'),
    ):
        (tmp_path / name).mkdir()
        simulator = f'hitless-switch = {{ path = "{ROOT}/crates/switch" }}'
        (tmp_path / name / "Cargo.toml").write_text(
            f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n'
            f"[dependencies]\n{simulator}\n[target.'cfg(unix)'.dependencies]\n{uses}\n[profile.dev]\nopt-level = 3\n"
        )
    (tmp_path / "two/build.rs").touch()
    write(tmp_path / "ours", [Crate.read(tmp_path / "one", ROOT / "crates")], {"dev": {"opt-level": 1}})
    read = {path.parent.name: tomllib.loads(path.read_text()) for path in (tmp_path / "ours").rglob("own/*/Cargo.toml")}
    ours = {"path": str(tmp_path / "ours/crates/switch")}
    assert [manifest["dependencies"]["hitless-switch"] for manifest in read.values()] == [ours, ours]
    one, two = read["one"], read["two"]
    assert one["target"]["cfg(unix)"]["dependencies"] == {"two": {"path": str(tmp_path / "ours/own/two")}}
    assert two["lib"]["path"] == str(tmp_path / "two/src/lib.rs")
    assert (one["package"]["build"], two["package"]["build"]) == (False, str(tmp_path / "two/build.rs"))
    assert not {"workspace", "profile"} & (one.keys() | two.keys())
    assert (tmp_path / "ours/crates/switch/Cargo.toml").samefile(ROOT / "crates/switch/Cargo.toml")


def test_a_crate_that_takes_something_from_a_workspace_is_refused(tmp_path):
    manifest = tmp_path / "Cargo.toml"
    manifest.write_text('[package]\nname = "one"\nversion = "0.1.0"\nedition.workspace = true\n')
    with pytest.raises(BadInput, match=r"package\.edition is inherited from a workspace"):
        write(tmp_path / "ours", [Crate.read(tmp_path, ROOT / "crates")], {})
