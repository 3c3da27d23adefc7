"""Which native module this process loads: the packaged one, or one that `hitless mechanism build` has made.

A module of one's own is taken when it was made for the packaged one that is here now. Processes that this one starts
take the same, by the environment variable that names it.

Only what is cheap is imported here: every process that needs the simulator comes by.
"""

import os

VARIABLE = "HITLESS_MECHANISMS"
"""The folder of the native module, set by the first process for those that it starts; "none": the packaged module."""

STALE = "mechanisms of yours were built for another hitless, and are left out: hitless mechanism build"

LIBRARY = "_native.abi3.so"
RECORD = "built.json"

_package = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib takes longer than all of this


def cache() -> str:
    """Where what is built for this installation is kept: an installation each, since two may differ."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")  # noqa: PTH111, PTH118
    return os.path.join(base, "hitless", "mechanisms", _package.strip(os.sep).replace(os.sep, "-"))  # noqa: PTH118


def identity() -> list[int]:
    """What tells the packaged module from another that takes its place."""
    packaged = os.stat(os.path.join(_package, LIBRARY))  # noqa: PTH116, PTH118
    return [packaged.st_size, packaged.st_mtime_ns]


def folder() -> str | None:
    """The folder of the module to load; None for the packaged one. `ImportError`: the one asked for is gone."""
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
    """Whether there is a module of one's own that was left out, since the packaged one is another by now."""
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
