"""The two scenarios of a comparison.

``--with MECHANISM`` adds a mechanism with its defaults to one side. Its required fields are taken from the scenario if
only one choice makes sense: a mechanism for links goes onto the links that corrupt frames, one for failures onto the
links that fail. If the scenario is ambiguous, an error names the field and how to set it.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomli_w

from hitless import setting_paths
from hitless.checking import check_scenario, mechanism_schemas
from hitless.errors import BadInput, RefusedScenario
from hitless.outcome.losses import lossy_links, needs_order_checker
from hitless.suggest import did_you_mean

_BETWEEN_FIELDS = re.compile(r",(?![^\[{]*[\]}])")
"""A comma outside lists."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two scenarios."""

    label: str
    text: str
    """TOML of the scenario."""
    place: str
    """Name of the scenario in messages, in the folder of its original file."""
    notes: Sequence[str] = ()
    """Decisions made for the user, in sentences."""

    def with_order_checker(self) -> "Side":
        """Return the same side with exact counts of packets lost end to end."""
        scenario = tomllib.loads(self.text)
        scenario.setdefault("measure", {})["order"] = True
        return replace(self, text=tomli_w.dumps(scenario))


@dataclass(frozen=True, slots=True)
class Addition:
    """A mechanism to add."""

    label: str
    kind: str
    fields: Mapping[str, Any]

    @classmethod
    def of(cls, given: str | Mapping[str, Any]) -> "Addition":
        """Read ``KIND`` or ``KIND,FIELD=VALUE,...``, or an entry as in a scenario. Raises `BadInput`."""
        if isinstance(given, str):
            kind, *pairs = (part.strip() for part in _BETWEEN_FIELDS.split(given))
            _require_kind(kind)
            return cls(given, kind, dict(_pair(kind, pair) for pair in pairs))
        kind = str(given.get("kind", ""))
        _require_kind(kind)
        fields = {name: value for name, value in given.items() if name != "kind"}
        return cls(", ".join([kind, *(f"{name}={value}" for name, value in fields.items())]), kind, fields)


@dataclass(frozen=True, slots=True)
class Setting:
    """A field of the second side, and its new value."""

    label: str
    path: str
    value: Any

    @classmethod
    def read(cls, text: str) -> "Setting":
        """Read ``PATH=VALUE``. Raises `BadInput`."""
        return cls(text, *setting_paths.read(text))

    def put(self, scenario: dict[str, Any]) -> None:
        """Apply it. Raises `BadInput`."""
        setting_paths.assign(scenario, self.path, self.value, what=f"the setting {self.label!r}")


@dataclass(frozen=True, slots=True)
class Asked:
    """Changes that make the second side."""

    with_: Sequence[Addition] = ()
    without: Sequence[str] = ()
    """Kinds to remove."""
    settings: Sequence[Setting] = ()

    @property
    def anything(self) -> bool:
        """Does any option turn the first side into a second one?"""
        return bool(self.with_ or self.without or self.settings)


def two_files(first: tuple[str, str], second: tuple[str, str], asked: Asked) -> tuple[Side, Side]:
    """Make sides from two files, each as its name and text; settings go to the second. Raises `BadInput`."""
    if asked.with_ or asked.without:
        raise BadInput("--with and --without modify a single file, but two files are given", hint="leave one out")
    text = second[1]
    if asked.settings:
        scenario = _read(text, second[0])
        for setting in asked.settings:
            setting.put(scenario)
        text = tomli_w.dumps(scenario)
    labels = (first[0], ", ".join([second[0], *(setting.label for setting in asked.settings)]))
    if labels[0] == labels[1]:
        labels = (f"{labels[0]} (a)", f"{labels[1]} (b)")
    a, b = Side(labels[0], first[1], first[0]), Side(labels[1], text, second[0])
    for side in (a, b):
        check_scenario(side.text, side.place)
    return a, b


def one_file(name: str, text: str, asked: Asked) -> tuple[Side, Side]:
    """Make sides from one file, without and with the requested changes. Raises `BadInput`."""
    if not asked.anything:
        hint = "name a second file, or --with MECHANISM, --without MECHANISM, --set PATH=VALUE"
        raise BadInput("nothing to compare it with", where=name, hint=hint)
    check_scenario(text, name)
    first, second = _read(text, name), _read(text, name)
    kinds_with = [entry.kind for entry in asked.with_]
    for kind in asked.without:
        _require_kind(kind)
    for kind in kinds_with:
        _remove(first, kind)
    notes = _make_second(second, asked, name)
    labels = _labels(asked, kinds_with, first)
    a = _made(name, labels[0], _text(first, text), text)
    b = _made(name, labels[1], _text(second, text), text)
    for side in (a, b):
        if side.text != text:
            _require_sound(side, asked)
    return a, replace(b, notes=notes)


def _made(name: str, label: str, text: str, own_text: str) -> Side:
    """Make a side from the file ``name``."""
    # A slash in the label would look like a folder.
    changed = f"{Path(name).name}, the side {label!r}".replace("/", "|")
    return Side(label, text, name if text == own_text else str(Path(name).with_name(changed)))


def _make_second(scenario: dict[str, Any], asked: Asked, name: str) -> list[str]:
    """Apply the requested changes to a scenario; return the decisions made for the user."""
    notes: list[str] = []
    for kind in asked.without:
        present = ", ".join(_kinds(scenario)) or "no mechanism"
        if not _remove(scenario, kind):
            raise BadInput(f"--without {kind}: there is none in the scenario", where=name, hint=f"it has {present}")
    for entry in asked.with_:
        _add(scenario, entry, notes)
    for setting in asked.settings:
        setting.put(scenario)
    return notes


