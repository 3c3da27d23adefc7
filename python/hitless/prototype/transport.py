"""The base class of congestion controls in Python.

The sender of TCP detects losses, retransmits and keeps timers; the class decides the window and the pacing rate. A
class must not read a clock, a file, or any randomness but ``self.random``: this makes the same seed give the same run.
"""

import random
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from hitless._native import Ack, TransportWindow
from hitless.prototype.settings import settings_class

EcnUse: TypeAlias = Literal["off", "until-reduced", "each-mark"]
"""Use of ECN: none by default, as in RFC 3168, or an echo of each mark as in RFC 8257."""

_LEAST_SEGMENTS = 2

S = TypeVar("S")


@dataclass
class NoSettings:
    """The settings of a class without any."""


class Transport(TransportWindow, Generic[S]):
    """A congestion control of TCP, with settings in the dataclass ``S``. Each connection has its own object.

    Hooks read and set ``self.cwnd``, the congestion window in bytes, and ``self.pacing_rate`` in bits per second.
    ``self.mss`` is the payload of a full segment, and ``self.ssthresh`` the window after the last reduction.
    ``__init__`` takes only ``self``: all of these exist already. The first window is the transport's
    ``initial_window``.

    A class grows its window in `on_ack`, which is called for acknowledgements of data that had filled the window,
    outside of reductions. In `on_loss`, `on_timeout` and `on_ecn` it lowers ``self.cwnd``; the sender then reduces its
    window to this value over a round trip (RFC 9937), or restarts from one segment after a timeout.

    With ``sets_cwnd=True`` the sender uses ``self.cwnd`` as it is, and `on_ack` is called for every acknowledgement.
    """

    settings: S
    """Settings from the transport in the scenario."""

    kind: ClassVar[str]
    sets_cwnd: ClassVar[bool]
    samples_delivery_rate: ClassVar[bool]
    paces: ClassVar[bool]
    ecn: ClassVar[EcnUse]

    seed: int
    """Seed of `random`."""

    def __init_subclass__(
        cls,
        *,
        kind: str = "",
        sets_cwnd: bool = False,
        samples_delivery_rate: bool = False,
        paces: bool = False,
        ecn: EcnUse = "off",
    ) -> None:
        """Declare the congestion control to the scenario: the value of ``kind`` in ``congestion = { kind = "..." }``.

        Further arguments: whether it ``sets_cwnd`` at every acknowledgement; whether it then ``samples_delivery_rate``
        (its packets are paced); whether ``pacing`` of the transport is on by default; its use of ``ecn``, which is then
        on by default.
        """
        super().__init_subclass__()
        cls.kind, cls.sets_cwnd, cls.samples_delivery_rate = kind, sets_cwnd, samples_delivery_rate
        cls.paces, cls.ecn = paces, ecn

    @classmethod
    def settings_class(cls) -> type[Any]:
        """Return the dataclass ``S``; an empty one if the class has no settings."""
        return settings_class(cls, Transport) or NoSettings

    @cached_property
    def random(self) -> random.Random:
        """The only permitted source of randomness: the connection's own stream of the run's seed."""
        return random.Random(self.seed)  # noqa: S311 - no secret

    def on_ack(self, ack: Ack) -> None:
        """Handle an acknowledgement: grow ``self.cwnd``."""
        raise NotImplementedError(f"{type(self).__name__} has no on_ack")

    def on_loss(self) -> None:
        """Handle a loss detected by acknowledgements. By default it halves the window, to at least two segments."""
        self.cwnd = max(self.cwnd // 2, _LEAST_SEGMENTS * self.mss)

    def on_timeout(self) -> None:
        """Handle a retransmission timeout. By default it is a loss."""
        self.on_loss()

    def on_ecn(self) -> None:
        """Handle the first mark of a round trip; not called with ``sets_cwnd``. By default it is a loss."""
        self.on_loss()
