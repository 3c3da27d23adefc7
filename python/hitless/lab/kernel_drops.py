"""Frames dropped by the kernel at interfaces, which a run has not seen, or believes sent.

Linux counts them by interface (/proc/net/dev); for a veth this includes frames that did not fit at its other end.
Frames dropped at a full ring of a packet socket are excluded: the run counts these.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hitless.lab import kernel
from hitless.lab.plan import HOST_INTERFACE, LabPlan
from hitless.live import Status

_RECEIVE_DROPPED = 3
_SEND_DROPPED = 11
"""Columns of /proc/net/dev after the name (net/core/net-procfs.c): missed frames are in the first."""


class Dropped(NamedTuple):
    """Frames that the kernel dropped at an interface."""

    received: int
    """Inbound frames."""
    sent: int
    """Outbound frames."""


def dropped_here() -> dict[str, Dropped]:
    """Return the drops by interface in this thread's network namespace."""
    lines = Path("/proc/thread-self/net/dev").read_text(encoding="ascii").splitlines()[2:]
    found = {}
    for line in lines:
        name, _, columns = line.partition(":")
        counts = columns.split()
        found[name.strip()] = Dropped(int(counts[_RECEIVE_DROPPED]), int(counts[_SEND_DROPPED]))
    return found


@dataclass(frozen=True, slots=True)
class Watched:
    """An interface with drops that matter to a run."""

    node: str
    interface: str
    inside: Callable[[], AbstractContextManager[None]] = nullcontext
    """A context that enters its network namespace."""


class KernelDrops:
    """Counts since its creation."""

    def __init__(self, watched: Sequence[Watched]) -> None:
        self._watched = watched
        self._before = [_look(each) for each in watched]

    def added_to(self, status: Status) -> Status:
        """Return the status with ``kernel_drops``, and a warning for each interface with drops."""
        rows = [row for row in map(self._row, self._watched, self._before) if row["received"] + row["sent"]]
        warnings = [_warning(row) for row in rows]
        values = {**status.values, "kernel_drops": rows, "warnings": [*status.values["warnings"], *warnings]}
        return Status(values)

    @staticmethod
    def _row(each: Watched, before: Dropped) -> dict[str, Any]:
        now = _look(each)
        # The counters of an interface start at zero after it returns.
        counts = {"received": max(0, now.received - before.received), "sent": max(0, now.sent - before.sent)}
        return {"node": each.node, "interface": each.interface, **counts}


def _look(each: Watched) -> Dropped:
    """Read the drops; zero for an interface that disappeared."""
    with each.inside():
        return dropped_here().get(each.interface, Dropped(0, 0))


def _warning(row: Mapping[str, Any]) -> str:
    return (
        f"the kernel dropped {row['received']} inbound and {row['sent']} outbound frames at {row['interface']} "
        f"of {row['node']}: neither the fabric nor its counters have seen them"
    )


def of_lab(plan: LabPlan) -> KernelDrops:
    """Watch both ends of each veth of a lab, from a thread in its fabric's namespace."""
    watched = []
    for host in plan.hosts:
        watched.append(Watched(f"{host.name} (fabric)", host.port))
        watched.append(Watched(host.name, HOST_INTERFACE, lambda name=host.namespace: kernel.inside(name)))  # type: ignore[misc]
    return KernelDrops(watched)


def of_interfaces(interfaces: Mapping[str, str]) -> KernelDrops:
    """Watch interfaces of this machine, by their node."""
    return KernelDrops([Watched(node, interface) for node, interface in interfaces.items()])
