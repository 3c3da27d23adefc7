"""Measures all devices, one after the other."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from hitless import _native
from hitless.bench_live.devices import Device, devices
from hitless.bench_live.measure import Processors, measure
from hitless.bench_live.network import network
from hitless.errors import BadInput, HitlessError
from hitless.lab import kernel


def require_all() -> None:
    """Require that the measurement can run here. Raises `BadInput` with the missing requirement."""
    kernel.require_tools()
    kernel.require_privileges("hitless bench live")
    for program, package in (("iperf3", "iperf3"), ("ss", "iproute2")):
        if shutil.which(program) is None:
            raise BadInput(f"the program {program} is missing", hint=f"Debian: apt-get install {package}")


def chosen(only: Sequence[str]) -> list[Device]:
    """Return the devices with names that contain an entry of ``only``, or all; always the wire. Raises `BadInput`."""
    everything = devices()
    for text in only:
        if not any(text.lower() in device.name.lower() for device in everything):
            names = "; ".join(device.name for device in everything)
            raise BadInput(f"no device matches {text!r}", rule=f"part of one of: {names}")
    named = [device for device in everything if any(text.lower() in device.name.lower() for text in only)]
    return [device for device in everything if not only or device.kind == "wire" or device in named]


def processors() -> Processors:
    """Put the ends on the first processor that this process can use, and the device on the last one."""
    usable = sorted(os.sched_getaffinity(0))
    return Processors(ends=usable[0], device=usable[-1])


def bench_live(
    wanted: Sequence[Device], *, trial_s: float, tcp_s: float, tell: Callable[[Device], None]
) -> list[dict[str, Any]]:
    """Measure each device; call ``tell`` before each. A device that cannot be measured says why."""
    where = processors()
    rows: list[dict[str, Any]] = []
    for device in wanted:
        tell(device)
        rows.append({"device": device.name} | _measure(device, where, trial_s, tcp_s))
    _add_delays(rows)
    return rows


def _measure(device: Device, where: Processors, trial_s: float, tcp_s: float) -> dict[str, Any]:
    try:
        with network(with_device=device.kind != "wire") as made, device.running(made, where.device) as mode:
            with_tso = device.mode in {"", "packet"}
            return {"mode": mode} | measure(made, where, trial_s=trial_s, tcp_s=tcp_s, with_tso=with_tso)
    except (HitlessError, OSError, _native.ScenarioError, subprocess.TimeoutExpired) as refused:
        return {"failed": str(refused)}


def _add_delays(rows: list[dict[str, Any]]) -> None:
    """Add each device's delay beyond the delay of a wire."""
    wire = next((row["delay_ns"] for row in rows if row["device"] == "wire" and "delay_ns" in row), None)
    for row in rows:
        if wire is not None and "delay_ns" in row:
            row["added_delay_ns"] = {name: row["delay_ns"][name] - wire[name] for name in ("p50", "p99_9")}
