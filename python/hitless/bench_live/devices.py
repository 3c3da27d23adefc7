"""The devices under test: forwarders between two interfaces, one at a time."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from hitless import _native
from hitless.bench_live.network import GENERATED_MAC, HOST_MAC, PORTS, Network
from hitless.errors import HitlessError
from hitless.lab import kernel

MODES = ("packet", "xdp-copy", "xdp-generic")
"""Modes that a veth supports for moving frames to a process."""

_SCENARIO = """
name = "bench-live"
duration = "1 s"

[topology]
kind = "chain"
hosts_left = ["near"]
switches = [{switches}]
hosts_right = ["far"]
host_link = {{ rate = "100 Gbps", delay = "0 ns" }}
switch_link = {{ rate = "100 Gbps", delay = "100 ns" }}

# A scenario has flows; in a live run real programs send instead.
[[transport]]
name = "cubic"
kind = "tcp"

[[flows]]
name = "none"
kind = "long"
transport = "cubic"
sources = ["near"]
destinations = ["far"]
"""
_LINKGUARDIAN = """
[[mechanism]]
kind = "linkguardian"
link = "sw1->sw2"
mode = "blocking"
actual_loss_rate = 1e-4
target_loss_rate = 1e-8
"""
_SQR = """
[[mechanism]]
kind = "sqr"
links = ["sw1<->sw2"]
ports = [5001]
"""


@dataclass(frozen=True, slots=True)
class Device:
    name: str
    """Name of the table's row."""
    kind: str
    """Kind: ``wire``, ``bridge``, ``ports`` or ``switch``."""
    mode: str = ""
    """Mode for moving frames to the process, from `MODES`."""
    scenario: str = ""
    """Scenario of the switch."""

    def running(self, network: Network, cpu: int | None) -> AbstractContextManager[str]:
        """Let it forward while the block runs; yield a description of how frames cross."""
        match self.kind:
            case "wire":
                return nullcontext("a veth")
            case "bridge":
                return _bridge(network)
            case "ports":
                return _ports(self, network, cpu)
        return _switch(self, network, cpu)


def devices() -> list[Device]:
    one, two = (_SCENARIO.format(switches=names) for names in ('"sw1"', '"sw1", "sw2"'))
    scenarios = {"switch": one, "two switches": two, "LinkGuardian": two + _LINKGUARDIAN, "SQR": two + _SQR}
    found = [Device("wire", "wire"), Device("kernel bridge", "bridge")]
    found += [Device(f"ports only, {mode}", "ports", mode) for mode in MODES]
    for mode in MODES:
        found += [Device(f"{name}, {mode}", "switch", mode, text) for name, text in scenarios.items()]
    return found


@contextmanager
def _bridge(network: Network) -> Iterator[str]:
    lines = ["link add name bridge type bridge", "link set bridge up"]
    lines += [f"link set {port} master bridge" for port in PORTS]
    kernel.ip_batch(lines, namespace=network.device)
    yield "the kernel forwards"


@contextmanager
def _ports(device: Device, network: Network, cpu: int | None) -> Iterator[str]:
    forwarder = _native.PlainForwarder(network.device, *PORTS, device.mode)
    with _thread(lambda: forwarder.run(cpu), forwarder.stop):
        yield forwarder.mode


@contextmanager
def _switch(device: Device, network: Network, cpu: int | None) -> Iterator[str]:
    stations = {mac: role for table in (GENERATED_MAC, HOST_MAC) for role, mac in table.items()}
    interfaces = {"near": PORTS[0], "far": PORTS[1]}
    with kernel.inside(network.device):
        live = _native.Live(
            device.scenario,
            "bench-live",
            interfaces,
            stations=stations,
            busy_poll=True,
            ring_frames=4096,
            mode=device.mode,
        )

    def run() -> None:
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
        live.run()

    with _thread(run, live.stop):
        yield device.mode


@contextmanager
def _thread(work: Callable[[], object], stop: Callable[[], None]) -> Iterator[None]:
    failures: list[Exception] = []

    def guarded() -> None:
        try:
            work()
        except Exception as failure:  # noqa: BLE001  # told to whoever waits
            failures.append(failure)

    thread = threading.Thread(target=guarded, name="device")
    thread.start()
    try:
        yield
    finally:
        stop()
        thread.join()
    if failures:
        raise HitlessError(f"the device failed: {failures[0]}")
