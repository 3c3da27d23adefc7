"""The class that a mechanism in Python derives from, and what it asks of its switch.

Every hook gets a `Context` with the time, the packet and what may be asked of the switch. What a hook changes and asks
for happens when it has returned, in the order in which it asked. No hook reads a clock, a file, or any randomness but
``self.random``: then the same seed gives the same run.
"""

import random
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from hitless._native import Context, DropReason, Event, Verdict

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
"""A place in the order in which the hooks of a switch run: the role that the mechanism has."""

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
"""What a mechanism does at its ports that does not go with what others do."""

Counters: TypeAlias = Mapping[str, int | Mapping[str, int]]
"""Values by counter, or by scope, such as "port 3", and counter."""


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
    """`Mechanism.on_tm_drop` for packets that nobody owns."""


_SUBSCRIBED = {
    "rx": HookSet.RX,
    "ingress": HookSet.INGRESS_TOWARDS,
    "egress": HookSet.EGRESS,
    "tx": HookSet.TX,
    "on_tm_drop": HookSet.TM_DROP,
}
"""What a mechanism subscribes to at its ports when it does not say."""


@dataclass(frozen=True, slots=True)
class QueueConfig:
    """A queue that a mechanism asks for."""

    priority: int = 100
    """A higher level is served first; 100 is that of normal traffic."""
    quantum_bytes: int = 1_518
    """Bytes per round among the queues of the same level."""
    limit_bytes: int | None = None
    limit_packets: int | None = None


@dataclass(frozen=True, slots=True)
class Needs:
    """What a mechanism needs of the ports of its switch."""

    hooks: Sequence[tuple[int, HookSet]] = ()
    """Hooks per port; those that the class does not define are left out."""
    queues: Sequence[tuple[int, QueueConfig]] = ()
    """Queues besides those of the port. They are numbered in the order in which they are asked for."""
    depths: Sequence[tuple[int, int]] = ()
    """Queues, each as (port, queue), whose depths every hook may see: they are read before each call."""


S = TypeVar("S")


class Mechanism(Generic[S]):
    """A mechanism on one switch, with settings of the dataclass ``S``.

    ``__init__`` takes nothing but ``self``: `settings`, `switch`, `ports` and `random` are there already. A hook that a
    class does not define is never called.
    """

    settings: S
    """What the entry of the scenario says."""
    switch: str
    """The name of the switch."""
    ports: Sequence[int]
    """The numbers of the ports that the entry names there."""
    random: random.Random
    """The only randomness that a mechanism may use: its own stream of the run's seed."""

    kind: ClassVar[str]
    title: ClassVar[str]
    stage: ClassVar[Stage]
    places: ClassVar[str]
    claims: ClassVar[Sequence[Claim]]
    queues: ClassVar[int]
    marks: ClassVar[bool]

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
    ) -> None:
        """What the scenario has to know: the value of ``kind``, and what messages call it.

        Its ``stage``; the field of the settings that names the ``places`` where it runs; what it ``claims`` there; how
        many ``queues`` it asks for at a port, at most; whether it ``marks`` packets of transports that know ECN.
        """
        super().__init_subclass__()
        cls.kind, cls.title, cls.stage, cls.places = kind, title or cls.__name__, stage, places
        cls.claims, cls.queues, cls.marks = tuple(claims), queues, marks

    @classmethod
    def settings_class(cls) -> type[Any]:
        """The dataclass ``S``. Raises `TypeError` when the class does not say it."""
        for ancestor in cls.__mro__:
            for base in ancestor.__dict__.get("__orig_bases__", ()):
                arguments = typing.get_args(base)
                if typing.get_origin(base) is Mechanism and isinstance(arguments[0], type):
                    return arguments[0]
        raise TypeError("it does not say what its settings are: derive it from hitless.Mechanism[Settings]")

    @classmethod
    def hooks_defined(cls) -> list[str]:
        """The names of the hooks that the class defines."""
        names = ("rx", "ingress", "egress", "tx", "on_tm_drop", "on", "report")
        return [name for name in names if getattr(cls, name) is not getattr(Mechanism, name)]

    def needs(self, queue_counts: Sequence[int]) -> Needs:
        """What it needs; ``queue_counts`` has the queues of each port before the mechanism's own.

        Without one of its own it subscribes at its `ports` to the hooks that it defines.
        """
        wanted = HookSet(0)
        for name in self.hooks_defined():
            wanted |= _SUBSCRIBED.get(name, HookSet(0))
        return Needs(hooks=[(port, wanted) for port in self.ports])

    def rx(self, context: Context) -> Verdict:
        """A good frame has come in; before routing."""
        return Verdict.CONTINUE

    def ingress(self, context: Context) -> Verdict:
        """Routing has proposed an egress port and queue."""
        return Verdict.CONTINUE

    def egress(self, context: Context) -> Verdict:
        """The packet has left its queue."""
        return Verdict.CONTINUE

    def tx(self, context: Context) -> Verdict:
        """The last hook before the MAC."""
        return Verdict.CONTINUE

    def on_tm_drop(self, reason: DropReason, context: Context) -> Verdict:
        """The traffic manager has dropped the packet; a verdict other than CONTINUE gives it another queue."""
        return Verdict.CONTINUE

    def on(self, event: Event, context: Context) -> None:
        """Something has happened beside the way of packets."""

    def report(self) -> Counters:
        """What it has counted."""
        return {}