def _require_sound(side: Side, asked: Asked) -> None:
    """Refuse an invalid side made from the user's file, with its origin and a remedy."""
    try:
        check_scenario(side.text, side.place)
    except RefusedScenario as refused:
        more = f"--with {asked.with_[0].kind},FIELD=VALUE or " if asked.with_ else ""
        how = f"{more}--set PATH=VALUE changes that side; line numbers above refer to the generated scenario"
        raise RefusedScenario(f"{str(refused).rstrip()}\n  hint: {how}") from refused


def counted(sides: tuple[Side, Side]) -> tuple[Side, Side]:
    """Return the sides, with the order checker switched on if end-to-end loss needs it."""
    scenarios = [tomllib.loads(check_scenario(side.text, side.place)) for side in sides]
    if any("topology" in scenario and needs_order_checker(scenario) for scenario in scenarios):
        return sides[0].with_order_checker(), sides[1].with_order_checker()
    return sides


def _labels(asked: Asked, kinds_with: Sequence[str], first: Mapping[str, Any]) -> tuple[str, str]:
    added = [one.label for one in asked.with_]
    settings = [one.label for one in asked.settings]
    if asked.with_ and asked.without:
        return ", ".join(asked.without), ", ".join([*added, *settings])
    if asked.without:
        return ", ".join(asked.without), ", ".join([f"without {', '.join(asked.without)}", *settings])
    if asked.with_:
        others = _kinds(first)
        before = "none" if not others else f"without {', '.join(kinds_with)}"
        return before, ", ".join([*added, *settings])
    return "as it is", ", ".join(settings)


def _text(scenario: dict[str, Any], text: str) -> str:
    """Return the scenario as TOML; an unchanged one keeps the user's text, so that messages refer to its lines."""
    return text if scenario == tomllib.loads(text) else tomli_w.dumps(scenario)


def _read(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as broken:
        raise BadInput(f"the scenario is not valid TOML: {broken}", where=name) from broken


def _kinds(scenario: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(entry["kind"] for entry in scenario.get("mechanism", [])))


def _remove(scenario: dict[str, Any], kind: str) -> bool:
    """Remove all mechanisms of a kind; was there any?"""
    before = scenario.get("mechanism", [])
    after = [entry for entry in before if entry["kind"] != kind]
    scenario["mechanism"] = after
    if not after:
        del scenario["mechanism"]
    return len(after) < len(before)


def _add(scenario: dict[str, Any], entry: Addition, notes: list[str]) -> None:
    """Add a mechanism: the scenario's own entry if there is one, otherwise with defaults."""
    kind, given = entry.kind, entry.fields
    own = [each for each in scenario.get("mechanism", []) if each["kind"] == kind]
    if not own:
        own = _new(scenario, kind, given, notes)
        scenario.setdefault("mechanism", []).extend(own)
    for each in own:
        each.update(given)
        activation = each.get("activation", [])
        if activation and not any(change.get("active") for change in activation):
            del each["activation"]
            notes.append(f"{kind} is on from the start: its activation would leave it off for the whole run")


def _pair(kind: str, pair: str) -> tuple[str, Any]:
    name, equals, value = pair.partition("=")
    if not equals:
        raise BadInput(f"--with {kind}: {pair!r} is not a field", hint=f"write it as in --with {kind},FIELD=VALUE")
    if value.endswith("-"):
        hint = f"the shell took the text after > for a file to write: quote it, --with '{kind},{pair}>...'"
        raise BadInput(f"--with {kind}: {value!r} is not a link", hint=hint)
    return name.strip(), setting_paths.read_value(value)


def _new(scenario: Mapping[str, Any], kind: str, given: Mapping[str, Any], notes: list[str]) -> list[dict[str, Any]]:
    """Return new mechanisms of a kind, with their required fields."""
    missing = [name for name in mechanism_schemas()[kind]["required"] if name not in {"kind", *given}]
    if not missing:
        return [{"kind": kind}]
    if missing == ["link"]:
        links = _required(lossy_links(scenario), kind, "link", "no link of the scenario corrupts frames")
        notes.append(f"{kind} is on {', '.join(links)}: the links that corrupt frames in this scenario")
        return [{"kind": kind, "link": link} for link in links]
    if missing == ["links"]:
        failing = list(dict.fromkeys(entry["link"] for entry in scenario.get("failure", [])))
        links = _required(failing, kind, "links", "no link of the scenario fails")
        notes.append(f"{kind} is on {', '.join(links)}: the links that fail in this scenario")
        return [{"kind": kind, "links": links}]
    raise BadInput(f"--with {kind} needs {' and '.join(missing)}", hint=f"--with {kind},{missing[0]}=...")


def _required(links: list[str], kind: str, name: str, why: str) -> list[str]:
    if links:
        return links
    value = "sw1->sw2" if name == "link" else '["sw1->sw2"]'
    rule = str(mechanism_schemas()[kind]["properties"][name]["description"]).replace("\n", " ")
    raise BadInput(
        f"--with {kind} needs {name}, and {why}", rule=rule, hint=f"say which: --with '{kind},{name}={value}'"
    )


def _require_kind(kind: str) -> None:
    known = list(mechanism_schemas())
    if kind not in known:
        raise BadInput(f"there is no mechanism {kind!r}", hint=did_you_mean(kind, known, "mechanisms"))
