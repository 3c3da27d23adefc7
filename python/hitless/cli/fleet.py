"""`hitless fleet`: years of corrupting links, from the command line."""

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from rich import box
from rich.table import Table

from hitless.analysis.seeds import statistic_over_seeds
from hitless.cli import fleet_report
from hitless.errors import BadInput
from hitless.fleet import statistics
from hitless.fleet.comparison import Comparison
from hitless.fleet.year import (
    BLOCKING,
    Finished,
    Hazard,
    Trace,
    Year,
    policies,
    protects,
    read_text,
    topology_of,
    write_published,
)
from hitless.numbers import format_number
from hitless.outcome.schema import schema_version
from hitless.results import ResultsFolder
from hitless.runs.point import Point
from hitless.runs.pool import Pool, Task
from hitless.simulation import RunCancelled
from hitless.terminal.console import print_error, print_json, print_note, stdout
from hitless.terminal.interrupt import EXIT_INTERRUPTED, on_interrupt, on_quit
from hitless.terminal.progress import ProgressDisplay
from hitless.whole_file import whole

_WATCH_EVERY_S = 0.1


@dataclass(frozen=True, slots=True)
class Source:
    """Source of a trace: a file, or a topology, a seed and a hazard."""

    topology: str | None
    trace: Path | None
    seed: int
    hazard: Mapping[str, Any]
    """Fields of `Hazard` set by the user."""

    def load(self) -> Trace:
        if self.trace is None:
            return Trace.generate(topology_of(self.topology or "fabric"), self.seed, Hazard(**self.hazard))
        if self.hazard:
            given = ", ".join(f"--{name.replace('_', '-')}" for name in self.hazard)
            what = f"{given} is for drawing failures, but --trace already has them"
            raise BadInput(what, where=str(self.trace), hint=f"omit --trace or {given}")
        return Trace.read(self.trace, topology_of(self.topology) if self.topology else None)


def write_trace(source: Source, out: Path, *, json: bool) -> int:
    made = source.load()
    _write(out, made.native.to_json())
    table = made.table()
    facts = {
        "file": str(out),
        "name": made.native.name,
        "links": made.native.topology.links,
        "failures": table.height,
        "links_that_fail": table["link"].n_unique(),
        "seed": source.seed,
    }
    _print_facts("Trace", facts, json=json)
    return 0


def run_year(
    source: Source,
    policy: str,
    capacity: float,
    *,
    deployment: float,
    protection: str,
    repairs: Path | None,
    out: Path | None,
    json: bool,
) -> int:
    _check_policies([policy])
    _check_protection(deployment, protection, [policy])
    replayed = (read_text(repairs), str(repairs)) if repairs else None
    trace = source.load()
    window = trace.window
    year = Year(trace, policy, capacity, deployment, source.seed, replayed, protection)
    with ResultsFolder(f"fleet-{policy}", out) as folder:
        finished = _run_watched(year, f"{policy}, {capacity:.0%}")
        if finished is None:
            print_note("interrupted: an unfinished year has no series")
            return EXIT_INTERRUPTED
        facts = {
            "policy": policy,
            "capacity": capacity,
            "deployment": deployment,
            "protection": protection,
            "seed": source.seed,
            "trace": str(source.trace or trace.native.name),
            **_facts(finished, window),
        }
        with folder.troubles_kept():
            _write_year(folder, pl.DataFrame(year.published_rows()), finished, facts)
        _print_facts("Year", {**facts, "folder": str(folder.path)}, json=json)
        if not json:
            print_note(fleet_report.PENALTY)
        if folder.failure is not None:
            raise folder.failure from folder.trouble
        print_note(f"report: {folder.path / 'report.html'}")
    return 0


def _write_year(folder: ResultsFolder, rows: pl.DataFrame, finished: Finished, facts: Mapping[str, Any]) -> None:
    folder.begin()
    write_published(rows, folder.written("series.tsv"))
    folder.write_tables({"series": rows}, declared="fleet_")
    folder.write_text("repairs.tsv", finished.repairs)
    folder.write_json("summary.json", {"schema": schema_version(), **facts})
    more = {"interrupted": False, "incomplete": [], "seed": facts["seed"]}
    manifest = folder.manifest(["hitless", *sys.argv[1:]], [], **more)
    folder.write_text("report.html", fleet_report.report(facts, finished.states, manifest))
    folder.write_json("manifest.json", manifest)


def _facts(finished: Finished, window: statistics.Window) -> dict[str, Any]:
    """Return the summary of a year, in the format of a row in `compare`."""
    return {
        "failures": finished.failures,
        "failures_of_links_that_were_down": finished.skipped,
        "links_taken_down": finished.taken_down,
        "days": (window[1] - window[0]) / 86_400,
        **statistics.summary(finished.states, window),
        "wall_s": round(finished.wall_s, 3),
    }


@dataclass(slots=True)
class _Watched:
    """A year for the progress display."""

    name: str
    year: Year
    done: bool = False
    weight: float = 1.0

    @property
    def progress(self) -> float:
        return 1.0 if self.done else self.year.progress


