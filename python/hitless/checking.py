"""What is asked of a scenario without running it, and the errors of the native module as this package's.

It loads fast: neither polars nor numpy is needed for it.
"""

import json
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

import tomli_w

from hitless import _native
from hitless.errors import HitlessError, MechanismFailed, RefusedScenario

Fields: TypeAlias = Mapping[str, Any]
"""A scenario as nested mappings, in the words of ``hitless scenario schema``."""


def scenario_text(scenario: Fields | str) -> str:
    """The scenario as TOML."""
    return scenario if isinstance(scenario, str) else tomli_w.dumps(scenario)


def mechanism_failed(failed: _native.MechanismError, file_name: str) -> MechanismFailed:
    """The error for people of an error that a mechanism raised."""
    cause = failed.__cause__ or failed
    told = "".join(traceback.format_exception(cause))
    return MechanismFailed(f"{failed}\n{told.rstrip()}", where=file_name)


@contextmanager
def refusals_explained(file_name: str) -> Iterator[None]:
    """A scenario that is refused, and a mechanism that fails before the run, as errors for people."""
    try:
        yield
    except _native.ScenarioError as refused:
        raise RefusedScenario(str(refused)) from refused
    except _native.MechanismError as failed:
        raise mechanism_failed(failed, file_name) from failed.__cause__


@contextmanager
def faults_explained(file_name: str, of: str = "the simulator") -> Iterator[None]:
    """A broken check of a run, a limit that it meets, and a mechanism that fails in it, as errors for people."""
    try:
        yield
    except _native.ScenarioError as refused:
        raise RefusedScenario(str(refused)) from refused
    except _native.SimulationError as failed:
        hint = f"this is a fault of {of}; please report it"
        raise HitlessError(str(failed), where=file_name, hint=hint) from failed
    except _native.MechanismError as failed:
        raise mechanism_failed(failed, file_name) from failed.__cause__


def size_table(name: str) -> list[tuple[float, float]]:
    """The table of flow sizes ``name``: bytes, and the share of flows (0 to 1) up to so many, linear in between."""
    points = _native.size_table(name)
    if points is None:
        raise KeyError(f"no table of flow sizes is called {name!r}")
    return points


def scenario_resources(what: Fields | str, file_name: str = "scenario") -> list[dict[str, Any]]:
    """What the mechanisms of a scenario take of a real switch, or `RefusedScenario`: nothing is run.

    An entry for each kind of switch that runs any: ``switches``, their names; ``mechanisms``, each with ``takes``
    (amounts by name, units in the names), ``registers``, ``hooks`` and ``not_counted``; ``sum``; ``budget``, what there
    is, or None; ``shortages``, what there is too little of. See docs/explanation/resources.md.
    """
    with refusals_explained(file_name):
        found: list[dict[str, Any]] = json.loads(_native.scenario_resources(scenario_text(what), file_name))
    return found


def fabric_of(topology: Mapping[str, Any]) -> dict[str, Any]:
    """The fabric of a ``[topology]``: names of ``hosts`` and ``switches``, and ``links``.

    A link has its ``name``, the ``reverse`` one, its two ``ends`` and ``rate_bps``. Raises `RefusedScenario`.
    """
    with refusals_explained("fabric"):
        _, fabric = _native.scenario_check_live(scenario_text({"name": "fabric", "topology": topology}), "fabric")
    found: dict[str, Any] = json.loads(fabric)
    return found


def check_scenario_of(scenario: Fields) -> str:
    """`check_scenario` of one that was made by a program."""
    return check_scenario(scenario_text(scenario), "scenario")


def check_scenario(text: str, file_name: str, *, keeps_rows: bool = True, threads: int = 1) -> str:
    """The scenario as TOML with every default spelled out, or `RefusedScenario`.

    A run that writes its rows while it goes on may have more flows than one that keeps them, and one on more threads
    takes more memory.
    """
    with refusals_explained(file_name):
        return _native.scenario_check(text, file_name, keeps_rows, threads)
