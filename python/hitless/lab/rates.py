"""Rates that a machine cannot forward, and scenarios with scaled rates.

A lab with links faster than the processor does not represent its scenario: the machine is the bottleneck. The self-test
measures the frames per second that this machine forwards, before the lab is up.
"""

import math
import tomllib
from collections.abc import Mapping
from typing import Any

import tomli_w

from hitless.errors import BadInput, HitlessError
from hitless.quantities import bps_of

_BEYOND_DOUBT = 2.0
"""Safety factor for refusing a rate; below it there is only a warning.

The self-test lasts a few milliseconds, and the machine may be busy.
"""


def require_rates(status: Mapping[str, Any]) -> None:
    """Require that this machine can forward at the rate of the fastest link. Raises `HitlessError`."""
    found = status.get("self_test")
    if found is None or found["asked_per_s"] <= _BEYOND_DOUBT * found["forwarded_per_s"]:
        return
    factor = _below(found["forwarded_per_s"] / found["asked_per_s"] / 2)
    raise HitlessError(
        f"a host may send {found['asked_per_s']:,.0f} frames/s, and this machine forwards "
        f"{found['forwarded_per_s']:,.0f}",
        rule="a lab with links faster than the machine represents the machine, not the scenario",
        hint=f"--scale-rates {factor:g} makes all links {1 / factor:,.0f} times slower",
    )


def _below(share: float) -> float:
    """Round ``share`` down to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(share))
    return round(max(step * power for step in (1.0, 2.0, 5.0) if step * power <= share), 12)


def scaled(text: str, factor: float, where: str) -> str:
    """Multiply the rates of all links by ``factor``; delays stay the same. Raises `BadInput`."""
    scenario = tomllib.loads(text)
    _scale(scenario.get("topology", {}), factor, where)
    return tomli_w.dumps(scenario)


def _scale(value: Any, factor: float, where: str) -> None:
    if isinstance(value, list):
        for each in value:
            _scale(each, factor, where)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name == "rate":
                value[name] = _times(str(each), factor, where)
            else:
                _scale(each, factor, where)


def _times(rate: str, factor: float, where: str) -> str:
    try:
        bps = round(bps_of(rate) * factor)
    except ValueError as refused:
        raise BadInput(f"{rate!r} is not a rate", where=where) from refused
    return f"{max(bps, 1)} bps"