def _run_watched(year: Year, name: str) -> Finished | None:
    """Run a year on another thread, with progress here; None if it was interrupted."""
    outcome: list[Finished] = []
    failure: list[Exception] = []

    def work() -> None:
        try:
            outcome.append(year.run())
        except RunCancelled:
            pass
        except Exception as fault:  # noqa: BLE001 - raised again on the thread that waits
            failure.append(fault)

    watched = _Watched(name, year)
    thread = threading.Thread(target=work, name="year")

    def tell() -> None:
        print_note(f"{name}: {year.progress:.0%} of the year is done")

    with on_interrupt(year.cancel), on_quit(tell), ProgressDisplay("a year") as display:
        thread.start()
        while thread.is_alive():
            thread.join(_WATCH_EVERY_S)
            display.look([watched])
    if failure:
        raise failure[0]
    return outcome[0] if outcome else None


@dataclass(frozen=True, slots=True)
class Years:
    count: int
    seed: int
    jobs: int | None


def compare(comparison: Comparison, years: Years, *, out: Path | None, json: bool) -> int:
    """Run policies over many seeded years on all cores; return the exit code."""
    _check_policies(comparison.policies)
    _check_capacities(comparison.capacities)
    _check_protection(comparison.deployment, comparison.protection, comparison.policies)
    # Most errors appear in the first year, so the folder is made after it.
    comparison.check(years.seed)
    with ResultsFolder("fleet-compare", out) as folder:
        folder.begin()
        points = [Point(f"year {number + 1}", comparison, number, ("years", "gains")) for number in range(years.count)]
        tasks = [Task("fleet", point, point.seed(years.seed)) for point in points]
        interrupted = _run_years(tasks, years.jobs)
        return _finish(folder, comparison, tasks, json=json, interrupted=interrupted)


def _run_years(tasks: Sequence[Task], jobs: int | None) -> bool:
    """Run all years on a pool, with progress; return whether they were interrupted."""
    pool = Pool(jobs)
    interrupted = threading.Event()

    def stop() -> None:
        interrupted.set()
        pool.stop()

    with on_interrupt(stop), on_quit(pool.tell), ProgressDisplay("years") as display:
        for _ in pool.run(tasks, display.look):
            pass
    return interrupted.is_set()


def _finish(
    folder: ResultsFolder, comparison: Comparison, tasks: Sequence[Task], *, json: bool, interrupted: bool
) -> int:
    failures = [task.failure for task in tasks if task.failure is not None]
    for failure in {str(failure): failure for failure in failures}.values():
        print_error(failure)
    done = [task for task in tasks if task.run is not None]
    if done:
        tables = {name: _gathered(done, name) for name in ("years", "gains")}
        summary = _summary(tables["years"], comparison)
        document = {"years": len(done), "folder": str(folder.path), "rows": summary}
        with folder.troubles_kept():
            done_tables = {name: table for name, table in tables.items() if table is not None}
            folder.write_tables(done_tables, declared="fleet_")
            folder.write_json("summary.json", {"schema": schema_version(), **document})
            incomplete = [task.name for task in tasks if task.run is None]
            more = {"interrupted": interrupted, "incomplete": incomplete, "seed": tasks[0].seed}
            folder.write_json("manifest.json", folder.manifest(["hitless", *sys.argv[1:]], [], **more))
        if json:
            print_json(document)
        else:
            _print_summary(summary, len(done))
    if folder.failure is not None:
        raise folder.failure from folder.trouble
    if interrupted:
        print_note(f"interrupted: {len(done)} of {len(tasks)} years are done and kept in {folder.path}")
        return EXIT_INTERRUPTED
    return 1 if failures else 0


def _gathered(tasks: Sequence[Task], name: str) -> pl.DataFrame | None:
    """Return a table of all years, with their seeds; None if every year lacks it."""
    runs = [(task.seed, task.run) for task in tasks if task.run is not None and name in task.run.tables]
    frames = [run.table(name).with_columns(seed=pl.lit(seed, dtype=pl.Int64)) for seed, run in runs]
    return pl.concat(frames) if frames else None


def _summary(years: pl.DataFrame | None, comparison: Comparison) -> list[dict[str, Any]]:
    """Return one row for each capacity and policy; ratios are relative to the first policy, year by year."""
    if years is None:
        return []
    first = comparison.policies[0]
    rows = []
    for capacity in comparison.capacities:
        of_capacity = years.filter(pl.col("capacity") == capacity)
        base = of_capacity.filter(pl.col("policy") == first)["mean_effective_penalty"].to_numpy()
        for policy in comparison.policies:
            chosen = of_capacity.filter(pl.col("policy") == policy)
            ratios = chosen["mean_effective_penalty"].to_numpy() / base
            rows.append(_summary_row(capacity, policy, chosen, ratios))
    return rows


