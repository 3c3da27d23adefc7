"""Comparison of two scenarios that run with the same seeds."""

from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from hitless.comparison.pairs import PairedRuns
from hitless.comparison.result import Comparison
from hitless.comparison.sides import Addition, Asked, Setting, counted, one_file, two_files
from hitless.errors import BadInput, warn
from hitless.prototype.kinds import MechanismClass, TransportClass, register
from hitless.results import RESULTS
from hitless.runs.keeping import KeptPoints
from hitless.runs.result import failed
from hitless.runs.study import Study
from hitless.runs.watching import watched
from hitless.scenario import AnyScenario, scenario_of
from hitless.whole_file import file_name

__all__ = ["Comparison", "compare"]


def compare(
    a: AnyScenario,
    b: AnyScenario | None = None,
    *,
    with_: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] = (),
    without: str | Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    seeds: int = 10,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    mechanisms: Collection[MechanismClass] = (),
    transports: Collection[TransportClass] = (),
) -> Comparison:
    """Run two scenarios, in any form that `run` accepts, with the same seeds, and compare every metric.

    Without ``b``, the second side is ``a`` with changes. ``with_`` adds mechanisms: a kind, ``"linkguardian"``, a kind
    with fields, ``"afq,ecn_rounds=8"``, or an entry as in a scenario, ``{"kind": "afq", "ecn_rounds": 8}``; the first
    side is without them. ``without`` removes kinds from the second side. ``settings`` are new values of fields by
    their paths, as in `Scenario.with_`.

    ``mechanisms`` and ``transports`` are Python classes that the scenarios can name by kind.

    ``seeds`` is the number of pairs of runs, and ``seed`` the seed of the first. Finished runs are kept in
    ``out/points``, by default in ``results/points``, so another call only runs what is missing; ``fresh`` runs
    everything again.

    Raises `RefusedScenario` for an invalid side, `BadInput` for changes that are impossible, `HitlessError` at the end
    if runs failed, and `KeyboardInterrupt` when interrupted.
    """
    register(mechanisms, transports)
    if not isinstance(seeds, int) or seeds < 1:
        raise BadInput(f"seeds = {seeds!r}", rule="a number of pairs of runs, 1 or more")
    if b is None and not (with_ or without or settings):
        raise BadInput("nothing to compare it with", hint="give b=, with_=, without= or settings=")
    scenario = scenario_of(a)
    asked = Asked(
        [Addition.of(one) for one in ([with_] if isinstance(with_, str | Mapping) else with_)],
        [without] if isinstance(without, str) else list(without),
        [Setting(f"{path}={value}", path, value) for path, value in (settings or {}).items()],
    )
    if b is None:
        sides = one_file(scenario.name, scenario.text, asked)
    else:
        second = scenario_of(b)
        sides = two_files((scenario.name, scenario.text), (second.name, second.text), asked)
    pairs = PairedRuns(counted(sides), seeds)
    kept = KeptPoints(Path(RESULTS if out is None else out) / "points")
    name = f"compare/{file_name(Path(scenario.name).stem)}"
    study = Study(
        name, name, pairs.points(), pairs.work_out, take=pairs.take, seed=seed, jobs=jobs, kept=kept, fresh=fresh
    )
    return _outcome_of(study, pairs, progress=progress)


def _outcome_of(study: Study, pairs: PairedRuns, *, progress: bool) -> Comparison:
    """Run a study, and raise what made it incomplete: `KeyboardInterrupt`, or the first failure."""
    if progress:
        with watched("comparing", study.stop) as look:
            [result] = study.results(look)
    else:
        [result] = study.results()
    if study.interrupted:
        raise KeyboardInterrupt
    if result.failures:
        raise failed(result.failures, len(result.tasks), study.id)
    warn(text for task in result.tasks if task.run for text in task.run.summary.warnings)
    return Comparison(pairs.sides, pairs.outcome)
