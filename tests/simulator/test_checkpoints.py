"""Runs that are killed, and resume from a checkpoint with the same bytes."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from warm import PROGRAM, hitless
from worlds import flows, leaf_spine, tcp, websearch, world

EVERY = "500 us simulated"
ROOT = Path(__file__).parents[2]
ALL = ["h0..h7"]
LINK = "leaf0->spine0"
PROTECTED = {"mechanism": [{"kind": "linkguardian", "link": LINK}]}
OWN_MECHANISM = {"mechanism": [{"kind": "every-nth-py", "ports": [LINK], "drop_every": 50}]}


def long_run(mechanism: dict[str, Any]) -> str:
    return world(
        "long",
        leaf_spine(2, 4),
        {"switch": {"preset": "tofino-like", "recirculation_ports": 2}},
        tcp(congestion="cubic"),
        flows("poisson", ALL, ALL, name="mixed", load=0.5, sizes=websearch("1 MB"), load_of="source-host-links"),
        {"link": [{"name": LINK, "loss": {"kind": "bernoulli", "rate": 0.001}}]},
        mechanism,
        {"measure": {"queue": [{"ports": [LINK], "period": "100 us"}]}},
        duration="30 ms",
    )


def kill_after_checkpoints(folder: Path, *arguments: str | Path, count: int) -> None:
    """Run until ``count`` checkpoints were written, then kill the process, like a loss of power."""
    process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen: set[int] = set()
    end = time.monotonic() + 120
    while len(seen) < count and process.poll() is None and time.monotonic() < end:
        if (folder / "checkpoint").exists():
            seen.add((folder / "checkpoint").stat().st_mtime_ns)
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was done before it could be killed"
    assert len(seen) == count


def tables(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


def summary(folder: Path) -> Any:
    """Return everything but the run time."""
    [exhibit] = json.loads((folder / "summary.json").read_text())["exhibits"]
    return {name: value for name, value in exhibit.items() if name != "wall_s"}


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("checkpoints") / "long.toml"
    path.write_text(long_run(PROTECTED))
    return path


@pytest.fixture(scope="module")
def killed(scenario: Path) -> Path:
    """Return the folder of a run that was killed."""
    folder = scenario.parent / "killed"
    kill_after_checkpoints(folder, "run", scenario, "--checkpoint", EVERY, "--out", folder, count=5)
    return folder


def copy_of(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def test_a_run_that_was_killed_twice_has_the_bytes_of_one_in_one_go(
    scenario: Path, killed: Path, tmp_path: Path
) -> None:
    folder = copy_of(killed, tmp_path)
    kill_after_checkpoints(folder, "resume", folder, count=4)
    assert json.loads((folder / "manifest.json").read_text())["interrupted"]
    hitless("resume", folder)
    whole = tmp_path / "whole"
    hitless("run", scenario, "--checkpoint", EVERY, "--out", whole)
    assert tables(folder) == tables(whole)
    assert "flows.parquet" in tables(whole)
    assert summary(folder) == summary(whole)
    hashes = [json.loads((at / "manifest.json").read_text())["runs"][0]["trace_hash"] for at in (folder, whole)]
    assert hashes[0] == hashes[1]
    plain = tmp_path / "plain"
    hitless("run", scenario, "--out", plain)
    for name in tables(plain):
        [one], [other] = list(plain.rglob(name)), list(folder.rglob(name))
        keys = [column for column in ("flow", "message", "number") if column in pl.read_parquet_schema(one)]
        frames = [pl.read_parquet(path) for path in (one, other)]
        assert_frame_equal(*(frame.sort(keys) if keys else frame for frame in frames))
    assert sorted(path.name for path in folder.glob("checkpoint*")) == [], "what is done leaves no checkpoint"
    refused = hitless("resume", folder, code=2)
    assert "there is no run to resume" in refused.stderr


def test_a_checkpoint_of_another_run_is_refused(killed: Path, tmp_path: Path) -> None:
    folder = copy_of(killed, tmp_path)
    plan = json.loads((folder / "checkpoint.json").read_text())
    changes = [
        ({"seed": 7}, "the checkpoint is of a run with seed"),
        ({"text": plan["text"].replace("0.5", "0.6")}, "load = 0.6"),
    ]
    for change, told in changes:
        (folder / "checkpoint.json").write_text(json.dumps(plan | change))
        assert told in hitless("resume", folder, code=1).stderr
    (folder / "checkpoint.json").write_text(json.dumps(plan))
    state = bytearray((folder / "checkpoint").read_bytes())
    state[len(state) // 2] ^= 1
    (folder / "checkpoint").write_bytes(state)
    assert "the checkpoint is damaged" in hitless("resume", folder, code=1).stderr
    (folder / "checkpoint").unlink()
    assert "has no checkpoint yet" in hitless("resume", folder, code=2).stderr
    (folder / "checkpoint.json").write_text("{")
    assert "damaged" in hitless("resume", folder, code=2).stderr


def test_what_has_no_checkpoints_is_refused_before_it_runs(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(long_run(OWN_MECHANISM))
    mechanism, out = ROOT / "examples/mechanisms/every_nth.py", tmp_path / "out"
    refused = hitless("run", own, "--mechanism", mechanism, "--checkpoint", EVERY, "--out", out, code=2)
    assert '"every-nth-py"' in refused.stderr
    assert not out.exists()


@pytest.mark.parametrize("every", ["soon", "0 s", "1 ms", "5 parsecs", "0 ms simulated"])
def test_an_interval_is_one_of_either_clock(scenario: Path, every: str) -> None:
    assert "--checkpoint" in hitless("run", scenario, "--checkpoint", every, code=2).stderr
