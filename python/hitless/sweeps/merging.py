"""Merges the shards of a sweep: the result has the same bytes as a sweep without shards."""

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from hitless.errors import BadInput
from hitless.results import ResultsFolder
from hitless.runs.result import Measurement, Result
from hitless.scenario import Scenario
from hitless.sweeps.frames import in_order, intervals, varying_plots
from hitless.sweeps.plan import Axis, Shard, SweepPlan
from hitless.sweeps.running import write, write_report
from hitless.sweeps.runs import rows_of_table
from hitless.sweeps.swept import PLAN, ROWS, Swept
from hitless.whole_file import text_of


def merge(folders: Sequence[Path], out: Path | None = None) -> Swept:
    """Merge the shards in ``folders`` into ``out`` or into the first of them.

    Raises `BadInput` unless they are all the shards of one sweep by one program, each complete.
    """
    target = out or folders[0]
    shards = PLAN.replace(".json", "-*-of-*.json")
    found = {path: json.loads(text_of(path)) for folder in folders for path in sorted(folder.glob(shards))}
    _check(found, folders)
    plan = _plan_of(next(iter(found.values())))
    frames = [pl.read_parquet(path.with_name(_rows_beside(path.name))) for path in found]
    with ResultsFolder("sweep", target, may_replace=True) as folder:
        rows = in_order(pl.concat(frames))
        with folder.troubles_kept():
            write(folder, plan, Shard(), rows, complete=True)
            for other in folders:
                if other.resolve() != target.resolve() and (other / "tables").is_dir():
                    shutil.copytree(other / "tables", target / "tables", dirs_exist_ok=True)
            _write_report(folder, plan, rows)
        if folder.failure is not None:
            raise folder.failure from folder.trouble
    return Swept(target)


def _rows_beside(name: str) -> str:
    return name.replace(PLAN.removesuffix(".json"), ROWS.removesuffix(".parquet")).replace(".json", ".parquet")


def _shard_of(path: Path) -> Shard:
    _, number, _, of = path.stem.rsplit("-", 3)
    return Shard(int(number), int(of))


def _check(found: Mapping[Path, Mapping[str, Any]], folders: Sequence[Path]) -> None:
    where = ", ".join(map(str, folders))
    if not found:
        raise BadInput("there are no shards of a sweep", where=where, hint="hitless sweep FILE --shard 1/16 makes one")
    shards = [_shard_of(path) for path in found]
    if (
        len({(told["digest"], told["program"], shard.of) for told, shard in zip(found.values(), shards, strict=True)})
        > 1
    ):
        rule = "all must belong to one sweep, one build of hitless, and one number of shards"
        raise BadInput("the shards do not belong together", where=where, rule=rule)
    missing = set(range(1, shards[0].of + 1)) - {shard.number for shard in shards}
    if missing:
        names = ", ".join(f"{number}/{shards[0].of}" for number in sorted(missing))
        raise BadInput(f"shards are missing: {names}", where=where)
    broken = [path for path, told in found.items() if not told["complete"]]
    if broken:
        raise BadInput(
            "a shard is not complete", where=str(broken[0]), hint="start it again: it continues where it stopped"
        )


def _plan_of(told: Mapping[str, Any]) -> SweepPlan:
    axes = [Axis(path, dict(values)) for path, values in told["axes"].items()]
    name = str(Scenario.from_text(told["scenario"]).fields.get("name", "scenario"))
    return SweepPlan(Scenario.from_text(told["scenario"], name), axes, told["seeds"], told["keep"])


def _write_report(folder: ResultsFolder, plan: SweepPlan, rows: pl.DataFrame) -> None:
    name = plan.scenario.name
    result: Result[Measurement] = Result(f"sweep/{name}", name, seed=None, complete=True)
    table = intervals(rows)
    result.rows = list(rows_of_table(plan.axes, table))
    result.plots = list(varying_plots(plan.axes, table))
    manifest = folder.manifest(sys.argv, [], interrupted=False, incomplete=[])
    folder.write_json("manifest.json", manifest)
    write_report(folder, result, manifest)
