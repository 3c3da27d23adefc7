"""The runs of a sweep: a base scenario, axes of settings, seeds, and tables to keep."""

import hashlib
import itertools
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from hitless.checking import check_scenario
from hitless.errors import BadInput
from hitless.prototype.kinds import identity, named_in
from hitless.scenario import Scenario, example, varied
from hitless.simulation import PacketSimulation
from hitless.suggest import did_you_mean
from hitless.whole_file import text_of

Label: TypeAlias = bool | int | float | str
Grid: TypeAlias = Mapping[str, Sequence[Label] | Mapping[str, Any]]
"""Values by the path of their field, or labelled values."""

_COLUMNS_TAKEN = ("point", "seed", "of", "metric", "unit", "value")
_SEEDS_MAX = 2**53


@dataclass(frozen=True, slots=True)
class Axis:
    """One field of the scenario and its values."""

    path: str
    values: Mapping[Label, Any]
    """Values by label; results show the label."""

    @classmethod
    def of(cls, path: str, given: Sequence[Label] | Mapping[str, Any]) -> "Axis":
        """Read an axis in any of its notations. Raises `BadInput`."""
        if path in _COLUMNS_TAKEN:
            raise BadInput(f"an axis is called {path!r}", rule=f"columns of results are: {', '.join(_COLUMNS_TAKEN)}")
        if isinstance(given, Mapping):
            found: dict[Label, Any] = {str(label): value for label, value in given.items()}
        elif isinstance(given, str) or not isinstance(given, Sequence):
            raise BadInput(f"the axis {path!r} has no list of values", hint="give values in [ ], or a label for each")
        else:
            if any(not isinstance(value, bool | int | float | str) for value in given):
                hint = 'as in mechanism = { none = [], LG = [{ kind = "linkguardian", link = "a->b" }] }'
                raise BadInput(f"values of the axis {path!r} are tables or lists without labels", hint=hint)
            found = dict.fromkeys(given)
            found = {value: value for value in found}
        if not found:
            raise BadInput(f"the axis {path!r} has no values")
        if len({_sort(label) for label in found}) > 1:
            raise BadInput(f"values of the axis {path!r} are of several types", rule="all numbers, or all text")
        return cls(path, found)

    @property
    def is_numeric(self) -> bool:
        """Are its labels numbers, so that a plot can place them?"""
        return _sort(next(iter(self.values))) == "number"

    def column(self, label: Label) -> Label:
        """Return a label for the results: all labels of an axis have one type."""
        return float(label) if self.is_numeric and any(isinstance(one, float) for one in self.values) else label


def _sort(label: Label) -> str:
    return "truth" if isinstance(label, bool) else "number" if isinstance(label, int | float) else "text"


