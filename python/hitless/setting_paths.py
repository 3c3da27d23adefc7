"""A setting by its path: ``switch.ecn.threshold=20 packets``, ``link[0].loss.rate=1e-2``, ``flows.bulk.load=0.8``.

A list entry is found by its index, ``link[0]`` or ``link.0``, or by its ``name`` or ``kind``.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from hitless.errors import BadInput
from hitless.suggest import did_you_mean

_NUMBER = re.compile(r"\[(\d+)\]")

_LISTS = ("failure", "flows", "link", "mechanism", "transport")
"""Tables of a scenario that are lists, with entries by name or index."""
_ABBREVIATIONS = ("ack", "cbfc", "ecn", "fec", "mss", "mtu", "pfc", "rack", "rto", "rtt", "sack", "tlp")


def read(setting: str) -> tuple[str, Any]:
    """Return the path and the value of ``PATH=VALUE``. Raises `BadInput`."""
    path, equals, value = setting.partition("=")
    if not equals or not path.strip():
        raise BadInput(f"--set {setting!r} is not a setting", hint="as in --set switch.ecn.threshold='20 packets'")
    return path, read_value(value)


def assign(scenario: dict[str, Any], path: str, value: Any, *, what: str | None = None) -> None:
    """Set the field at a path to a value, or remove it for None; ``what`` names the setting in messages.

    Raises `BadInput`.
    """
    what = what or repr(path)
    names = [name.strip() for name in _NUMBER.sub(r".\1", path).split(".")]
    if not all(names):
        raise BadInput(f"{what} is not the path of a setting", hint="as in switch.ecn.threshold or link[0].loss.rate")
    table: Any = scenario
    for depth, name in enumerate(names[:-1]):
        table = _inside(table, name, where=f"{what}, at {'.'.join(names[: depth + 1])}")
    is_entry = isinstance(table, list) and names[-1].isdecimal() and int(names[-1]) < len(table)
    if not is_entry and not isinstance(table, dict):
        raise BadInput(f"{what}: {'.'.join(names[:-1])} is no table", hint="name a field inside it")
    key = int(names[-1]) if is_entry else names[-1]
    if value is not None:
        table[key] = value
    elif is_entry or key in table:
        del table[key]


def words_of(path: str) -> str:
    """Describe a field for the axis of a plot: ``link[0].loss.rate`` is "loss rate of link 1"."""
    names = _NUMBER.sub(r".\1", path).split(".")
    named = 1 if names[0] in _LISTS and len(names) > 2 else 0
    last = max([named, *(place for place, name in enumerate(names) if name.isdecimal())])
    owner = [str(int(name) + 1) if name.isdecimal() else name for name in names[: last + 1]]
    parts = filter(None, [names[last + 1 :], owner])
    return " of ".join(" ".join(_word(name) for name in part) for part in parts)


def _word(name: str) -> str:
    return " ".join(word.upper() if word in _ABBREVIATIONS else word for word in name.split("_"))


def read_value(text: str) -> Any:
    """Read a value as TOML; anything invalid is text, so that quotes can be omitted."""
    try:
        return tomllib.loads(f"value = {text.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()


def _inside(table: Any, name: str, *, where: str) -> Any:
    if isinstance(table, dict):
        return table.setdefault(name, {})
    if isinstance(table, list):
        return _entry(table, name, where=where)
    raise BadInput(f"{name} is not inside a table", where=where)


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