def _summary_row(capacity: float, policy: str, years: pl.DataFrame, ratios: statistics.Floats) -> dict[str, Any]:
    interval = statistic_over_seeds(ratios, lambda sample: float(np.median(sample))).interval

    def median(column: str) -> float:
        return float(np.median(years[column].to_numpy()))

    return {
        "capacity": capacity,
        "policy": policy,
        "mean_effective_penalty": median("mean_effective_penalty"),
        "penalty_ratio": float(np.median(ratios)),
        "ratio_ci_low": interval.low if interval else None,
        "ratio_ci_high": interval.high if interval else None,
        "mean_corrupting_links": median("mean_corrupting_links"),
        "mean_disabled_links": median("mean_disabled_links"),
        "least_tor_paths": float(years["min_tor_paths"].to_numpy().min()),
        "least_pod_capacity_gbps": float(years["min_pod_capacity_gbps"].to_numpy().min()),
    }


_Column: TypeAlias = tuple[str, Callable[[Mapping[str, Any]], str]]

_NAMES: tuple[_Column, ...] = (
    ("capacity", lambda row: f"{row['capacity']:.0%}"),
    ("policy", lambda row: str(row["policy"])),
)


def _print_summary(rows: Sequence[Mapping[str, Any]], years: int) -> None:
    """Print two tables, since a single one would exceed 80 characters."""
    first = rows[0]["policy"] if rows else ""
    penalties: tuple[_Column, ...] = (
        ("effective penalty", lambda row: f"{row['mean_effective_penalty']:.3g}"),
        ("ratio, 95 % interval", _ratio),
    )
    links: tuple[_Column, ...] = (
        ("corrupting", lambda row: format_number(row["mean_corrupting_links"])),
        ("down", lambda row: format_number(row["mean_disabled_links"])),
        ("least paths", lambda row: format_number(row["least_tor_paths"])),
        ("least pod, Gb/s", lambda row: format_number(row["least_pod_capacity_gbps"])),
    )
    _print_columns(f"Penalties: medians of {years} years, ratios to {first}", penalties, rows)
    _print_columns(f"Links: medians of {years} years, and the minimum of all", links, rows)


def _print_columns(title: str, columns: Sequence[_Column], rows: Sequence[Mapping[str, Any]]) -> None:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, _ in _NAMES:
        table.add_column(name, no_wrap=True)
    for name, _ in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(show(row) for _, show in (*_NAMES, *columns)))
    stdout.print(table)


def _ratio(row: Mapping[str, Any]) -> str:
    if row["ratio_ci_low"] is None:
        return f"{row['penalty_ratio']:.4g}"
    return f"{row['penalty_ratio']:.4g} [{row['ratio_ci_low']:.4g}, {row['ratio_ci_high']:.4g}]"


def _check_policies(names: Sequence[str]) -> None:
    for name in names:
        protects(name)  # raises for an unknown policy
    if len(set(names)) != len(names):
        raise BadInput(
            "a policy is given twice", where="--policy", hint="give each once; others are compared with the first"
        )


def _check_capacities(capacities: Sequence[float]) -> None:
    if len(set(capacities)) != len(capacities):
        told = ", ".join(f"{capacity:g}" for capacity in capacities)
        raise BadInput("a capacity is given twice", where=f"--capacity {told}", hint="each once")


def _check_protection(deployment: float, protection: str, names: Sequence[str]) -> None:
    """Refuse settings of LinkGuardian if no policy has it."""
    if any(protects(name) for name in names):
        return
    for is_default, option, value in (
        (deployment == 1, "deployment", f"{deployment:g}"),
        (protection == BLOCKING, "protection", protection),
    ):
        if not is_default:
            what = f"a {option} of {value} has no effect: there is no LinkGuardian in {', '.join(names)}"
            having = ", ".join(name for name in policies() if protects(name))
            raise BadInput(what, where=f"--{option}", hint=f"omit it, or choose a policy from {having}")


def _write(path: Path, text: str) -> None:
    try:
        if path.exists() and not path.is_file():  # a pipe, or /dev/stdout
            path.write_text(text, encoding="utf-8")
            return
        with whole(path) as beside:
            beside.write_text(text, encoding="utf-8")
    except OSError as refused:
        raise BadInput(
            f"cannot write the file: {refused.strerror}", where=str(path), hint="choose another --out"
        ) from refused


_FACTS = {
    "capacity": "paths that each ToR switch keeps, share",
    "deployment": "pods with LinkGuardian, share",
    "mean_disabled_links": "links down, mean",
    "mean_corrupting_links": "links up that corrupt frames, mean",
    "mean_penalty": "penalty, mean",
    "mean_effective_penalty": "effective penalty, mean",
    "min_tor_paths": "paths of a ToR switch, least",
    "min_pod_capacity_gbps": "capacity of a pod, least, Gb/s",
    "max_lg_ports_per_pipe": "protected ports in a pipe, most",
    "wall_s": "took, s",
}
"""Labels for people, where the keys in `--json` are unclear."""


def _print_facts(title: str, facts: Mapping[str, Any], *, json: bool) -> None:
    if json:
        print_json(facts)
        return
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, show_header=False)
    for name, value in facts.items():
        table.add_row(_FACTS.get(name, name.replace("_", " ")), _shown(name, value))
    stdout.print(table)


def _shown(name: str, value: object) -> str:
    if value is None:
        return "none"
    return format_number(float(value)) if isinstance(value, int | float) and name != "seed" else str(value)
