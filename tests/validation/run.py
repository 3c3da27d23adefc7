"""Runs scenarios for docs/evidence/validation.md and reads their results: shared by the other scripts here."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import polars as pl

HITLESS = os.environ.get("HITLESS", str(Path(__file__).resolve().parents[2] / "hitless"))


def run(scenario: str, seed: int = 1) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        Path(folder, "s.toml").write_text(scenario)
        done = subprocess.run(
            [HITLESS, "run", f"{folder}/s.toml", "--json", "--seed", str(seed), "--out", str(out)],
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise SystemExit(f"exit {done.returncode}: " + done.stderr + "\n" + scenario)
        tables = {file.stem: pl.read_parquet(file).to_dicts() for file in out.glob("run-*/*.parquet")}
        return tables | {"summary": json.loads(done.stdout)["summary"]}
