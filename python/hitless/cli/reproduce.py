"""`hitless reproduce`: exhibits of papers, measured beside the papers' numbers."""

from collections.abc import Sequence
from pathlib import Path

from hitless.cli.console import print_json, print_note
from hitless.cli.execute import execute
from hitless.cli.show import print_result
from hitless.errors import BadInput
from hitless.exhibits.campaign import Campaign
from hitless.exhibits.keeping import KeptPoints
from hitless.exhibits.model import Effort
from hitless.exhibits.registry import select
from hitless.results import RESULTS, ResultsFolder


def reproduce(
    ids: Sequence[str],
    *,
    effort: Effort,
    seed: int,
    out: Path | None,
    json: bool,
    jobs: int | None,
    fresh: bool,
    patterns: Sequence[str],
    debug: bool,
) -> int:
    """Run the exhibits named, or the headlines; return the exit code. ``patterns`` choose among their points.

    Points are kept but for quick runs, which are those that are done again sooner than looked for.
    """
    chosen = select(ids)
    if not chosen:
        raise BadInput("no exhibit of the papers is built into this version yet")
    kept = None if effort == "quick" else KeptPoints((out or RESULTS) / "points")
    campaign = Campaign(chosen, seed=seed, effort=effort, jobs=jobs, kept=kept, fresh=fresh, patterns=patterns)
    _tell_what_is_there(campaign, kept)
    execution = execute(campaign, ResultsFolder("reproduce", out), "simulating", seed=seed, effort=effort)
    if kept is not None and kept.trouble is not None:
        print_note(f"warning: points could not be kept in {kept.folder}: {kept.trouble.strerror}")
    if json:
        print_json(execution.as_json())
    else:
        for result in execution.results:
            print_result(result)
    execution.tell(debug=debug)
    return execution.exit_code


def _tell_what_is_there(campaign: Campaign, kept: KeptPoints | None) -> None:
    there = sum(task.was_there for task in campaign.tasks)
    if kept is not None and there:
        note = f"{there} of {len(campaign.tasks)} points are there already, in {kept.folder}; --fresh runs them again"
        print_note(note)
