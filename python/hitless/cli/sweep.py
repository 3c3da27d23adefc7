"""`hitless sweep`: runs a sweep file, whole or in shards, and merges shards."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from hitless.analysis import SEEDS_CHANGE_NOTHING
from hitless.cli.run_app import SweepOptions
from hitless.errors import BadInput, HitlessError
from hitless.numbers import format_number
from hitless.runs.executors import executor_at
from hitless.runs.result import failed
from hitless.sweeps.frames import axes_of, intervals
from hitless.sweeps.merging import merge
from hitless.sweeps.plan import Shard, SweepPlan
from hitless.sweeps.running import Options, Sweeping
from hitless.sweeps.swept import Swept
from hitless.terminal.console import print_error, print_json, print_note, stdout
from hitless.terminal.interrupt import EXIT_INTERRUPTED

_MERGE = "merge"
_ROWS_SHOWN = 40


def sweep(options: SweepOptions) -> int:
    """Run a sweep file, or merge the folders after "merge"; return the exit code."""
    words = options.words
    if words[0] == _MERGE:
        if len(words) < 2 or options.shard or options.on or options.fresh:
            raise BadInput("merge takes folders of shards, and --out", hint="hitless sweep merge results/mine")
        _show(merge([Path(word) for word in words[1:]], options.out), json=options.json)
        return 0
    if len(words) > 1:
        raise BadInput("one sweep at a time", hint="hitless sweep FILE.toml, or hitless sweep merge FOLDER...")
    return _run(Path(words[0]), options)


def _run(file: Path, options: SweepOptions) -> int:
    plan = SweepPlan.from_file(file)
    shard = Shard.read(options.shard) if options.shard else Shard()
    with executor_at(options.on, options.jobs) as executor:
        how = Options(out=options.out, jobs=options.jobs, executor=executor, shard=shard, fresh=options.fresh)
        sweeping = Sweeping(plan, how)
        runs = len(sweeping.study.tasks)
        if sweeping.there:
            print_note(f"{sweeping.there} of {runs} runs are there already, in {sweeping.kept.folder}")
        try:
            swept, result = sweeping.run()
        except HitlessError:
            if sweeping.folder.trouble is not None and not sweeping.runs.frame.is_empty():
                _print_rows(sweeping.runs.frame, {"folder": None}, json=options.json)
            raise
    if sweeping.kept.trouble is not None:
        reason = sweeping.kept.trouble.strerror
        print_note(f"warning: runs could not be kept in {sweeping.kept.folder}: {reason}")
    for warning in dict.fromkeys(text for task in result.tasks if task.run for text in task.run.summary.warnings):
        print_note(f"warning: {warning}")
    if result.failures:
        print_error(failed(result.failures, runs, str(swept.folder)))
    if sweeping.study.interrupted:
        print_note("interrupted: the same command continues from there")
    if shard.of > 1:
        print_note(f"shard {options.shard} of the sweep: {swept.folder}; hitless sweep merge merges all shards")
    else:
        _show(swept, json=options.json)
    return EXIT_INTERRUPTED if sweeping.study.interrupted else 1 if result.failures else 0


def _show(swept: Swept, *, json: bool) -> None:
    _print_rows(swept.rows, {"folder": str(swept.folder), "complete": swept.is_complete}, json=json)
    print_note(f"rows: {swept.folder / 'rows.parquet'}")
    print_note(f"report: {swept.folder / 'report.html'}")


def _print_rows(rows: pl.DataFrame, facts: Mapping[str, object], *, json: bool) -> None:
    table = intervals(rows)
    if json:
        print_json({**facts, "rows": table.to_dicts()})
    else:
        axes = axes_of(rows)
        for row in table.head(_ROWS_SHOWN).iter_rows(named=True):
            place = ", ".join(f"{path.rpartition('.')[2]} {row[path]}" for path in axes)
            low, high = (format_number(row[name]) for name in ("ci_low", "ci_high"))
            interval = f" [{low}, {high}]" if row["ci_low"] is not None else ""
            note = f" ({row['note']})" if row["note"] == SEEDS_CHANGE_NOTHING else ""
            what = f"{row['of']}: {row['metric']} {format_number(row['mean'])}{interval} {row['unit']}{note}"
            stdout.print(f"{place}  {what}".strip(), markup=False, soft_wrap=True)
        if table.height > _ROWS_SHOWN:
            stdout.print(f"and {table.height - _ROWS_SHOWN} rows more in the report", markup=False)
