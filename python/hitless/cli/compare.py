"""`hitless compare`: two scenarios with the same seeds, and the report on them."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from hitless.analysis import REPLICAS_MIN
from hitless.cli.compare_app import CompareOptions
from hitless.cli.execute import Execution, execute
from hitless.cli.scenario_text import read_scenario, shown_name
from hitless.comparison.pairs import METHOD, Compared, Outcome, PairedRuns
from hitless.comparison.sides import Asked, Side, counted, one_file, two_files
from hitless.numbers import format_number
from hitless.outcome.times import ALL_SIZES
from hitless.results import RESULTS, ResultsFolder
from hitless.runs.keeping import KeptPoints
from hitless.runs.result import Measurement
from hitless.runs.study import Study
from hitless.terminal.console import print_error, print_json, print_note, print_text, stdout
from hitless.whole_file import name_of

_TOLD = 5
"""Maximum differences in the sentences; the table has all."""


def compare(options: CompareOptions) -> int:
    """Run both sides and report; return the exit code."""
    first, out, seed = options.first, options.out, options.seed
    asked = Asked(options.with_ or [], options.without or [], options.settings or [])
    stem = name_of(Path(first.stem))
    sides = counted(_sides(first, options.second, asked))
    for side in sides:
        for note in side.notes:
            print_note(f"note: {note}")
    pairs = PairedRuns(sides, options.seeds)
    study = Study(
        f"compare/{stem}",
        f"{sides[0].label} | {sides[1].label}",
        pairs.points(),
        pairs.work_out,
        take=pairs.take,
        seed=seed,
        jobs=options.jobs,
        kept=KeptPoints((out or RESULTS) / "points"),
        fresh=options.fresh,
    )

    def make_folder() -> ResultsFolder:
        folder = ResultsFolder(f"compare-{stem}", out)
        with folder.troubles_kept():
            for name, side in zip("ab", sides, strict=True):
                folder.write_text(f"{name}.toml", side.text)
        return folder

    execution = execute(study, make_folder, "comparing", seed=seed)
    document = _document(execution.folder.path, sides, pairs.outcome)
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


def _document(folder: Path, sides: tuple[Side, Side], outcome: Outcome) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "a": sides[0].label,
        "b": sides[1].label,
        "seeds": list(outcome.seeds),
        "method": METHOD,
        "same_arrivals": not outcome.different_starts and not outcome.different_flows,
        "same_flows": not outcome.different_flows,
        "metrics": [one.as_json() for one in outcome.compared],
        "conclusion": list(conclusion(sides, outcome)),
    }


def show(sides: tuple[Side, Side], outcome: Outcome) -> None:
    """Print the table and the conclusion."""
    if not outcome.compared:
        print_note("no seed is done on both sides: there is nothing to compare")
        return
    seeds = len(outcome.seeds)
    stdout.print(f"a  {sides[0].label}\nb  {sides[1].label}", style="bold", markup=False)
    stdout.print(f"{seeds} seed{'s' * (seeds != 1)}, {_arrivals(outcome)}\n", markup=False)
    print_text(_line("", "a", "b", "b to a", "95 % interval", "b is"))
    for of, rows in groupby(outcome.compared, key=lambda one: one.metric.of):
        print_text("whole fabric" if of == "all" else of)
        for one in rows:
            print_text(_line(_name(one), _number(one.a), _number(one.b), _estimate(one), _interval(one), one.finding))
    print_text("")
    for line in conclusion(sides, outcome):
        stdout.print(line, markup=False)


def _arrivals(outcome: Outcome) -> str:
    if outcome.different_flows:
        groups = ", ".join(outcome.different_flows)
        return f"flows differ between the sides in {groups}: pairs of runs have less in common"
    if outcome.different_starts:
        groups = ", ".join(outcome.different_starts)
        return f"the same flows on both sides (equal sizes and hosts), with other starts in {groups}"
    return f"the same arrivals on both sides ({outcome.flows:,} flows: equal starts, sizes and hosts)"


def _line(*cells: str) -> str:
    """Format a line of 80 columns."""
    name, a, b, estimate, interval, finding = cells
    return f"{name:<23}{a:>9}{b:>9}{estimate:>8}{interval:>15} {finding}".rstrip()


def _name(one: Compared) -> str:
    unit = one.metric.unit if one.metric.unit not in {"messages", "queries"} else ""
    return f"  {one.metric.name}{', ' if unit else ''}{unit}"


def _number(value: float) -> str:
    """Format with about three digits; more would be noise."""
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


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
    written = format_number(round(value, 2)) if abs(value) < 1 else _number(value)
    return f"{'+' if value > 0 else ''}{written}"


def conclusion(sides: tuple[Side, Side], outcome: Outcome) -> Iterator[str]:
    """Return the conclusion in plain sentences."""
    if not outcome.compared:
        return
    found = [one for one in outcome.compared if one.finding in {"higher", "lower"}]
    unsure = [one for one in outcome.compared if one.finding == "not significant"]
    if len(outcome.seeds) < REPLICAS_MIN:
        tell = "One seed tells" if len(outcome.seeds) == 1 else "Two seeds tell"
        yield f"{tell} nothing of chance: give --seeds 10."
        return
    unmoved = sum(one.finding == "same each seed" for one in outcome.compared)
    if unmoved:
        yield f"Seeds change nothing in {unmoved} metrics: they are as far apart with each seed, and have no interval."
    if found:
        yield f"{sides[1].label} vs. {sides[0].label}: {_changes(found)}."
    else:
        yield f"No difference between the two is significant with {len(outcome.seeds)} seeds."
    if unsure:
        yield from _unsure(unsure, len(outcome.seeds))
    yield f"{METHOD}. One interval of twenty misses by chance."


def _changes(found: Sequence[Compared]) -> str:
    """Return up to five changes: first metrics of the whole fabric, then of all sizes."""
    ranked = sorted(found, key=_rank)
    more = f"; and {len(found) - _TOLD} more in the table" if len(found) > _TOLD else ""
    return "; ".join(_change(one) for one in ranked[:_TOLD]) + more


def _rank(one: Compared) -> int:
    if one.metric.of == "all":
        return 0
    return 1 if ALL_SIZES in one.metric.of or "goodput" in one.metric.name else 2


def _change(one: Compared) -> str:
    where = "" if one.metric.of == "all" else f" of {one.metric.of}"
    if one.metric.kind == "difference":
        return f"{one.metric.name}{where} {_number(one.a)} to {_number(one.b)}"
    estimate = one.paired.estimate
    times = max(estimate, 1.0 / estimate)
    by = f"{times:.1f} times" if times >= 2.0 else f"{abs(estimate - 1.0):.1%}"
    return f"{one.metric.name}{where} {by} {one.finding}"


def _unsure(unsure: Sequence[Compared], seeds: int) -> Iterator[str]:
    yield f'Not significant with {seeds} seeds: for {len(unsure)} metrics the interval includes "no difference".'
    known = [one for one in unsure if one.paired.seeds_needed is not None]
    if known:
        nearest = min(known, key=lambda one: one.paired.seeds_needed or 0)
        where = "" if nearest.metric.of == "all" else f" of {nearest.metric.of}"
        yield (
            f"The nearest is {nearest.metric.name}{where}: about {nearest.paired.seeds_needed} seeds would show it, "
            "if it is as large as it looks."
        )
