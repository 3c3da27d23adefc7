"""Publish-subscribe: the interface, and the bus of one process."""

from collections import deque
from typing import Protocol


class Bus(Protocol):
    """Messages by channel. Delivery is not promised: the protocol above lives with loss, repeats and delays."""

    @property
    def is_connected(self) -> bool:
        """Can messages pass, as far as is known?"""

    def publish(self, channel: str, payload: bytes, now_s: float) -> bool:
        """Send; False when that failed, or when nobody listens there."""

    def receive(self, now_s: float) -> list[bytes]:
        """What has come on our channels since the last call. Never waits long."""

    def note(self, key: str, value: str | None, now_s: float) -> None:
        """Show a value to whoever looks, under ``key``; None removes it. May be lost."""

    def close(self) -> None:
        """Let go."""


class LocalHub:
    """What the local buses of one process meet at."""

    def __init__(self) -> None:
        self.subscribers: dict[str, list[LocalBus]] = {}
        self.notes: dict[str, str] = {}

    def join(self, channel: str) -> "LocalBus":
        """A bus that hears ``channel``."""
        bus = LocalBus(self)
        self.subscribers.setdefault(channel, []).append(bus)
        return bus


class LocalBus:
    """A bus within one process: for one box that has both ends of its links."""

    is_connected = True

    def __init__(self, hub: LocalHub) -> None:
        self._hub = hub
        self._inbox: deque[bytes] = deque()

    def publish(self, channel: str, payload: bytes, now_s: float) -> bool:
        """Put it into the inbox of everybody who hears the channel; False when that is nobody."""
        hearers = self._hub.subscribers.get(channel, [])
        for bus in hearers:
            bus._inbox.append(payload)  # noqa: SLF001 - of the same class
        return bool(hearers)

    def receive(self, now_s: float) -> list[bytes]:
        """Empty the inbox."""
        payloads = list(self._inbox)
        self._inbox.clear()
        return payloads

    def note(self, key: str, value: str | None, now_s: float) -> None:
        """Keep it in the hub."""
        if value is None:
            self._hub.notes.pop(key, None)
        else:
            self._hub.notes[key] = value

    def close(self) -> None:
        """Hear nothing more."""
        for buses in self._hub.subscribers.values():
            if self in buses:
                buses.remove(self)


class SilentBus:
    """Hears everything and says nothing: for a dry run, which must not make another daemon act."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    @property
    def is_connected(self) -> bool:
        """As the bus within."""
        return self._bus.is_connected

    def publish(self, channel: str, payload: bytes, now_s: float) -> bool:
        """Send nothing."""
        return False

    def receive(self, now_s: float) -> list[bytes]:
        """What has come."""
        return self._bus.receive(now_s)

    def note(self, key: str, value: str | None, now_s: float) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Let go of the bus within."""
        self._bus.close()
