"""A scenario as a value: read from a file, written in Python, changed field by field, run."""

import copy
import tomllib
from collections.abc import Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import tomli_w

from hitless import _native
from hitless.checking import check_scenario
from hitless.errors import BadInput, reason
from hitless.outcome.run import Run
from hitless.prototype.kinds import MechanismClass, register
from hitless.setting_paths import assign
from hitless.simulation import Simulation
from hitless.suggest import did_you_mean
from hitless.whole_file import name_of, text_of

if TYPE_CHECKING:
    from hitless import types
    from hitless.steps import Steps

_UNNAMED = "scenario"


class Scenario:
    """Everything that decides a run: the fabric, its hosts and switches, who sends what to whom, what goes wrong.

    ``fields`` has the words of a scenario file (``hitless scenario schema`` explains each). `hitless.types.Scenario` is
    its type, by which an editor completes them. A scenario does not change: `with_` makes another one. It is checked
    when it runs, or by `check`; what is wrong with it is raised as `RefusedScenario`, in the words of the command line.
    """

    __slots__ = ("_fields", "_text", "name")

    def __init__(self, fields: "types.Scenario | Mapping[str, Any]") -> None:
        self._fields: dict[str, Any] | None = copy.deepcopy(dict(fields))
        self._text: str | None = None
        self.name = str(fields.get("name", _UNNAMED))
        """What messages call it: its name, or that of its file."""

    @classmethod
    def from_dict(cls, fields: "types.Scenario | Mapping[str, Any]") -> Self:
        """The scenario with these fields, as nested mappings and lists."""
        return cls(fields)

    @classmethod
    def from_text(cls, text: str, name: str = _UNNAMED) -> Self:
        """The scenario of a text in TOML; ``name`` is what messages call it."""
        made = cls({"name": name})
        made._fields, made._text, made.name = None, text.removeprefix("\ufeff"), name
        return made

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Self:
        """The scenario of a file in TOML. Raises `BadInput` for a file that cannot be read."""
        try:
            return cls.from_text(text_of(Path(path)), name_of(Path(path)))
        except (OSError, UnicodeDecodeError) as refused:
            hint = "hitless.example() lists scenarios to begin with"
            raise BadInput(f"cannot read the scenario: {reason(refused)}", where=str(path), hint=hint) from refused

    @property
    def text(self) -> str:
        """The scenario in TOML, as it was written, or made of its fields."""
        if self._text is None:
            self._text = tomli_w.dumps(cast("dict[str, Any]", self._fields))
        return self._text

    @property
    def fields(self) -> dict[str, Any]:
        """A copy of its fields, without defaults. Raises `RefusedScenario` for a text that is not TOML."""
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
        """The scenario itself, or `RefusedScenario` with all that is wrong with it."""
        check_scenario(self.text, self.name)
        return self

    def with_(self, path: str, value: Any) -> "Scenario":
        """The scenario with another value of one field, or, for None, without it.

        ``path`` leads to it: ``"link[0].loss.rate"``, ``"switch.ecn.threshold"``, ``"flows.bulk.load"``. An entry of a
        list is found by its number, or by its ``name`` or ``kind``. Raises `BadInput` where it leads nowhere.
        """
        return varied(self, {path: value})

    def run(
        self,
        *,
        seed: int | None = None,
        keep: Collection[str] | None = None,
        mechanisms: Collection[MechanismClass] = (),
        rows: str | PathLike[str] | None = None,
    ) -> Run:
        """Run it to the end, with ``seed`` or its own.

        ``rows`` is a folder: flows and messages are written there while it runs, as ``flows.parquet`` and
        ``messages.parquet``, and what has ended takes no memory. Their tables are then read when they are asked for.

        ``keep`` names the tables to keep, all by default; the scenario may name the kinds of ``mechanisms``, which are
        classes of Python. Raises `RefusedScenario`, `MechanismFailed` with an error of a mechanism, and `HitlessError`
        when a check of the simulator fails, and `RunStopped`, with what there is, when it takes too much memory.
        """
        register(mechanisms)
        folder = None if rows is None else Path(rows)
        return Simulation(self.text, file_name=self.name, seed=seed, rows=folder).run(keep)

    def start(self, *, seed: int | None = None, mechanisms: Collection[MechanismClass] = ()) -> "Steps":
        """Start it at time 0, to be run in steps. Raises `RefusedScenario`."""
        from hitless.steps import Steps  # noqa: PLC0415 - most runs go to the end at once

        register(mechanisms)
        return Steps(self.text, self.name, seed)

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Scenario) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Scenario({self.name!r})"

    def _repr_html_(self) -> str:
        """What it consists of, in a few lines, as a notebook shows it."""
        from hitless.outcome.pictures import scenario_as_html  # noqa: PLC0415 - drawing is not needed to run

        return scenario_as_html(self.name, self.effective)


def varied(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """As `Scenario.with_` of each, with one copy of the fields. Raises `BadInput` where a path leads nowhere."""
    fields = scenario.fields
    for path, value in values.items():
        assign(fields, path, copy.deepcopy(value))
    made = Scenario(fields)
    made.name = scenario.name
    return made


def example(name: str | None = None) -> Scenario:
    """The example scenario ``name``. Raises `BadInput`, which lists them, where there is none, or none is named."""
    text = _native.scenario_example(name) if name else None
    if text is not None:
        return Scenario.from_text(text, str(name))
    known = examples()
    rule = "the examples are " + ", ".join(known)
    if name is None:
        raise BadInput("which example?", rule=rule)
    raise BadInput(f"there is no example {name!r}", rule=rule, hint=did_you_mean(name, list(known)))


def examples() -> dict[str, str]:
    """The names of all example scenarios, each with what it shows."""
    return dict(_native.scenario_examples())


def run(
    scenario: Scenario | Mapping[str, Any] | str | Path,
    *,
    mechanisms: Collection[MechanismClass] = (),
    seed: int | None = None,
) -> Run:
    """Run a scenario, given as itself, as nested mappings, as the text of a file, or as the path of one.

    It may name the kinds of ``mechanisms``. Raises as `Scenario.run`.
    """
    return scenario_of(scenario).run(seed=seed, mechanisms=mechanisms)


def scenario_of(given: Scenario | Mapping[str, Any] | str | Path) -> Scenario:
    """A scenario from any of the ways to give one: a text is that of a file, a path that of one."""
    if isinstance(given, Scenario):
        return given
    if isinstance(given, Path):
        return Scenario.from_file(given)
    return Scenario.from_text(given) if isinstance(given, str) else Scenario(given)
