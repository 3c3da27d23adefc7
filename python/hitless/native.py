"""The choice of the native module: the packaged one, or a user's module made by `hitless mechanism build`.

A user's module is loaded only if it was made for the current packaged module. Child processes load the same one,
through an environment variable.

This module imports only cheap modules, because every process that needs the simulator loads it.
"""

import os

VARIABLE = "HITLESS_MECHANISMS"
"""Folder of the native module, set by the first process for its children; "none" means the packaged module."""

STALE = "your mechanisms were built for another hitless and are ignored: run hitless mechanism build"

LIBRARY = "_native.abi3.so"
RECORD = "built.json"

_package = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib takes longer than all of this


def cache() -> str:
    """Return the cache folder for builds of this installation; two installations can differ."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")  # noqa: PTH111, PTH118
    return os.path.join(base, "hitless", "mechanisms", _package.strip(os.sep).replace(os.sep, "-"))  # noqa: PTH118


def identity() -> list[int]:
    """Identify the packaged module, to detect its replacement."""
    packaged = os.stat(os.path.join(_package, LIBRARY))  # noqa: PTH116, PTH118
    return [packaged.st_size, packaged.st_mtime_ns]


def folder() -> str | None:
    """Return the folder of the module to load; None for the packaged one. Raises `ImportError` if it is missing."""
    chosen = os.environ.get(VARIABLE)
    if chosen is None:
        chosen = _of_record()
        if chosen is not None:
            os.environ[VARIABLE] = chosen
        return chosen
    if chosen in {"", "none"}:
        return None
    if not os.path.isfile(os.path.join(chosen, LIBRARY)):  # noqa: PTH113, PTH118
        raise ImportError(f"{VARIABLE} names {chosen}, where there is no {LIBRARY}: hitless mechanism build makes one")
    return chosen


def stale() -> bool:
    """Is there a user's module that was skipped, because the packaged module has changed?"""
    return VARIABLE not in os.environ and os.path.exists(os.path.join(cache(), RECORD))  # noqa: PTH110, PTH118


def _of_record() -> str | None:
    try:
        with open(os.path.join(cache(), RECORD), encoding="utf-8") as file:  # noqa: PTH118, PTH123
            text = file.read()
        import json  # noqa: PLC0415 - most processes have no record

        record = json.loads(text)
        found = os.path.join(cache(), "libraries", record["library"])  # noqa: PTH118
        is_fit = record["fits"] == identity() and os.path.isfile(os.path.join(found, LIBRARY))  # noqa: PTH113, PTH118
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if is_fit else None
