"""Borrowed interfaces: prepared for a live run, and restored afterwards."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from hitless.errors import HitlessError
from hitless.live import LiveRun, NetworkInterface, PortNotice

log = logging.getLogger(__name__)


def opened(name: str) -> NetworkInterface:
    """Open an interface that must exist. Raises `HitlessError`."""
    try:
        return NetworkInterface(name)
    except OSError as refused:
        raise HitlessError(str(refused)) from refused


@contextmanager
def without_offloads(names: list[str], warn: Callable[[str], None]) -> Iterator[None]:
    """Switch off merging of received frames in interfaces while the block runs. Raises `HitlessError`."""
    with ExitStack() as given_back:
        for name in names:
            given_back.callback(switch_on, name, switch_off(name, warn))
        yield


def switch_off(name: str, warn: Callable[[str], None]) -> list[str]:
    """Switch off merging of received frames; returns the offloads that were on. Raises `HitlessError`."""
    try:
        switched, still_on = opened(name).switch_off_receive_offloads()
    except OSError as refused:
        raise HitlessError(str(refused)) from refused
    if still_on:
        warn(f"{name}: its driver does not switch off {', '.join(still_on)}: frames may arrive merged or incomplete")
    return switched


def switch_on(name: str, offloads: list[str]) -> None:
    """Switch offloads on again, with a warning if the interface is gone."""
    try:
        NetworkInterface(name).switch_on_offloads(offloads)
    except OSError as gone:
        log.warning("the offloads of %s were not switched on again: %s", name, gone)


def tell_changes(live: LiveRun, came_back: Callable[[str], None]) -> PortNotice | None:
    """Log changes of interfaces since the last call; ``came_back`` prepares the returned ones.

    Returns the notice of an interface that only a new process can use.
    """
    lost = None
    for notice in live.notices():
        match notice.change:
            case "back":
                _welcome(notice, came_back)
            case "merged":
                log.warning("%s", _merged(notice))
            case "gone" | "lost":
                log.warning("%s, the interface of %s, is gone: %s", notice.interface, notice.node, notice.detail)
                lost = notice if notice.change == "lost" else lost
    return lost


def _welcome(notice: PortNotice, came_back: Callable[[str], None]) -> None:
    try:
        came_back(notice.interface)
    except (HitlessError, OSError) as refused:
        log.warning("%s is not set up as at the start: %s", notice.interface, refused)
    log.warning("%s, the interface of %s, is back and used again", notice.interface, notice.node)


def _merged(notice: PortNotice) -> str:
    """Return the warning about the first dropped frame that an offload had merged."""
    name = notice.interface
    return (
        f"{name}: a frame was dropped because an offload had merged several ({notice.detail}). On the machine at the "
        f"other end of {name}, for its interface: ethtool -K INTERFACE tso off gso off gro off; "
        f"here: ethtool -K {name} gro off lro off"
    )


def switch_off_again(name: str) -> None:
    """Switch off merging of received frames in a returned interface. Raises `HitlessError` or `OSError`."""
    opened(name).switch_off_receive_offloads()


def of_buffers(port: Mapping[str, Any]) -> str:
    """Return the path of TCP buffers at a port, from its status."""
    return f"large TCP buffers {port['large_buffers']}"


def slow_links(interfaces: Mapping[str, str], rates_bps: Mapping[str, int]) -> Iterator[str]:
    """Return warnings about interfaces that are slower than the scenario assumes."""
    for node, name in interfaces.items():
        present_bps = speed_bps(name)
        wanted_bps = rates_bps.get(node, 0)
        if present_bps is not None and present_bps < wanted_bps:
            yield (
                f"{name} runs at {present_bps / 1e9:g} Gbps, and the scenario takes the link of {node} for "
                f"{wanted_bps / 1e9:g} Gbps: queues would build where no mechanism sees them"
            )


def speed_bps(name: str) -> int | None:
    """Return the speed reported by the driver; None without a report."""
    try:
        megabits = int(Path("/sys/class/net", name, "speed").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return megabits * 1_000_000 if megabits > 0 else None
