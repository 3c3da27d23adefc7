"""Publish-subscribe: the interface, and an in-process bus."""

from collections import deque
from typing import Protocol


class Bus(Protocol):
    """Messages by channel. Delivery is unreliable: the protocol above tolerates loss, repeats and delays."""

    @property
    def is_connected(self) -> bool:
        """Can messages pass, as far as it knows?"""

    def publish(self, channel: str, payload: bytes, now_s: float) -> bool:
        """Send; False if that failed, or without subscribers."""

    def receive(self, now_s: float) -> list[bytes]:
        """Return the messages on our channels since the last call. Never blocks for long."""

    def note(self, key: str, value: str | None, now_s: float) -> None:
        """Publish a value under ``key`` for monitoring; None removes it. It can be lost."""

    def close(self) -> None:
        """Close the connection."""


class LocalHub:
    """Meeting point of the local buses in one process."""

    def __init__(self) -> None:
        self.subscribers: dict[str, list[LocalBus]] = {}
        self.notes: dict[str, str] = {}

    def join(self, channel: str) -> "LocalBus":
        """Return a bus that listens on ``channel``."""
        bus = LocalBus(self)
        self.subscribers.setdefault(channel, []).append(bus)
        return bus


class LocalBus:
    """An in-process bus: for a single machine that has both ends of its links."""

    is_connected = True

    def __init__(self, hub: LocalHub) -> None:
        self._hub = hub
        self._inbox: deque[bytes] = deque()

    def publish(self, channel: str, payload: bytes, now_s: float) -> bool:
        """Put it into the inboxes of all subscribers to the channel; False without subscribers."""
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
        """Stop listening."""
        for buses in self._hub.subscribers.values():
            if self in buses:
                buses.remove(self)


class SilentBus:
    """Receives everything and sends nothing: for a dry run, which must not make another daemon act."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    @property
    def is_connected(self) -> bool:
        """The state of the inner bus."""
        return self._bus.is_connected

    def publish(self, channel: str, payload: bytes, now_s: float) -> bool:
        """Send nothing."""
        return False

    def receive(self, now_s: float) -> list[bytes]:
        """Return the messages from the inner bus."""
        return self._bus.receive(now_s)

    def note(self, key: str, value: str | None, now_s: float) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Close the inner bus."""
        self._bus.close()
