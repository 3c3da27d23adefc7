"""Sweeps and exhibits on a real Ray cluster: processes of this machine, one of them killed in the middle."""

import json
import subprocess
from pathlib import Path

import pytest
import sweeping
from sweeping import MARKER, contents, mortal, sweep

from hitless.runs.executors import RayExecutor
from warm import PROGRAM

ray = pytest.importorskip(
    "ray", reason="Ray cannot be installed for this Python, or was not: pip install 'hitless[ray]'"
)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_sweep_on_ray_with_a_worker_killed_has_the_same_bytes(tmp_path, monkeypatch):
    marker = tmp_path / "marker"
    monkeypatch.setenv(MARKER, str(marker))
    marker.touch()
    here = contents(sweep(tmp_path / "here", measure=mortal).folder)
    marker.unlink()
    monkeypatch.setenv("PYTHONPATH", str(Path(sweeping.__file__).parent))
    ray.init("local", num_cpus=3, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        with RayExecutor() as executor:
            there = contents(sweep(tmp_path / "there", measure=mortal, executor=executor).folder)
    finally:
        ray.shutdown()
    assert marker.exists(), "no worker was killed"
    assert there == here


def test_an_exhibit_on_ray_has_the_same_rows(tmp_path):
    rows = {}
    for place in ("threads", "ray"):
        words = ["reproduce", "afq/fig11", "--quick", "--json", "--on", place, "--out", tmp_path / place]
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        rows[place] = json.loads(done.stdout)["exhibits"][0]["rows"]
    assert rows["ray"] == rows["threads"]
