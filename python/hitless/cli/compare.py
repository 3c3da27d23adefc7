"""`hitless compare`: two scenarios with the same seeds, and the report on them."""

from itertools import groupby
from pathlib import Path

from hitless.cli.execute import Execution, execute
from hitless.cli.run_app import CompareOptions
from hitless.cli.scenario_text import read_scenario, shown_name
from hitless.comparison.compared import Compared
from hitless.comparison.conclusion import arrivals, conclusion, rounded
from hitless.comparison.pairs import Outcome, PairedRuns
from hitless.comparison.result import Comparison
from hitless.comparison.sides import Addition, Asked, Setting, Side, counted, one_file, two_files
from hitless.numbers import format_number
from hitless.results import RESULTS, ResultsFolder
from hitless.runs.keeping import KeptPoints
from hitless.runs.result import Measurement
from hitless.runs.study import Study
from hitless.terminal.console import print_error, print_json, print_note, print_text, stdout
from hitless.whole_file import name_of


def compare(options: CompareOptions) -> int:
    first, out, seed = options.first, options.out, options.seed
    asked = Asked(
        [Addition.of(text) for text in options.with_ or []],
        options.without or [],
        [Setting.read(text) for text in options.settings or []],
    )
    stem = name_of(Path(first.stem))
    sides = counted(_sides(first, options.second, asked))
    for side in sides:
        for note in side.notes:
            print_note(f"note: {note}")
    pairs = PairedRuns(sides, options.seeds)
    points = (out or RESULTS) / "points"
    study = Study(
        f"compare/{stem}",
        f"{sides[0].label} | {sides[1].label}",
        pairs.points(),
        pairs.work_out,
        take=pairs.take,
        seed=seed,
        jobs=options.jobs,
        kept=KeptPoints(points),
        fresh=options.fresh,
    )

    def make_folder() -> ResultsFolder:
        folder = ResultsFolder(f"compare-{stem}", out, points=points)
        with folder.troubles_kept():
            for name, side in zip("ab", sides, strict=True):
                folder.write_text(f"{name}.toml", side.text)
        return folder

    execution = execute(study, make_folder, "comparing", seed=seed)
    document = {"folder": str(execution.folder.path), **Comparison(sides, pairs.outcome).as_json()}
    with execution.folder.troubles_kept():
        execution.folder.write_json("comparison.json", document)
    if options.json:
        print_json(document)
    else:
        show(sides, pairs.outcome)
    _tell(execution, len(pairs.outcome.seeds), options.seeds)
    return execution.exit_code


def _tell(execution: Execution[Measurement], done: int, asked: int) -> None:
    """Print warnings on stderr, each once even if several runs repeat it, and the location of the results."""
    [result] = execution.results
    runs = [task.run for task in result.tasks if task.run is not None]
    for warning in dict.fromkeys(warning for run in runs for warning in run.summary.warnings):
        print_note(f"warning: {warning}")
    for failure in result.failures:
        print_error(failure)
    if execution.interrupted:
        print_note(
            f"interrupted: {done} of {asked} seeds are done on both sides; the same command continues from there"
        )
    execution.tell_place()


def _sides(first: Path, second: Path | None, asked: Asked) -> tuple[Side, Side]:
    text = read_scenario(first)
    if second is None:
        return one_file(shown_name(first), text, asked)
    return two_files((shown_name(first), text), (shown_name(second), read_scenario(second)), asked)


def show(sides: tuple[Side, Side], outcome: Outcome) -> None:
    if not outcome.compared:
        print_note("no seed is done on both sides: there is nothing to compare")
        return
    seeds = len(outcome.seeds)
    stdout.print(f"a  {sides[0].label}\nb  {sides[1].label}", style="bold", markup=False)
    stdout.print(f"{seeds} seed{'s' * (seeds != 1)}, {arrivals(outcome)}\n", markup=False)
    print_text(_line("", "a", "b", "b to a", "95 % interval", "b is"))
    for of, rows in groupby(outcome.compared, key=lambda one: one.metric.of):
        print_text("whole fabric" if of == "all" else of)
        for one in rows:
            print_text(_line(_name(one), rounded(one.a), rounded(one.b), _estimate(one), _interval(one), one.finding))
    print_text("")
    for line in conclusion(sides, outcome):
        stdout.print(line, markup=False)


def _line(*cells: str) -> str:
    name, a, b, estimate, interval, finding = cells
    return f"{name:<23}{a:>9}{b:>9}{estimate:>8}{interval:>15} {finding}".rstrip()


def _name(one: Compared) -> str:
    unit = one.metric.unit if one.metric.unit not in {"messages", "queries"} else ""
    return f"  {one.metric.name}{', ' if unit else ''}{unit}"


def _estimate(one: Compared) -> str:
    estimate = one.paired.estimate
    return _factor(estimate) if one.metric.kind == "ratio" else _signed(estimate)


def _interval(one: Compared) -> str:
    interval = one.paired.interval
    if interval is None:
        return ""
    write = _factor if one.metric.kind == "ratio" else _signed
    return f"{write(interval.low)}..{write(interval.high)}"


def _factor(value: float) -> str:
    return f"x{value:.3f}" if value < 10.0 else f"x{value:,.0f}"


def _signed(value: float) -> str:
    written = format_number(round(value, 2)) if abs(value) < 1 else rounded(value)
    return f"{'+' if value > 0 else ''}{written}"
