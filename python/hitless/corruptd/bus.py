"""Publish-subscribe: the interface, and an in-process bus."""

from collections import deque
from typing import Protocol


class Bus(Protocol):
    """Messages by channel. Delivery is unreliable: the protocol above tolerates loss, repeats and delays."""

    @property
    def is_connected(self) -> bool:
        """Can messages pass, by its latest knowledge?"""

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
        hearers = self._hub.subscribers.get(channel, [])
        for bus in hearers:
            bus._inbox.append(payload)  # noqa: SLF001 - of the same class
        return bool(hearers)

    def receive(self, now_s: float) -> list[bytes]:
        payloads = list(self._inbox)
        self._inbox.clear()
        return payloads

    def note(self, key: str, value: str | None, now_s: float) -> None:
        if value is None:
            self._hub.notes.pop(key, None)
        else:
            self._hub.notes[key] = value

    def close(self) -> None:
        for buses in self._hub.subscribers.values():
            if self in buses:
                buses.remove(self)


class SilentBus:
    """Receives everything and sends nothing: for a dry run, which must not make another daemon act."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    @property
    def is_connected(self) -> bool:
        return self._bus.is_connected

    def publish(self, channel: str, payload: bytes, now_s: float) -> bool:
        return False

    def receive(self, now_s: float) -> list[bytes]:
        return self._bus.receive(now_s)

    def note(self, key: str, value: str | None, now_s: float) -> None:
        """Do nothing."""

    def close(self) -> None:
        self._bus.close()
