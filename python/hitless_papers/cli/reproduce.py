"""`hitless reproduce`: exhibits of papers, compared with the papers' numbers."""

from collections.abc import Mapping, Sequence
from functools import partial

from hitless import _native
from hitless.analysis import REPLICAS_MIN
from hitless.cli.execute import Execution, execute
from hitless.errors import BadInput
from hitless.results import RESULTS, ResultsFolder
from hitless.runs.executors import executor_at
from hitless.runs.keeping import KeptPoints
from hitless.terminal.console import print_json, print_note, stdout
from hitless.threads import core_count
from hitless_papers import page
from hitless_papers.answer.screen import first_screen
from hitless_papers.campaign import Campaign
from hitless_papers.cli.reproduce_app import ReproduceOptions
from hitless_papers.cli.screen import print_next, print_screen, print_tallies
from hitless_papers.cli.show import print_result
from hitless_papers.durations import estimate, in_words
from hitless_papers.model import Effort, Row
from hitless_papers.registry import Entry, select

_WORTH_SAYING_S = 20.0
"""How long a run takes before it says how long it takes."""


def reproduce(options: ReproduceOptions) -> int:
    """Run the exhibits named, or the headlines; return the exit code.

    Points are kept but for quick runs, which are those that are done again sooner than looked for.
    """
    effort: Effort = "quick" if options.quick else "full" if options.full else "normal"
    out, seed, jobs, patterns = options.out, options.seed, options.jobs, options.points or []
    chosen = select(options.ids or [])
    if not chosen:
        raise BadInput("no exhibit of the papers is built into this version yet")
    kept = None if effort == "quick" else KeptPoints((out or RESULTS) / "points")
    with executor_at(options.on, jobs) as executor:
        campaign = Campaign(
            chosen,
            seed=seed,
            seeds=options.seeds,
            effort=effort,
            jobs=jobs,
            kept=kept,
            fresh=options.fresh,
            patterns=patterns,
            executor=executor,
        )
        _tell_what_is_there(campaign, kept)
        if not patterns and executor is None:
            _tell_how_long(campaign.seeds, effort, jobs)
        _tell_who_has_one_seed(campaign)
        make_folder = partial(ResultsFolder, "reproduce", out, points=kept.folder if kept else None)
        execution = execute(campaign, make_folder, "simulating", page, seed=seed, effort=effort)
    if kept is not None and kept.trouble is not None:
        print_note(f"warning: points could not be kept in {kept.folder}: {kept.trouble.strerror}")
    if options.json:
        print_json(execution.as_json())
    else:
        _show(execution, effort=effort, seed=seed, tables=options.tables)
    execution.tell(interrupted=_how_far(execution))
    if execution.interrupted:
        _tell_how_to_go_on(execution, chosen, kept)
    return execution.exit_code


def _how_far(execution: Execution[Row]) -> str:
    complete = sum(result.complete for result in execution.results)
    rows = sum(len(result.rows) for result in execution.results)
    return f"{complete} of {len(execution.results)} exhibits are complete; the {rows} rows done are kept"


def _show(execution: Execution[Row], *, effort: Effort, seed: int, tables: bool) -> None:
    """The rows of a single exhibit, or of all where they are asked for; then the screen. Nothing where nothing is."""
    present = [result for result in execution.results if result.rows]
    if not present:
        return
    is_single = len(execution.results) == 1
    if tables or is_single:
        for result in present:
            print_result(result)
    screen = first_screen(execution.results)
    if is_single:
        print_tallies(screen)
        print_next(screen)
        return
    runs = f"{screen.runs:,} simulation{'' if screen.runs == 1 else 's'}"
    version, took = _native.version(), in_words(execution.wall_s)
    last = max(seed + len(result.seeds) - 1 for result in present)
    seeds = f"seed {seed}" if last == seed else f"seeds {seed} to {last}"
    stdout.print(f"hitless {version}, {effort} runs, {seeds}: {runs} in {took}", style="dim", markup=False)
    print_screen(screen)


def _tell_what_is_there(campaign: Campaign, kept: KeptPoints | None) -> None:
    there = sum(task.was_there for task in campaign.tasks)
    if kept is not None and there:
        note = f"{there} of {len(campaign.tasks)} points are there already, in {kept.folder}; --fresh runs them again"
        print_note(note)


def _tell_how_long(seeds: Mapping[str, int], effort: Effort, jobs: int | None) -> None:
    cores = min(jobs or core_count(), core_count())
    seconds = estimate(seeds, effort, cores)
    if seconds is not None and seconds > _WORTH_SAYING_S:
        most = max(seeds.values())
        of = f", with {most} seeds" if most > 1 else ""
        on = f"{cores} core{'' if cores == 1 else 's'}"
        print_note(f"about {in_words(seconds)} on {on}{of}; Ctrl-C keeps what is done")


def _tell_who_has_one_seed(campaign: Campaign) -> None:
    few = campaign.unjudged
    if few:
        print_note(f"too few seeds for a verdict: {', '.join(few)}; --seeds {REPLICAS_MIN} takes as many times as long")


def _tell_how_to_go_on(execution: Execution[Row], chosen: Sequence[Entry], kept: KeptPoints | None) -> None:
    if kept is not None:
        print_note(f"the same command goes on from here: finished points are in {kept.folder}")
        return
    complete = {result.id for result in execution.results if result.complete}
    missing = [entry.id for entry in chosen if entry.id not in complete]
    if missing:
        print_note(f"to go on with what is missing: hitless reproduce {' '.join(missing)} --quick")
