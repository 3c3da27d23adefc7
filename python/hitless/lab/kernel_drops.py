"""What the kernel drops of its own at interfaces: frames that no run has seen, or that it believes sent.

Linux counts them by interface (/proc/net/dev; a veth also where its other end had no room). Frames that found the ring
of a packet socket full are not among them: the run counts these itself.
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
"""Columns of /proc/net/dev behind the name (net/core/net-procfs.c): missed frames are in the first."""


class Dropped(NamedTuple):
    """Frames that the kernel dropped at an interface."""

    received: int
    """On their way in."""
    sent: int
    """On their way out."""


def dropped_here() -> dict[str, Dropped]:
    """By interface of the network namespace of this thread."""
    lines = Path("/proc/thread-self/net/dev").read_text(encoding="ascii").splitlines()[2:]
    found = {}
    for line in lines:
        name, _, columns = line.partition(":")
        counts = columns.split()
        found[name.strip()] = Dropped(int(counts[_RECEIVE_DROPPED]), int(counts[_SEND_DROPPED]))
    return found


@dataclass(frozen=True, slots=True)
class Watched:
    """An interface whose drops concern a run."""

    node: str
    interface: str
    inside: Callable[[], AbstractContextManager[None]] = nullcontext
    """Where it is: a context in its network namespace."""


class KernelDrops:
    """Counts from when it was made."""

    def __init__(self, watched: Sequence[Watched]) -> None:
        self._watched = watched
        self._before = [_look(each) for each in watched]

    def added_to(self, status: Status) -> Status:
        """The status with ``kernel_drops``, and a warning for each interface that has any."""
        rows = [row for row in map(self._row, self._watched, self._before) if row["received"] + row["sent"]]
        warnings = [_warning(row) for row in rows]
        values = {**status.values, "kernel_drops": rows, "warnings": [*status.values["warnings"], *warnings]}
        return Status(values)

    @staticmethod
    def _row(each: Watched, before: Dropped) -> dict[str, Any]:
        now = _look(each)
        # An interface that was gone and is back counts anew.
        counts = {"received": max(0, now.received - before.received), "sent": max(0, now.sent - before.sent)}
        return {"node": each.node, "interface": each.interface, **counts}


def _look(each: Watched) -> Dropped:
    """None of an interface that has gone."""
    with each.inside():
        return dropped_here().get(each.interface, Dropped(0, 0))


def _warning(row: Mapping[str, Any]) -> str:
    return (
        f"the kernel has dropped {row['received']} frames coming in and {row['sent']} going out at {row['interface']} "
        f"of {row['node']}: neither the fabric nor its counters have seen them"
    )


def of_lab(plan: LabPlan) -> KernelDrops:
    """Both ends of each veth of a lab, for a thread in its fabric's namespace."""
    watched = []
    for host in plan.hosts:
        watched.append(Watched(f"{host.name} (fabric)", host.port))
        watched.append(Watched(host.name, HOST_INTERFACE, lambda name=host.namespace: kernel.inside(name)))  # type: ignore[misc]
    return KernelDrops(watched)


def of_interfaces(interfaces: Mapping[str, str]) -> KernelDrops:
    """Interfaces of this box, by the node behind them."""
    return KernelDrops([Watched(node, interface) for node, interface in interfaces.items()])
