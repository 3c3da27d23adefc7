"""A scenario as a value: read from a file or written in Python, changed field by field, and run."""

import copy
import os
import tomllib
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

import tomli_w

from hitless import _native
from hitless.checking import check_scenario
from hitless.errors import BadInput, reason, warn
from hitless.outcome.run import Run
from hitless.prototype.kinds import MechanismClass, TransportClass, register
from hitless.setting_paths import assign
from hitless.simulation import Simulation
from hitless.suggest import did_you_mean
from hitless.whole_file import name_of, text_of

if TYPE_CHECKING:
    from hitless import types
    from hitless.steps import Steps

_UNNAMED = "scenario"


class Scenario:
    """The complete input of a run: the fabric, its hosts and switches, the traffic, and the faults.

    ``fields`` has the fields of a scenario file (``hitless scenario schema`` explains each). Its type is
    `hitless.types.Scenario`, which lets an editor complete them. A scenario is immutable: `with_` makes another one. It
    is checked by `check` or when it runs; errors are raised as `RefusedScenario`, with the same text as on the command
    line.
    """

    __slots__ = ("_fields", "_text", "name")

    def __init__(self, fields: "types.Scenario | Mapping[str, Any]") -> None:
        self._fields: dict[str, Any] | None = copy.deepcopy(dict(fields))
        self._text: str | None = None
        self.name = str(fields.get("name", _UNNAMED))
        """Name in messages: the scenario's own, or the file's."""

    @classmethod
    def from_dict(cls, fields: "types.Scenario | Mapping[str, Any]") -> Self:
        """Make a scenario from its fields, as nested mappings and lists."""
        return cls(fields)

    @classmethod
    def from_text(cls, text: str, name: str = _UNNAMED) -> Self:
        """Make a scenario from a text in TOML; ``name`` is used in messages."""
        made = cls({"name": name})
        made._fields, made._text, made.name = None, text.removeprefix("\ufeff"), name
        return made

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Self:
        """Read a scenario from a TOML file. Raises `BadInput` for a file that cannot be read."""
        try:
            return cls.from_text(text_of(Path(path)), name_of(Path(path)))
        except (OSError, UnicodeDecodeError) as refused:
            hint = _similar_files(Path(path)) or "hitless.example() lists examples"
            raise BadInput(f"cannot read the scenario: {reason(refused)}", where=str(path), hint=hint) from refused

    @property
    def text(self) -> str:
        """The scenario in TOML, as written or generated from its fields."""
        if self._text is None:
            self._text = tomli_w.dumps(cast("dict[str, Any]", self._fields))
        return self._text

    @property
    def fields(self) -> dict[str, Any]:
        """A copy of its fields, without defaults. Raises `RefusedScenario` for invalid TOML."""
        if self._fields is None:
            try:
                self._fields = tomllib.loads(self.text)
            except tomllib.TOMLDecodeError:
                self.check()
                raise
        return copy.deepcopy(self._fields)

    @property
    def effective(self) -> str:
        """The scenario in TOML with every default spelled out. Raises `RefusedScenario`."""
        return check_scenario(self.text, self.name)

    def check(self) -> Self:
        """Return the scenario itself, or raise `RefusedScenario` with all its errors."""
        check_scenario(self.text, self.name)
        return self

    def with_(self, path: str, value: Any) -> "Scenario":
        """Return a copy with a new value for one field; None removes the field.

        ``path`` names the field: ``"link[0].loss.rate"``, ``"switch.ecn.threshold"``, ``"flows.bulk.load"``. A list
        entry is found by its index, or by its ``name`` or ``kind``. Raises `BadInput` if the path does not exist.
        """
        return varied(self, {path: value})

    def run(
        self,
        *,
        seed: int | None = None,
        keep: Collection[str] | None = None,
        mechanisms: Collection[MechanismClass] = (),
        transports: Collection[TransportClass] = (),
        rows: str | PathLike[str] | None = None,
    ) -> Run:
        """Run to the end, with ``seed`` or its own seed.

        ``rows`` is a folder: flows and messages are written there during the run, as ``flows.parquet`` and
        ``messages.parquet``, and finished ones take no memory. Their tables are then read on request.

        ``keep`` names the tables to keep; the default is all. ``mechanisms`` and ``transports`` are Python classes
        that the scenario can name by kind. Shows the run's warnings as `RunWarning`. Raises `RefusedScenario`;
        `MechanismFailed` with an error of such a class; `HitlessError` if a check of the simulator fails; and
        `RunStopped`, with partial results, if memory runs out.
        """
        register(mechanisms, transports)
        folder = None if rows is None else Path(rows)
        run = Simulation(self.text, file_name=self.name, seed=seed, rows=folder).run(keep)
        warn(run.summary.warnings)
        return run

    def start(
        self,
        *,
        seed: int | None = None,
        mechanisms: Collection[MechanismClass] = (),
        transports: Collection[TransportClass] = (),
    ) -> "Steps":
        """Start at time 0, to run in steps. Raises `RefusedScenario`."""
        from hitless.steps import Steps  # noqa: PLC0415 - most runs go to the end at once

        register(mechanisms, transports)
        return Steps(self.text, self.name, seed)

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Scenario) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Scenario({self.name!r})"

    def _repr_html_(self) -> str:
        """Describe the scenario in a few lines, for a notebook."""
        from hitless.outcome.pictures import scenario_as_html  # noqa: PLC0415 - drawing is not needed to run

        return scenario_as_html(self.name, self.effective)


