"""The base class of mechanisms in Python, and its interface to the switch.

Every hook gets a `Context` with the time, the packet and the state of the switch. Changes and requests of a hook take
effect after it returns, in order. A hook must not read a clock, a file, or any randomness but ``self.random``: this
makes the same seed give the same run.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntFlag
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from hitless._native import Context, DropReason, Event, Verdict
from hitless.prototype.settings import settings_class

Stage: TypeAlias = Literal[
    "drops",
    "copies",
    "link-protection",
    "early-notice",
    "detour",
    "rank-check",
    "salvage",
    "port-choice",
    "queue-choice",
]
"""Role of a mechanism, which determines its place in the order of a switch's hooks."""

Claim: TypeAlias = Literal[
    "owns-link",
    "chooses-port",
    "sends-elsewhere",
    "detours",
    "chooses-queue",
    "sorts-queues",
    "keeps-order",
    "drops-early",
    "decides-on-drop",
    "jumps-the-queue",
    "pauses-queues",
    "notices-to-senders",
    "writes-on-packets",
    "sends-copies-late",
    "redirects-at-egress",
]
"""Action of a mechanism at its ports that conflicts with other mechanisms."""

Counters: TypeAlias = Mapping[str, int | Mapping[str, int]]
"""Values by key of a counter, or by scope, such as "port 3", and key."""


class HookSet(IntFlag):
    """Hooks that a mechanism subscribes to at a port."""

    RX = 1
    """`Mechanism.rx` for packets that enter by the port."""
    INGRESS_FROM = 2
    """`Mechanism.ingress` for packets that enter by the port."""
    INGRESS_TOWARDS = 4
    """`Mechanism.ingress` for packets that routing wants to send out of the port."""
    EGRESS = 8
    """`Mechanism.egress`."""
    TX = 16
    """`Mechanism.tx`."""
    QUEUE_EMPTY = 32
    """`Event.QueueEmpty` of `Mechanism.on`."""
    TM_DROP = 64
    """`Mechanism.on_tm_drop` for packets without an owner."""


_SUBSCRIBED = {
    "rx": (HookSet.RX, HookSet.RX),
    "ingress": (HookSet.INGRESS_TOWARDS, HookSet.INGRESS_FROM | HookSet.INGRESS_TOWARDS),
    "egress": (HookSet.EGRESS, HookSet.EGRESS),
    "tx": (HookSet.TX, HookSet.TX),
    "on_tm_drop": (HookSet.TM_DROP, HookSet.TM_DROP),
}
"""Default hooks of each method at the own ports, and the hooks of `Mechanism.needs` that replace them."""


@dataclass(frozen=True, slots=True)
class QueueConfig:
    """A queue that a mechanism requests."""

    priority: int = 100
    """Priority level; higher levels are served first, and normal traffic has 100."""
    quantum_bytes: int = 1_518
    """Bytes per round among the queues of the same level."""
    limit_bytes: int | None = None
    limit_packets: int | None = None


@dataclass(frozen=True, slots=True)
class Needs:
    """The needs of a mechanism at the ports of its switch."""

    hooks: Sequence[tuple[int, HookSet]] = ()
    """Places of hooks, per port. A hook that is defined but not placed here is called at the mechanism's own ports."""
    queues: Sequence[tuple[int, QueueConfig]] = ()
    """Queues in addition to the port's own. They are numbered in the order of the requests."""
    depths: Sequence[tuple[int, int]] = ()
    """Queues, each as (port, queue), with depths for every hook to read; they are updated before each call."""


S = TypeVar("S")


