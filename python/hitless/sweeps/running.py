"""Runs a plan as one study, on threads or on an executor, and writes its data set."""

import json
import sys
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from hitless.errors import BadInput, warn
from hitless.outcome.tables import write_frame
from hitless.report.page import named_plots, render_report
from hitless.results import RESULTS, ResultsFolder, describe
from hitless.runs.elsewhere import refuse_what_cannot_travel
from hitless.runs.keeping import KeptPoints
from hitless.runs.pool import Task
from hitless.runs.result import Measurement, Result, failed
from hitless.runs.study import Study
from hitless.runs.watching import watched
from hitless.simulation import program_identity
from hitless.sweeps.measured import Measure
from hitless.sweeps.plan import Shard, SweepPlan
from hitless.sweeps.runs import SweptRuns
from hitless.sweeps.swept import PLAN, ROWS, Swept
from hitless.terminal.interrupt import on_quit
from hitless.whole_file import file_name


@dataclass(frozen=True, slots=True)
class Options:
    """Options for running a plan."""

    out: Path | None = None
    """Folder of the results; the default is a new folder below results/sweeps."""
    jobs: int | None = None
    executor: Executor | None = None
    shard: Shard = field(default_factory=Shard)
    fresh: bool = False
    measure: Measure | None = None
    progress: bool = True


@dataclass(slots=True)
class Sweeping:
    """A plan in progress."""

    plan: SweepPlan
    options: Options
    runs: SweptRuns = field(init=False)
    study: Study = field(init=False)
    kept: KeptPoints = field(init=False)
    folder: ResultsFolder = field(init=False)

    def __post_init__(self) -> None:
        """Check every point of the grid. Raises `BadInput`."""
        name = file_name(Path(self.plan.scenario.name).stem)
        path = self.options.out or RESULTS / "sweeps" / f"{name}-{self.plan.digest[:8]}"
        self.kept = KeptPoints((self.options.out or RESULTS) / "points")
        self.runs = SweptRuns(self.plan, self.options.shard, self.options.measure)
        self.study = Study(
            f"sweep/{name}",
            self.plan.scenario.name,
            self.runs.points(),
            self.runs.work_out,
            jobs=self.options.jobs,
            kept=self.kept,
            fresh=self.options.fresh,
            executor=self.options.executor,
        )
        if self.options.executor is not None:
            refuse_what_cannot_travel(self.study.tasks)
        part = f"sweep{self.options.shard.suffix}" if self.options.shard.suffix else ""
        self.folder = ResultsFolder("sweep", path, may_replace=True, part=part, points=self.kept.folder)
        _refuse_another(path, self.plan)

    @property
    def there(self) -> int:
        """Number of runs that were done earlier."""
        return sum(task.was_there for task in self.study.tasks)

    def run(self) -> tuple[Swept, Result[Measurement]]:
        """Run what is missing, and write the data set; finished runs are written whatever happens."""
        try:
            with on_quit(self.study.tell):
                return self._run()
        except OSError as refused:
            raise self.folder.give_up(refused) from refused
        finally:
            self.folder.close()

    def _run(self) -> tuple[Swept, Result[Measurement]]:
        with ExitStack() as stack:
            look = (
                stack.enter_context(watched("sweeping", self.study.stop)) if self.options.progress else lambda _: None
            )
            self.folder.begin(f"manifest{self.options.shard.suffix}.json")
            [result] = self.study.results(look, self._write_tables)
            return self._write(result)

    def _write(self, result: Result[Measurement]) -> tuple[Swept, Result[Measurement]]:
        if self.folder.trouble is not None:
            raise self.folder.trouble
        write(self.folder, self.plan, self.options.shard, self.runs.frame, complete=result.complete)
        described = [describe(task, task.run, "") for task in result.tasks if task.run is not None]
        more = {"interrupted": self.study.interrupted, "incomplete": [] if result.complete else [result.id]}
        manifest = self.folder.manifest(sys.argv, described, **more)
        suffix = self.options.shard.suffix
        if not suffix:
            write_report(self.folder, result, manifest)
        self.folder.write_json(f"manifest{suffix}.json", manifest)
        return Swept(self.folder.path), result

    def _write_tables(self, task: Task) -> None:
        """Write the tables to keep of a run, and free them: a sweep can exceed the memory."""
        if task.run is None:
            return
        member = self.runs.members[task.point.key]
        place = [pl.lit(member.point.number, pl.UInt32).alias("point")]
        place += [pl.lit(label).alias(path) for path, label in member.point.labels.items()]
        place.append(pl.lit(member.seed, pl.Int64).alias("seed"))
        with self.folder.troubles_kept():  # the other runs still have numbers to show
            for name, table in task.run.tables.items():
                placed = table.select(*place, pl.all()) if table.width else table
                file = f"tables/{name}/point{member.point.number:06}-seed{member.seed}.parquet"
                write_frame(placed, self.folder.written(file), name)
            folder = f"captures/point{member.point.number:06}-seed{member.seed}"
            self.folder.write_captures(task.run.captures, folder)
        task.release_tables()
        task.release_captures()


def outcome_of(sweeping: Sweeping) -> Swept:
    """Run a plan, and raise what made it incomplete: `KeyboardInterrupt`, or the first failure."""
    swept, result = sweeping.run()
    if sweeping.study.interrupted:
        raise KeyboardInterrupt
    if result.failures:
        raise failed(result.failures, len(result.tasks), str(swept.folder))
    warn(text for task in result.tasks if task.run for text in task.run.summary.warnings)
    return swept


def write(folder: ResultsFolder, plan: SweepPlan, shard: Shard, rows: pl.DataFrame, *, complete: bool) -> None:
    """Write the plan and the rows."""
    told = {"program": program_identity(), "complete": complete, "digest": plan.digest, **plan.as_json()}
    folder.write_json(PLAN.replace(".json", f"{shard.suffix}.json"), told)
    write_frame(rows, folder.written(ROWS.replace(".parquet", f"{shard.suffix}.parquet")), "sweep_rows")


def write_report(folder: ResultsFolder, result: Result[Measurement], manifest: dict[str, object]) -> None:
    """Write the page, and its pictures."""
    folder.write_text("report.html", render_report([result], manifest))
    folder.write_pictures(named_plots([result]))


def _refuse_another(folder: Path, plan: SweepPlan) -> None:
    """Refuse a folder that holds another sweep; it can hold many shards of the same one."""
    for path in folder.glob(PLAN.replace(".json", "*.json")):
        try:
            digest = json.loads(path.read_text(encoding="utf-8"))["digest"]
        except (OSError, ValueError, KeyError):
            continue
        if digest != plan.digest:
            raise BadInput("there is another sweep in the folder", where=str(folder), hint="choose another one")