AnyScenario: TypeAlias = Scenario | Mapping[str, Any] | str | Path
"""A scenario, its fields, a text in TOML, or the path of a file."""


def varied(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """Apply `Scenario.with_` for each setting, with one copy of the fields. Raises `BadInput` for an unknown path."""
    fields = scenario.fields
    for path, value in values.items():
        assign(fields, path, copy.deepcopy(value))
    made = Scenario(fields)
    made.name = scenario.name
    return made


def example(name: str | None = None) -> Scenario:
    """Return the example scenario ``name``. Raises `BadInput`, which lists them, if the name is unknown or missing."""
    text = _native.scenario_example(name) if name else None
    if text is not None:
        return Scenario.from_text(text, str(name))
    known = examples()
    rule = "the examples are " + ", ".join(known)
    if name is None:
        raise BadInput("which example?", rule=rule)
    raise BadInput(f"there is no example {name!r}", rule=rule, hint=did_you_mean(name, list(known)))


def examples() -> dict[str, str]:
    """Return the names of all example scenarios with their descriptions."""
    return dict(_native.scenario_examples())


def run(
    scenario: AnyScenario,
    *,
    mechanisms: Collection[MechanismClass] = (),
    transports: Collection[TransportClass] = (),
    seed: int | None = None,
) -> Run:
    """Run a scenario, given as a `Scenario`, as nested mappings, as TOML text, or as the path of a file.

    A text in one line is a path if it ends in ``.toml`` or names a file. ``mechanisms`` and ``transports`` are Python
    classes that it can name by kind. Raises the errors of `Scenario.run`.
    """
    return scenario_of(scenario).run(seed=seed, mechanisms=mechanisms, transports=transports)


def scenario_of(given: AnyScenario) -> Scenario:
    """Return a scenario from any accepted form; `run` lists them."""
    if isinstance(given, Scenario):
        return given
    if isinstance(given, Path) or (isinstance(given, str) and _is_path(given)):
        return Scenario.from_file(given)
    return Scenario.from_text(given) if isinstance(given, str) else Scenario(given)


def _is_path(text: str) -> bool:
    # Unlike Path.is_file, isfile is False for a text that is too long for a name.
    return "\n" not in text and (text.endswith(".toml") or os.path.isfile(text))  # noqa: PTH113


def _similar_files(path: Path) -> str:
    """Return a hint with the file of the nearest name in the same folder; "" if the file exists, or without such."""
    near = [] if path.exists() else get_close_matches(path.name, [one.name for one in path.parent.glob("*.toml")], n=1)
    return f"did you mean {path.parent / near[0]}?" if near else ""
