"""A scenario over a grid of settings and seeds, on all cores of this machine or on many machines.

- ``plan``: the runs: axes, seeds, tables to keep; shards
- ``measured``: the reduction of each run, done by its worker
- ``frames``: rows, intervals over the seeds, plots along an axis
- ``runs``: the runs, and the result computed from them
- ``running``: runs a plan and writes its data set
- ``swept``: reads a data set
- ``merging``: merges shards
"""

from collections.abc import Collection, Sequence
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path

from hitless.prototype.kinds import MechanismClass, TransportClass, register
from hitless.scenario import AnyScenario, scenario_of
from hitless.sweeps.measured import Measure
from hitless.sweeps.plan import Grid, SweepPlan
from hitless.sweeps.running import Options, Sweeping, outcome_of
from hitless.sweeps.swept import Swept

__all__ = ["Swept", "sweep"]


def sweep(
    scenario: AnyScenario,
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
    mechanisms: Collection[MechanismClass] = (),
    transports: Collection[TransportClass] = (),
) -> Swept:
    """Run a scenario, in any form that `run` accepts, at every point of a grid, with every seed.

    ``grid`` has the values of each axis by the path of its field, as in `Scenario.with_`. Values that are tables or
    lists need labels: ``{"link[0].loss.rate": [1e-4, 1e-3], "mechanism": {"none": [], "LG": [{...}]}}``. ``seeds`` are
    numbers, or a count N for the seeds 1 to N. ``keep`` names tables of each run to store in the data set. ``measure``
    is a function from a run to your own metrics; it must depend on the run alone.

    ``mechanisms`` and ``transports`` are Python classes that the scenario can name by kind; their runs need this
    process.

    Runs use ``jobs`` threads (default: one per core), or any ``executor``; the rows are the same bytes either way. Each
    finished run is cached by the digest of program, effective scenario and seed, so another call only runs what is
    missing, however the last one ended; ``fresh`` runs everything again. Results are in ``out``, by default in a new
    folder below ``results/sweeps``.

    Raises `RefusedScenario` before any run if a point of the grid is not a valid scenario, `HitlessError` at the end if
    runs failed, and `KeyboardInterrupt` when interrupted. Finished runs are cached and written in each case.
    """
    register(mechanisms, transports)
    options = Options(
        out=None if out is None else Path(out),
        jobs=jobs,
        executor=executor,
        fresh=fresh,
        measure=measure,
        progress=progress,
    )
    kept = keep if isinstance(keep, str) else list(keep)  # a string is refused by the plan
    return outcome_of(Sweeping(SweepPlan.of(scenario_of(scenario), grid, seeds, kept), options))
