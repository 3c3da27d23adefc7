"""The scenario of a run, read from its effective text: once for all of its seeds."""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_SEED = re.compile(r"^seed = \d+\n", re.MULTILINE)


def without_seed(effective: str) -> str:
    """The text without the scenario's seed, which stands before all tables: runs that differ in it alone share it."""
    return _SEED.sub("", effective, count=1)


def scenario_of(effective: str) -> Mapping[str, Any]:
    """What a run was of, but for its seed."""
    return _read(without_seed(effective))


@lru_cache(maxsize=16)
def _read(text: str) -> Mapping[str, Any]:
    return tomllib.loads(text)