@dataclass(frozen=True, slots=True)
class CheckedSimulation(PacketSimulation):
    """A simulation with a scenario that was checked earlier, once for all seeds."""

    checked: str = ""

    def identity(self, file_name: str) -> str:
        """Return the identity of the simulation."""
        return self.checked


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One choice of a value on each axis."""

    number: int
    """Index from 0, the last axis changing first."""
    labels: Mapping[str, Label]
    """Labels by axis."""
    scenario: Scenario

    @property
    def name(self) -> str:
        """The choices, for people: "link[0].loss.rate=0.001 mechanism=LG"."""
        return " ".join(f"{path}={label}" for path, label in self.labels.items()) or "base"

    def work(self) -> CheckedSimulation:
        """Return its simulation. Raises `RefusedScenario` with the reason if it is invalid."""
        text, place = self.scenario.text, self.scenario.name
        if self.labels:
            # Its folder is the folder of the scenario's file, even if a label contains a slash.
            place += f" with {self.name.replace('/', '|')}"
        checked = check_scenario(text, place) + identity(named_in(self.scenario.fields))
        # The worker can be in another folder.
        place = str(Path(place).absolute()) if Path(place).parent.is_dir() else place
        return CheckedSimulation(text, place, checked=checked)


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """A sweep before it runs."""

    scenario: Scenario
    axes: Sequence[Axis]
    seeds: Sequence[int]
    keep: Sequence[str] = ()
    """Tables of each run to store in the data set."""

    @classmethod
    def of(cls, scenario: Scenario, grid: Grid, seeds: int | Sequence[int], keep: Sequence[str] = ()) -> "SweepPlan":
        """Make a plan: ``seeds`` are numbers, or a count N for the seeds 1 to N. Raises `BadInput`."""
        chosen = range(1, seeds + 1) if isinstance(seeds, int) else list(seeds)
        if not chosen or len(set(chosen)) < len(chosen) or not all(0 <= seed < _SEEDS_MAX for seed in chosen):
            raise BadInput(
                f"seeds = {seeds!r}", rule="a number of seeds (1 or more), or distinct seeds, each below 2^53"
            )
        if isinstance(keep, str):
            raise BadInput(f"keep = {keep!r} is not a list of tables", hint=f"keep=[{keep!r}]")
        return cls(scenario, [Axis.of(path, values) for path, values in grid.items()], list(chosen), sorted(set(keep)))

    @classmethod
    def from_file(cls, path: Path) -> "SweepPlan":
        """Read the plan in a sweep file (docs/how-to/sweep.md). Raises `BadInput`."""
        try:
            content = tomllib.loads(text_of(path))
        except OSError as refused:
            raise BadInput(f"cannot read the sweep: {refused.strerror}", where=str(path)) from refused
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as broken:
            raise BadInput(f"the sweep is not valid TOML: {broken}", where=str(path)) from broken
        try:
            return _read(content, path.parent)
        except BadInput as refused:
            refused.where = refused.where or str(path)
            raise

    def points(self) -> Iterator[GridPoint]:
        """Yield every choice of a value on each axis."""
        for number, labels in enumerate(itertools.product(*(axis.values for axis in self.axes))):
            values = {axis.path: axis.values[label] for axis, label in zip(self.axes, labels, strict=True)}
            chosen = {axis.path: axis.column(label) for axis, label in zip(self.axes, labels, strict=True)}
            yield GridPoint(number, chosen, varied(self.scenario, values) if values else self.scenario)

    def as_json(self) -> dict[str, Any]:
        """Return the plan for the file in its folder."""
        return {
            "scenario": self.scenario.text,
            "axes": {axis.path: [[label, value] for label, value in axis.values.items()] for axis in self.axes},
            "seeds": list(self.seeds),
            "keep": list(self.keep),
        }

    @property
    def digest(self) -> str:
        """A digest; it differs if the plans differ in anything."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()[:16]


_FIELDS = ("scenario", "example", "axes", "seeds", "keep")


def _read(content: Mapping[str, Any], folder: Path) -> SweepPlan:
    for name in content:
        if name not in _FIELDS:
            raise BadInput(f"unknown field {name!r}", hint=did_you_mean(name, _FIELDS))
    seeds, keep, axes = content.get("seeds", 1), content.get("keep", []), content.get("axes", {})
    if not isinstance(axes, Mapping) or not isinstance(keep, list) or not isinstance(seeds, int | list):
        raise BadInput("a field is of the wrong type", rule="[axes] is a table, keep a list, seeds a number or a list")
    return SweepPlan.of(_base(content, folder), axes, seeds, keep)


def _base(content: Mapping[str, Any], folder: Path) -> Scenario:
    given = [name for name in ("scenario", "example") if name in content]
    if len(given) != 1:
        raise BadInput("which scenario?", rule='scenario = "FILE.toml", or example = "NAME", and not both')
    if given == ["example"]:
        return example(str(content["example"]))
    return Scenario.from_file(folder / str(content["scenario"]))


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of the runs of a sweep: number ``number`` (from 1) of ``of``."""

    number: int = 1
    of: int = 1

    @classmethod
    def read(cls, text: str) -> "Shard":
        """Parse a shard such as "3/16". Raises `BadInput`."""
        number, slash, of = text.partition("/")
        if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            raise BadInput(f"{text!r} is not a shard", rule="NUMBER/OF, from 1/16 to 16/16")
        return cls(int(number), int(of))

    def has(self, run: int) -> bool:
        """Does it contain the run with this index, counted from 0?"""
        return run % self.of == self.number - 1

    @property
    def suffix(self) -> str:
        """Suffix of its file names; empty for the only shard."""
        return "" if self.of == 1 else f"-{self.number}-of-{self.of}"
