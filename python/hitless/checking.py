"""Checks of a scenario without a run, and the errors of the native module as this package's errors.

It loads fast: it avoids polars and numpy.
"""

import json
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeAlias

import tomli_w

from hitless import _native
from hitless.errors import HitlessError, MechanismFailed, RefusedScenario

Fields: TypeAlias = Mapping[str, Any]
"""A scenario as nested mappings, with the fields of ``hitless scenario schema``."""


def scenario_text(scenario: Fields | str) -> str:
    """Return the scenario as TOML."""
    return scenario if isinstance(scenario, str) else tomli_w.dumps(scenario)


def mechanism_failed(failed: _native.MechanismError, file_name: str) -> MechanismFailed:
    """Convert an error that a mechanism raised into an error for people."""
    cause = failed.__cause__ or failed
    told = "".join(traceback.format_exception(cause))
    return MechanismFailed(f"{failed}\n{told.rstrip()}", where=file_name)


@contextmanager
def refusals_explained(file_name: str) -> Iterator[None]:
    """Convert a refused scenario, or a failure of a mechanism before the run, into errors for people."""
    try:
        yield
    except _native.ScenarioError as refused:
        raise RefusedScenario(str(refused)) from refused
    except _native.MechanismError as failed:
        raise mechanism_failed(failed, file_name) from failed.__cause__


@contextmanager
def faults_explained(file_name: str, of: str = "the simulator") -> Iterator[None]:
    """Convert a failed check of a run, a limit that it reached, or a failure of a mechanism, into errors for people."""
    try:
        yield
    except _native.ScenarioError as refused:
        raise RefusedScenario(str(refused)) from refused
    except _native.SimulationError as failed:
        hint = f"this is a bug in {of}; please report it"
        raise HitlessError(str(failed), where=file_name, hint=hint) from failed
    except _native.MechanismError as failed:
        raise mechanism_failed(failed, file_name) from failed.__cause__


def size_table(name: str) -> list[tuple[float, float]]:
    """Return the flow sizes ``name`` as a CDF: bytes and the share of flows (0 to 1) up to it, linear in between."""
    points = _native.size_table(name)
    if points is None:
        raise KeyError(f"no table of flow sizes is called {name!r}")
    return points


def scenario_resources(what: Fields | str, file_name: str = "scenario") -> list[dict[str, Any]]:
    """Return the resources that a scenario's mechanisms need on a real switch, without a run.

    There is an entry for each kind of switch with mechanisms: ``switches``, their names; ``mechanisms``, each with
    ``takes`` (amounts by name, units in the names), ``registers``, ``hooks`` and ``not_counted``; ``sum``; ``budget``,
    the amounts that exist, or None; ``shortages``, the amounts that are exceeded. See docs/explanation/resources.md.
    Raises `RefusedScenario`.
    """
    with refusals_explained(file_name):
        found: list[dict[str, Any]] = json.loads(_native.scenario_resources(scenario_text(what), file_name))
    return found


def fabric_of(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fabric of a scenario: names of ``hosts`` and ``switches``, and ``links``.

    A link has a ``name``, a ``reverse`` name, its two ``ends``, and ``directions``: ``rate_bps``, ``delay_ps`` and
    ``overhead_bytes`` from the first end to the second, and back. Callers share the result and do not change it. Raises
    `RefusedScenario`.
    """
    shapes = [
        {name: link[name] for name in ("name", "rate", "delay") if name in link} for link in scenario.get("link", ())
    ]
    links = {"link": [shape for shape in shapes if len(shape) > 1]}
    return _fabric_of(
        scenario_text({"name": "fabric", "topology": scenario["topology"], **(links if links["link"] else {})})
    )


@lru_cache(maxsize=1)
def _fabric_of(text: str) -> dict[str, Any]:
    """Return the fabric; times and the drawing of a run need the same one."""
    with refusals_explained("fabric"):
        found: dict[str, Any] = json.loads(_native.scenario_fabric(text, "fabric"))
    return found


def check_scenario_of(scenario: Fields) -> str:
    """Run `check_scenario` on a scenario that a program made."""
    return check_scenario(scenario_text(scenario), "scenario")


def check_scenario(text: str, file_name: str) -> str:
    """Return the scenario as TOML with every default spelled out, or raise `RefusedScenario`."""
    return checked(text, file_name).effective


def checked(text: str, file_name: str, *, keeps_rows: bool = True, threads: int = 1) -> _native.CheckedScenario:
    """Parse and check a scenario, or raise `RefusedScenario`.

    A run that writes its rows to disk can have more flows than a run that keeps them, and more threads need more
    memory.
    """
    with refusals_explained(file_name):
        return _native.CheckedScenario(text, file_name, keeps_rows, threads)


def mechanism_schemas() -> Mapping[str, Mapping[str, Any]]:
    """Return the JSON Schema of each kind of mechanism, including Python classes of this process."""
    definitions = json.loads(_native.scenario_schema("json"))["$defs"]
    return {each["properties"]["kind"]["const"]: each for each in definitions["MechanismSettings"]["oneOf"]}
