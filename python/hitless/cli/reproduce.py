"""`hitless reproduce`: exhibits of papers, measured beside the papers' numbers."""

from collections.abc import Sequence
from pathlib import Path

from hitless.cli.console import print_json
from hitless.cli.execute import execute
from hitless.cli.show import print_result
from hitless.errors import BadInput
from hitless.exhibits.campaign import Campaign
from hitless.exhibits.model import Effort
from hitless.exhibits.registry import select
from hitless.results import ResultsFolder


def reproduce(
    ids: Sequence[str],
    *,
    effort: Effort,
    seed: int,
    out: Path | None,
    json: bool,
    jobs: int | None,
    debug: bool,
) -> int:
    """Run the exhibits named, or the headlines; return the exit code."""
    chosen = select(ids)
    if not chosen:
        raise BadInput("no exhibit of the papers is built into this version yet")
    campaign = Campaign(chosen, seed=seed, effort=effort, jobs=jobs)
    execution = execute(campaign, ResultsFolder("reproduce", out), "simulating", seed=seed, effort=effort)
    if json:
        print_json(execution.as_json())
    else:
        for result in execution.results:
            print_result(result)
    execution.tell(debug=debug)
    return execution.exit_code
