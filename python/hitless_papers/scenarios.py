"""What the scenarios of several papers have in common."""

from collections.abc import Mapping
from typing import Any


def ends(duration: str | None) -> Mapping[str, str]:
    """When a run ends: None stands for when all its flows are done."""
    return {"until": "all-flows-done"} if duration is None else {"duration": duration}


def linux(pass_us: float) -> Mapping[str, Any]:
    """Hosts with ticks of 4 ms, whose kernel takes so long for a pass, with an assumed jitter."""
    jitter = {"kind": "lognormal", "median": "1 us", "p999": "20 us"}
    kernel = {"send": f"{pass_us} us", "receive": f"{pass_us} us", "jitter": jitter}
    return {"kernel": kernel, "network_card": {"send": "1 us", "receive": "1 us"}, "timer_tick": "4 ms"}