class Mechanism(Generic[S]):
    """A mechanism on one switch, with settings in the dataclass ``S``.

    ``__init__`` takes only ``self``: `settings`, `switch`, `ports` and `random` exist already. A hook that a class does
    not define is never called.
    """

    settings: S
    """Settings from the entry in the scenario."""
    switch: str
    """Name of the switch."""
    ports: Sequence[int]
    """Numbers of the ports that the entry names on this switch."""
    random: random.Random
    """The only permitted source of randomness: the mechanism's own stream of the run's seed."""

    kind: ClassVar[str]
    title: ClassVar[str]
    stage: ClassVar[Stage]
    places: ClassVar[str]
    claims: ClassVar[Sequence[Claim]]
    queues: ClassVar[int]
    marks: ClassVar[bool]
    counters: ClassVar[Mapping[str, str]]
    depths: ClassVar[Literal["own"] | None]
    header_bytes: ClassVar[int]

    def __init_subclass__(
        cls,
        *,
        kind: str = "",
        title: str | None = None,
        stage: Stage = "drops",
        places: str = "ports",
        claims: Sequence[Claim] = (),
        queues: int = 0,
        marks: bool = False,
        counters: Mapping[str, str] = MappingProxyType({}),
        depths: Literal["own"] | None = None,
        header_bytes: int = 0,
    ) -> None:
        """Declare the mechanism to the scenario: the value of ``kind``, and its name in messages.

        Further arguments: its ``stage``; the field of the settings that names the ``places`` where it runs; the
        conflicting actions that it ``claims`` there; the maximum number of ``queues`` that it requests at a port;
        whether it ``marks`` packets of ECN-capable transports; the ``counters`` that it reports, with the label for
        each key; ``depths="own"`` if hooks read the depths of its ports' queues; the length of its `Packet.header`,
        ``header_bytes``, from 1 to 16.

        Raises `TypeError` for another value of ``depths`` or ``header_bytes``, and for keys that are not snake_case.
        """
        if depths not in {None, "own"}:
            raise TypeError(f'depths is "own" or None, not {depths!r}')
        if header_bytes not in range(17):
            raise TypeError(f"header_bytes is a whole number from 0 (no header) to 16, not {header_bytes!r}")
        if wrong := [key for key in counters if not re.fullmatch("[a-z][a-z0-9]*(_[a-z0-9]+)*", key)]:
            raise TypeError(f'the key of a counter is in snake_case, such as "packets_lost", not {wrong[0]!r}')
        super().__init_subclass__()
        cls.kind, cls.title, cls.stage, cls.places = kind, title or cls.__name__, stage, places
        cls.claims, cls.queues, cls.marks, cls.depths = tuple(claims), queues, marks, depths
        cls.counters = dict(counters)
        cls.header_bytes = header_bytes

    @classmethod
    def settings_class(cls) -> type[Any]:
        """Return the dataclass ``S``. Raises `TypeError` if the class does not declare it."""
        if found := settings_class(cls, Mechanism):
            return found
        raise TypeError("its settings are missing: derive it from hitless.Mechanism[Settings]")

    @classmethod
    def hooks_defined(cls) -> list[str]:
        """Return the names of the hooks that the class defines."""
        names = ("rx", "ingress", "egress", "tx", "on_tm_drop", "on", "report")
        return [name for name in names if getattr(cls, name) is not getattr(Mechanism, name)]

    def needs(self, queue_counts: Sequence[int]) -> Needs:
        """Return needs beyond its hooks at its `ports`: queues, depths, or hooks at other places.

        ``queue_counts`` has the queues of each port before the mechanism's own.
        """
        return Needs()

    def _all_needs(self, queue_counts: Sequence[int]) -> Needs:
        """Return its needs, with the hooks that it defines and the depths of its class; the simulator calls this."""
        needs = self.needs(queue_counts)
        placed = reduce(or_, (hooks for _, hooks in needs.hooks), HookSet(0))
        defaults = [_SUBSCRIBED[name] for name in self.hooks_defined() if name in _SUBSCRIBED]
        missing = reduce(or_, (hook for hook, replaced_by in defaults if not placed & replaced_by), HookSet(0))
        own = [(port, queue) for port in self.ports for queue in range(queue_counts[port]) if self.depths == "own"]
        return replace(
            needs,
            hooks=[*needs.hooks, *((port, missing) for port in self.ports)],
            depths=list(dict.fromkeys([*needs.depths, *own])),
        )

    def rx(self, context: Context) -> Verdict:
        """Handle a good frame that came in, before routing."""
        return Verdict.CONTINUE

    def ingress(self, context: Context) -> Verdict:
        """Handle a packet after routing has proposed an egress port and queue."""
        return Verdict.CONTINUE

    def egress(self, context: Context) -> Verdict:
        """Handle a packet that has left its queue."""
        return Verdict.CONTINUE

    def tx(self, context: Context) -> Verdict:
        """Handle a packet in the last hook before the MAC."""
        return Verdict.CONTINUE

    def on_tm_drop(self, reason: DropReason, context: Context) -> Verdict:
        """Handle a packet that the traffic manager dropped; a verdict other than CONTINUE gives it another queue."""
        return Verdict.CONTINUE

    def on(self, event: Event, context: Context) -> None:
        """Handle an event outside the path of packets."""

    def report(self) -> Counters:
        """Return its counters; the class declares their keys with ``counters``."""
        return {}
