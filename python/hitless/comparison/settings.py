"""A setting by its path: ``switch.ecn.threshold=20 packets``, ``link.0.loss.rate=1e-2``, ``flows.bulk.load=0.8``.

A table of a list is found by its number, or by what it calls itself: ``name`` or ``kind``.
"""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from hitless.errors import BadInput
from hitless.suggest import did_you_mean


def put(scenario: dict[str, Any], setting: str) -> None:
    """Carry out ``PATH=VALUE``. Raises `BadInput`."""
    path, equals, value = setting.partition("=")
    names = [name.strip() for name in path.split(".")]
    if not equals or not all(names):
        raise BadInput(f"--set {setting!r} is no setting", hint="as in --set switch.ecn.threshold='20 packets'")
    table: Any = scenario
    for depth, name in enumerate(names[:-1]):
        table = _inside(table, name, where=f"--set {setting!r}, at {'.'.join(names[: depth + 1])}")
    if not isinstance(table, dict):
        raise BadInput(f"--set {setting!r}: {'.'.join(names[:-1])} is no table", hint="name a field inside it")
    table[names[-1]] = read_value(value)


def read_value(text: str) -> Any:
    """A value as TOML writes it; what is none is text, so that quotes can be left out."""
    try:
        return tomllib.loads(f"value = {text.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()


def _inside(table: Any, name: str, *, where: str) -> Any:
    if isinstance(table, dict):
        return table.setdefault(name, {})
    if isinstance(table, list):
        return _entry(table, name, where=where)
    raise BadInput(f"{name} is inside of what is no table", where=where)


def _entry(entries: Sequence[Mapping[str, Any]], name: str, *, where: str) -> Mapping[str, Any]:
    if name.isdecimal() and int(name) < len(entries):
        return entries[int(name)]
    found = [entry for entry in entries if name in {entry.get("name"), entry.get("kind")}]
    if len(found) == 1:
        return found[0]
    called = [str(entry.get("name", entry.get("kind", ""))) for entry in entries]
    numbers = f"or a number from 0 to {len(entries) - 1}"
    if not found:
        raise BadInput(f"there is no {name!r}", where=where, hint=f"{did_you_mean(name, called)}; {numbers}")
    raise BadInput(f"{len(found)} are called {name!r}", where=where, hint=numbers.removeprefix("or "))
