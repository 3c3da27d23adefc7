"""The scenario of a run, read from its effective text; parsed once for all seeds."""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_SEED = re.compile(r"^seed = \d+\n", re.MULTILINE)


def without_seed(effective: str) -> str:
    """Return the text without the scenario's seed, which comes before all tables. All seeds share this text."""
    return _SEED.sub("", effective, count=1)


def scenario_of(effective: str) -> Mapping[str, Any]:
    """Return the parsed scenario of a run, without its seed."""
    return _read(without_seed(effective))


@lru_cache(maxsize=16)
def _read(text: str) -> Mapping[str, Any]:
    return tomllib.loads(text)
