"""Measurement of a device: with generated frames of 64 bytes, and with kernel TCP by iperf3."""

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hitless import _native
from hitless.bench_live.network import HOST_IP, Network, switch_on_tso
from hitless.errors import HitlessError

FRAME_BYTES = 64
"""Size including the check sequence, as is customary."""
DELAY_PPS = 10_000.0
"""Rate for measuring delay: far below the capacity of any device, so that queues stay empty."""
PORT = 5001
"""Port of iperf3, and of SQR's protected traffic."""
_STEPS = 7
_TRIES = 2
_START_S = 10.0

Stream = Callable[[float | None, float], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Processors:
    """Processors for the threads; None for any."""

    ends: int | None
    device: int | None


def measure(
    network: Network, processors: Processors, *, trial_s: float, tcp_s: float, with_tso: bool
) -> dict[str, Any]:
    """Measure everything about the device in ``network``; with TSO if it takes such buffers."""
    # Only during the packet tests: the sink's ring would take every frame of TCP too.
    packets = _packets(_stream_between(_native.TrafficEnds(*network.ends), processors), trial_s)
    found = packets | {"tcp": tcp(network, tcp_s)}
    if not with_tso:
        return found
    switch_on_tso(network)
    return found | {"tcp_with_tso": tcp(network, tcp_s)}


def _stream_between(ends: "_native.TrafficEnds", processors: Processors) -> Stream:
    def stream(rate_pps: float | None, duration_s: float) -> dict[str, Any]:
        arrived: dict[str, Any] = json.loads(ends.stream(FRAME_BYTES, rate_pps, duration_s, processors.ends))
        return arrived

    return stream


def _packets(stream: Stream, trial_s: float) -> dict[str, Any]:
    stream(1000.0, 0.2)
    flood = stream(None, trial_s)
    offered = per_second(flood["frames_sent"], flood["sent_elapsed_ns"])
    highest = lossless_rate(stream, trial_s, per_second(flood["frames_arrived"], flood["arrived_elapsed_ns"]))
    at_80 = stream(0.8 * highest, 2 * trial_s) if highest else None
    slow = stream(DELAY_PPS, 2 * trial_s)
    return {
        "offered_pps": offered,
        "flood_pps": per_second(flood["frames_arrived"], flood["arrived_elapsed_ns"]),
        "flood_lost": flood["frames_lost"],
        "lossless_pps": highest,
        "at_80_percent": at_80,
        "delay_ns": slow["delay_ns"],
        "delay_lost": slow["frames_lost"],
        "reordered": flood["reordered"],
        "duplicates": flood["duplicates"],
    }


def lossless_rate(stream: Stream, trial_s: float, upper_pps: float) -> float:
    """Find the maximum lossless rate by bisection between 0 and the throughput of a flood.

    A rate counts if one of two trials loses nothing: on a shared machine, other load can cost one frame. The result is
    the rate that the generator really reached.
    """
    low, high, found = 0.0, upper_pps * 1.1, 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        for _ in range(_TRIES):
            arrived = stream(middle, trial_s)
            if arrived["frames_lost"] == 0:
                low, found = middle, max(found, per_second(arrived["frames_sent"], arrived["sent_elapsed_ns"]))
                break
        else:
            high = middle
    return found


def per_second(count: int, elapsed_ns: int) -> float:
    return count / elapsed_ns * 1e9 if elapsed_ns else 0.0


def tcp(network: Network, duration_s: float) -> dict[str, Any]:
    """Measure the throughput of one kernel TCP connection with iperf3."""
    inside = ("ip", "netns", "exec")
    serve = [*inside, network.far, "iperf3", "--server", "--one-off", "--port", str(PORT)]
    with subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_for_server(network)
            send = ["iperf3", "--client", HOST_IP["far"], "--port", str(PORT), "--time", str(max(1, round(duration_s)))]
            command = [*inside, network.near, *send, "--json"]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=duration_s + 30)
        finally:
            server.kill()
    return read_iperf3(done.stdout)


def read_iperf3(text: str) -> dict[str, Any]:
    """Read throughput and retransmissions from the output of iperf3. Raises `HitlessError` with its own message."""
    try:
        answer = json.loads(text)
    except ValueError:
        raise HitlessError("the output of iperf3 is unreadable") from None
    if "error" in answer:
        raise HitlessError(f"iperf3: {answer['error']}")
    end = answer["end"]
    return {
        "throughput_bps": end["sum_received"]["bits_per_second"],
        "retransmissions": end["sum_sent"].get("retransmits", 0),
    }


def _wait_for_server(network: Network) -> None:
    until = time.monotonic() + _START_S
    show = ["ip", "netns", "exec", network.far, "ss", "--listening", "--tcp", "--numeric", "--no-header"]
    while time.monotonic() < until:
        listening = subprocess.run(show, capture_output=True, text=True, check=False).stdout
        if f":{PORT} " in listening:
            return
        time.sleep(0.05)
    raise HitlessError(f"iperf3 did not start within {_START_S:.0f} s")
