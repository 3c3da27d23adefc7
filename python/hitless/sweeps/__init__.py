"""A scenario over a grid of settings and seeds, on all cores of this machine or on many machines.

- ``plan``: what is run: axes, seeds, what is kept; shards of it
- ``measured``: what becomes of a run where it was run
- ``frames``: rows, intervals over the seeds, plots along an axis
- ``runs``: the runs, and the result worked out from them
- ``running``: a plan run to its data set
- ``swept``: the data set, read
- ``merging``: shards put together
"""

from collections.abc import Collection, Sequence
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path

from hitless.scenario import Scenario
from hitless.sweeps.measured import Measure
from hitless.sweeps.plan import Grid, SweepPlan
from hitless.sweeps.running import Options, Sweeping, outcome_of
from hitless.sweeps.swept import Swept

__all__ = ["Swept", "sweep"]


def sweep(
    scenario: Scenario,
    grid: Grid,
    *,
    seeds: int | Sequence[int] = 1,
    keep: Collection[str] = (),
    measure: Measure | None = None,
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    fresh: bool = False,
    progress: bool = True,
) -> Swept:
    """Run a scenario at every point of a grid, with every seed.

    ``grid`` has the values of each axis by the path of its field, as `Scenario.with_` takes it; values that are tables
    or lists have labels: ``{"link[0].loss.rate": [1e-4, 1e-3], "mechanism": {"none": [], "LG": [{...}]}}``. ``seeds``
    are numbers, or how many of them from 1 on. ``keep`` names tables of each run that become part of the data set, and
    ``measure`` is a function from a run to metrics of one's own, which depend on the run alone.

    Runs take place on ``jobs`` threads, one a core if left out, or on any ``executor``; the rows are the same bytes.
    Each finished run is kept by the digest of program, effective scenario and seed: called again, this runs only what
    is missing, however it ended before; ``fresh`` runs all again. Results are in ``out``, or in a folder of their own
    below ``results/sweeps``.

    Raises `RefusedScenario` before anything runs where a point of the grid is no scenario, `HitlessError` at the end
    where runs have failed, and `KeyboardInterrupt` when it was interrupted; what is done is kept and written each time.
    """
    options = Options(
        out=None if out is None else Path(out),
        jobs=jobs,
        executor=executor,
        fresh=fresh,
        measure=measure,
        progress=progress,
    )
    kept = keep if isinstance(keep, str) else list(keep)  # a string is refused by the plan
    return outcome_of(Sweeping(SweepPlan.of(scenario, grid, seeds, kept), options))
